"""What private releases cost: half the noise is found out, and honest noise is not."""

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import unveil
from attacks.people import people, spec
from unveil.attacks import Outcome, Truth
from unveil.attacks.privacy_loss import likelihood_ratio
from unveil.release import Release
from unveil.release.manifest import read_manifest_text
from unveil.schema import PrivatePlan, load_spec
from unveil.tables import load_table

ADDITIVE = {"method": "additive"}
DIFFGEN = {"method": "diffgen", "specializations": 12}


def private(publish: dict[str, Any], epsilon: float) -> dict[str, Any]:
    known = spec()
    return {
        **known,
        "attributes": {**known["attributes"], "ill": {"kind": "category", "values": ["no", "yes"]}},
        "require": [{"kind": "differential-privacy", "epsilon": epsilon}],
        "publish": publish,
    }


def claiming_half(release: Release) -> Release:
    """The same release, with a ledger that says that it cost half as much: as if half the noise had been added."""
    content = json.loads(release.manifest.to_json())
    content["requirements"][0]["epsilon"] = str(Fraction(content["requirements"][0]["epsilon"]) / 2)
    for entry in content["ledger"]:
        entry["epsilon"] = str(Fraction(entry["epsilon"]) / 2)
    return Release(release.rows, read_manifest_text(json.dumps(content), "planted"))


def noise(release: Release, publish: dict[str, Any], epsilon: float) -> Outcome:
    exposure = unveil.attack(release, private(publish, epsilon), table=people(4000), tries=2)
    return next(outcome for outcome in exposure.outcomes if outcome.attack == "noise")


@pytest.mark.parametrize("publish", [ADDITIVE, DIFFGEN])
def test_half_the_noise_of_a_release_is_found(publish: dict[str, Any]) -> None:
    release = unveil.publish(people(4000), private(publish, 2.0), unsafe_seed=3)
    honest = noise(release, publish, 2.0)
    assert not honest.leak
    assert honest.figures["epsilon_at_least"] < 2
    planted = noise(claiming_half(release), publish, 1.0)
    assert planted.leak
    assert planted.figures["epsilon_at_least"] > planted.figures["epsilon_claimed"] == 1


def test_half_the_noise_of_a_method_is_found() -> None:
    described = load_spec(private({"method": "diffgen", "specializations": 0}, 2.0))
    rows = people(40)
    truth = Truth(described, load_table(described, rows), rows, np.arange(8))
    (honest,) = likelihood_ratio(truth, 250)
    assert not honest.leak
    (planted,) = likelihood_ratio(truth, 250, PrivatePlan(Fraction(4), specializations=0))
    assert planted.leak, planted.sentence


def test_a_private_release_says_no_more_about_people_in_the_table() -> None:
    exposure = unveil.attack(private(ADDITIVE, 1.0), table=people(), tries=2)
    tried = {outcome.attack: outcome for outcome in exposure.outcomes}
    assert set(tried) == {"attribute inference", "membership", "noise", "likelihood ratio"}
    assert not any(outcome.leak for outcome in tried.values())
