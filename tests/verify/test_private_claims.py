"""What a differentially private manifest says of itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from verdicts import verify_release
from verify.private_releases import (
    GUARANTEE,
    SEEDED,
    Plant,
    PrivateDraft,
    above_threshold,
    as_in_the_paper,
    discretization,
    each,
    found,
    ledger,
    private_draft,
    spent,
    verify_private,
)
from verify.releases import write_manifest


@each({"all cells": lambda _: None, "threshold": above_threshold, "paper": as_in_the_paper})
@pytest.mark.parametrize("with_csv", [False, True])
def test_every_claim_of_a_true_release_holds(tmp_path: Path, case: Plant, with_csv: bool) -> None:
    assert verify_private(tmp_path, case, with_csv=with_csv) == []


def _with(**claims: object) -> Plant:
    return lambda planted: planted.manifest.update(claims)


def _charge(**keys: object) -> Plant:
    return lambda planted: planted.manifest["ledger"][0].update(keys)


def _epsilon(text: object) -> Plant:
    return _with(requirements=[{"kind": "differential-privacy", "epsilon": text}])


PRIVATE_KEYS = {
    key: (_with(**{key: value}), key)
    for key, value in {"rows": {"read": 3}, "records": 3, "weight": None, "seed": 7}.items()
}
MALFORMED: dict[str, tuple[Plant, str]] = {
    **PRIVATE_KEYS,
    "private": (_with(private="yes"), "private"),
    "classes": (_with(classes="low"), "classes"),
    "specializations": (_with(specializations=-1), "specializations"),
    "utility": (_with(utility="luck"), "utility"),
    "choice": (_with(choice="best"), "choice"),
    "budget": (_with(budget="none"), "budget"),
    "no ledger": (_with(ledger=[]), "ledger"),
    "charge of nothing": (_charge(epsilon="0"), "ledger.0.epsilon"),
    "charge below nothing": (_charge(epsilon="-1/28"), "ledger.0.epsilon"),
    "charge as decimal": (_charge(epsilon="0.5"), "ledger.0.epsilon"),
    "charge as number": (_charge(epsilon=1), "ledger.0.epsilon"),
    "charge over zero": (_charge(epsilon="1/0"), "ledger.0.epsilon"),
    "charge not in lowest terms": (_charge(epsilon="2/56"), "it is 1/28 in lowest terms"),
    "charge too long": (_charge(epsilon="1" * 5000), "ledger.0.epsilon"),
    "composition": (_charge(composition="free"), "ledger.0.composition"),
    "score of a draw": (_charge(score=12), "ledger.0.score"),
    "cells": (_with(cells=0), "cells"),
    "threshold": (_with(threshold=0), "threshold"),
    "endless threshold": (_with(threshold=10**30), "threshold"),
    "two requirements": (_with(requirements=[{"kind": "differential-privacy", "epsilon": "1"}] * 2), "requirements"),
    "no requirement": (_with(requirements=[]), "requirements"),
    "another kind": (_with(requirements=[{"kind": "k-anonymity", "k": 2}]), "requirements.0"),
    "no epsilon": (_epsilon("0"), "requirements.0.epsilon"),
    "epsilon as number": (_epsilon(1.0), "requirements.0.epsilon"),
}


@each(MALFORMED)
def test_a_malformed_manifest_is_found(tmp_path: Path, case: tuple[Plant, str]) -> None:
    plant, words = case
    found(verify_private(tmp_path, plant), "manifest", words)


@pytest.mark.parametrize("key", ["private", "classes", "specializations", "ledger", "cells", "threshold"])
def test_a_lacking_key_is_found(tmp_path: Path, key: str) -> None:
    found(verify_private(tmp_path, lambda planted: planted.manifest.pop(key)), "manifest", f"{key}: Field required")


def test_a_column_that_is_released_as_it_is_is_found(tmp_path: Path) -> None:
    def plant(planted: PrivateDraft) -> None:
        planted.manifest["masking"]["job"] = {"kind": "released", "domain": "declared", "type": "category"}

    found(verify_private(tmp_path, plant), "manifest", "masking.job: Input tag 'released'")


SENTENCES = {
    "another epsilon": GUARANTEE.replace("1", "2"),
    "another factor": GUARANTEE.replace("exp(1)", "exp(1/2)"),
    "rounded": GUARANTEE.replace("ε = 1", "ε = 1.0"),
    "smaller, further on": f"{GUARANTEE} Against any one reader it keeps ε = 0.01.",
    "power of ten": GUARANTEE.replace("ε = 1", "ε = 1·10⁻⁶"),
    "fullwidth": GUARANTEE.replace("ε = 1", "ε = １"),
    "no epsilon": "This release is differentially private.",
    "a person": GUARANTEE.replace("one record", "the record of any one person"),
    "seeded words": SEEDED,
}


@each(SENTENCES)
def test_a_guarantee_that_is_not_the_sentence_is_found(tmp_path: Path, case: str) -> None:
    found(verify_private(tmp_path, _with(guarantee=case)), "guarantee", "but it must read")


def test_the_sentence_about_weights_may_be_the_guarantee(tmp_path: Path) -> None:
    sentence = GUARANTEE.replace("one record", "one record (a row of weight n is n records)")
    assert verify_private(tmp_path, _with(guarantee=sentence)) == []


def _budget(epsilon: Fraction) -> Plant:
    """Another ε, with a ledger that fits it."""

    def plant(planted: PrivateDraft) -> None:
        _epsilon(str(epsilon))(planted)
        planted.manifest["ledger"] = ledger(str(epsilon / 28), str(epsilon * 17 / 28))

    return plant


@pytest.mark.parametrize(
    ("epsilon", "written"), [("1/2", "0.5"), ("1/3", "1/3"), ("1/1000000", "1e-06"), ("1" + "0" * 400, "1" + "0" * 400)]
)
def test_an_epsilon_is_written_in_one_way(tmp_path: Path, epsilon: str, written: str) -> None:
    def plant(planted: PrivateDraft) -> None:
        _budget(Fraction(epsilon))(planted)
        planted.manifest["guarantee"] = GUARANTEE.replace("= 1", f"= {written}").replace("(1)", f"({written})")

    assert verify_private(tmp_path, plant) == []


@each({"": GUARANTEE, "mixed": f"{SEEDED} {GUARANTEE}", "other words": "It was made with differential privacy."})
def test_a_seeded_release_says_that_it_promises_nothing(tmp_path: Path, case: str) -> None:
    found(verify_private(tmp_path, _with(private=False, guarantee=case)), "guarantee", "but it must read")


def test_a_seeded_release_that_says_so_holds(tmp_path: Path) -> None:
    assert verify_private(tmp_path, _with(private=False, guarantee=SEEDED)) == []


@pytest.mark.parametrize("name", ["age", "education", "job"])
def test_an_observed_domain_is_found(tmp_path: Path, name: str) -> None:
    def plant(planted: PrivateDraft) -> None:
        planted.manifest["masking"][name]["domain"] = "observed"

    found(verify_private(tmp_path, plant), "domain", f"the domain of {name!r} is observed")


def test_a_class_label_that_appears_twice_is_found(tmp_path: Path) -> None:
    findings = verify_private(tmp_path, _with(classes=["low", "high", "low"], threshold=1, cells=108))
    assert "classes" in {finding.claim for finding in findings}


def test_a_class_of_one_label_is_found(tmp_path: Path) -> None:
    def plant(planted: PrivateDraft) -> None:
        planted.manifest.update(classes=["low"], cells=36)
        planted.rows = [row for row in planted.rows if row[5] == "low"]

    found(verify_private(tmp_path, plant), "classes", "has 1 class label,")


@pytest.mark.parametrize("cells", [71, 73, 36, 10**4000])
def test_a_wrong_number_of_cells_is_found(tmp_path: Path, cells: int) -> None:
    found(verify_private(tmp_path, _with(cells=cells)), "cells", "its cuts and classes make 72")


def _masking(planted: PrivateDraft) -> dict[str, Any]:
    masking: dict[str, Any] = planted.manifest["masking"]
    return masking


@each(
    {
        "gap": (lambda masking: masking.update(age=discretization((17, 30), (31, 37), (37, 91))), "leave a gap"),
        "value twice": (lambda masking: masking["education"]["blocks"][1]["values"].append("10th"), "'10th' lies in"),
        "marker disclosed": (lambda masking: masking["sex"].update(disclosed=["F", "⊥"]), "disclosed as a value"),
    }
)
def test_a_cut_that_is_not_a_partition_is_found(tmp_path: Path, case: tuple[Any, str]) -> None:
    edit, words = case
    findings = verify_private(tmp_path, lambda planted: edit(_masking(planted)))
    assert any(finding.claim == "cut" and words in finding.message for finding in findings), findings


def _steps(count: int) -> Plant:
    """Another number of specializations, with a ledger that fits it."""

    def plant(planted: PrivateDraft) -> None:
        share = Fraction(1, 2 * (2 + 2 * count))
        charges = ledger(str(share), "1", count)
        charges[-1]["epsilon"] = str(1 - spent(charges[:-1]))
        planted.manifest.update(specializations=count, ledger=charges)

    return plant


def test_fewer_specializations_than_the_cuts_take_are_found(tmp_path: Path) -> None:
    # age takes two, height, education and sex at least one each
    found(verify_private(tmp_path, _steps(4)), "specializations", "its cuts take at least 5")


@pytest.mark.parametrize("count", [3, 4, 5])
def test_without_taxonomies_the_cuts_tell_the_number_of_specializations(tmp_path: Path, count: int) -> None:
    def plant(planted: PrivateDraft) -> None:
        _steps(count)(planted)
        del planted.manifest["masking"]["education"]
        planted.manifest["cells"] = 24
        planted.rows = [(*row[:2], *row[3:]) for row in planted.rows if row[2] == "9th"]

    findings = verify_private(tmp_path, plant)
    if count == 4:
        assert findings == []
    else:
        found(findings, "specializations", f"{count} specializations, but its cuts take 4")


def test_a_taxonomy_may_take_more_specializations_than_its_blocks_show(tmp_path: Path) -> None:
    assert verify_private(tmp_path, _steps(8)) == []


@pytest.mark.parametrize("strange", [{"strange": [0.5]}, None, -1, 10**40, [[]]])
def test_a_strange_value_anywhere_is_a_finding_and_never_a_crash(tmp_path: Path, strange: object) -> None:
    folder = private_draft().write(tmp_path / "release")
    original = (folder / "manifest.json").read_text(encoding="utf-8")
    for path in _paths(json.loads(original)):
        content = json.loads(original)
        holder: Any = content
        for step in path[:-1]:
            holder = holder[step]
        if path[-1] in ("schema_version", "method") or holder[path[-1]] == strange:
            continue
        holder[path[-1]] = strange
        write_manifest(folder, content)
        assert verify_release(folder), path


def _paths(content: Any, *before: str | int) -> Iterator[tuple[str | int, ...]]:
    if isinstance(content, dict | list):
        for step, value in content.items() if isinstance(content, dict) else enumerate(content):
            yield (*before, step)
            yield from _paths(value, *before, step)
