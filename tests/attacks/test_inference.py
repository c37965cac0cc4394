"""Inference from groups, determined columns and membership: planted ones are found, and independent columns are not."""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import unveil
from attacks.people import QUASI, people, spec
from unveil.attacks import Outcome
from unveil.attacks.inference import ATTACKS, Beliefs


def found(exposure: unveil.Exposure, attack: str) -> list[Outcome]:
    return [outcome for outcome in exposure.outcomes if outcome.attack == attack]


@pytest.fixture(scope="module")
def clean() -> unveil.Exposure:
    return unveil.attack(spec(), table=people())


def test_a_column_that_determines_a_masked_one_is_found(clean: unveil.Exposure) -> None:
    """The number of the job next to the job: as education-num is next to education."""
    table = people()
    jobs = {job: number for number, job in enumerate(sorted(set(table["job"].to_pylist())))}
    planted = table.append_column("code", pa.array([jobs[job] for job in table["job"].to_pylist()]))
    exposure = unveil.attack(spec(k=150, code={"kind": "number", "whole": True}), table=planted)
    worst = found(exposure, "determination")[0]
    assert worst.leak
    assert (worst.figures["masked"], worst.figures["columns"]) == ("job", ["code"])
    assert worst.success.hits == worst.success.tries == 120
    assert not any(outcome.leak for outcome in found(clean, "determination"))


def test_two_columns_that_determine_a_masked_one_together_are_found() -> None:
    """Neither half says anything about the town by itself."""
    table, drawn = people(), np.random.default_rng(3)
    towns = np.array([("Aarhus", "Bergen", "Cork").index(town) for town in table["town"].to_pylist()])
    half = drawn.integers(0, 3, 600)
    planted = table.append_column("one", pa.array(half)).append_column("two", pa.array((towns + half) % 3))
    numbers: Any = {"kind": "number", "whole": True}
    exposure = unveil.attack(spec(k=300, one=numbers, two=numbers), table=planted)
    worst = found(exposure, "determination")[0]
    assert worst.leak
    assert (worst.figures["masked"], set(worst.figures["columns"])) == ("town", {"one", "two"})


def test_groups_say_no_more_about_people_in_the_table_than_about_others(clean: unveil.Exposure) -> None:
    for attack in ("homogeneity", "skewness", "attribute inference", "membership"):
        (outcome,) = found(clean, attack)
        assert outcome.control is not None
        assert not outcome.leak, outcome.sentence


def test_a_secret_that_only_the_own_record_tells_is_found() -> None:
    """Groups of one: the class is a coin, so nobody else's record says anything about it."""
    table, drawn = people(), np.random.default_rng(4)
    coin = pa.array(drawn.choice(["yes", "no"], 600))
    planted = table.set_column(3, "ill", coin).append_column("number", pa.array(np.arange(600)))
    single = {
        **spec(number={"kind": "number", "whole": True}),
        "require": [
            {"kind": "confidence", "channel": [*QUASI, "number"], "sensitive": "town", "values": ["Cork"], "limit": 1.0}
        ],
    }
    single["require"][0]["channel"].remove("town")
    exposure = unveil.attack(single, table=planted)
    (member,) = found(exposure, "membership")
    assert member.leak
    assert member.success.hits == member.success.tries
    homogeneous = next(one for one in found(exposure, "homogeneity") if one.figures["about"] == "ill")
    assert homogeneous.leak


def test_beliefs_worked_by_hand() -> None:
    """Two people fit (3, 0, 0) and (2, 1, 1); a third fits (0, 1, 1) and has the last value."""
    beliefs = Beliefs(
        counts=np.array([[3.0, 0, 0], [2, 1, 1], [0, 1, 1]]),
        true=np.array([0, 1, 2]),
        records=np.array([1, 1, 1]),
        overall=np.array([0.5, 0.25, 0.25]),
    )
    right = {attack: succeeds(beliefs).tolist() for attack, (succeeds, _) in ATTACKS.items()}
    assert right == {
        "attribute inference": [True, False, False],
        "homogeneity": [True, False, False],
        "skewness": [True, False, True],
        # The first is sure already. The second still has two values; the third is left with one.
        "background knowledge": [True, False, True],
    }


def test_a_reader_counts_every_record_as_a_person() -> None:
    release = unveil.publish(people(), spec())
    rows = [(tuple(row[name] for name in QUASI), row["ill"]) for row in release.table.to_pylist()]
    labels: dict[tuple[Any, ...], Counter[str]] = {}
    for group, ill in rows:
        labels.setdefault(group, Counter())[ill] += 1
    (homogeneous,) = found(unveil.attack(release), "homogeneity")
    assert homogeneous.success.hits == sum(len(labels[group]) == 1 for group, _ in rows)
    assert (homogeneous.success.tries, homogeneous.control) == (600, None)
