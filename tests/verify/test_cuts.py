from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from verify.releases import OLD, YOUNG, Draft, Verify

Masking = dict[str, Any]


def test_a_label_that_is_not_in_the_cut_is_found(verify_planted: Verify) -> None:
    def plant(planted: Draft) -> None:
        planted.rows = [("[17, 38)" if row[0] == YOUNG else row[0], *row[1:]) for row in planted.rows]

    [finding] = verify_planted(plant)
    assert finding.claim == "label"
    assert "'age' holds '[17, 38)' in 4 rows" in finding.message


@pytest.mark.parametrize(
    ("place", "released", "label"), [(1, "9th", "School"), (1, "9th", "Bachelors"), (2, "⊥", "F"), (2, "⊥", "*")]
)
def test_a_raw_or_foreign_value_in_a_masked_column_is_found(
    verify_planted: Verify, place: int, released: str, label: str
) -> None:
    def plant(planted: Draft) -> None:
        planted.rows = [
            (*row[:place], label if row[place] == released else row[place], *row[place + 1 :]) for row in planted.rows
        ]

    [finding] = verify_planted(plant)
    assert finding.claim == "label"
    assert repr(label) in finding.message


def test_a_disclosed_value_that_no_row_holds_is_found(verify_planted: Verify) -> None:
    [finding] = verify_planted(lambda planted: planted.manifest["masking"]["sex"]["disclosed"].append("F"))
    assert finding.claim == "disclosed"
    assert "'F'" in finding.message


def _blocks(name: str, *blocks: dict[str, Any]) -> Callable[[Masking], None]:
    return lambda masking: masking[name].update(blocks=list(blocks))


def _interval(label: str, lo: float, hi: float) -> dict[str, Any]:
    return {"label": label, "from": lo, "to": hi}


def _node(label: str, *values: str) -> dict[str, Any]:
    return {"label": label, "values": list(values)}


UNIVERSITY = _node("University", "Bachelors", "Masters")

BROKEN = {
    "gap": (_blocks("age", _interval("[17, 36)", 17, 36), _interval(OLD, 37, 91)), "leave a gap"),
    "overlap": (_blocks("age", _interval("[17, 38)", 17, 38), _interval(OLD, 37, 91)), "overlap"),
    "descending": (_blocks("age", _interval(OLD, 37, 91), _interval(YOUNG, 17, 37)), "overlap"),
    "empty": (
        _blocks("age", _interval(YOUNG, 17, 37), _interval(OLD, 37, 91), _interval("[91, 91)", 91, 91)),
        "holds no number",
    ),
    "bounds": (_blocks("age", _interval(YOUNG, 17, 40), _interval(OLD, 40, 91)), "has the label"),
    "point": (_blocks("age", _interval("[17.0, 37)", 17, 37), _interval(OLD, 37, 91)), "has the label"),
    "half": (_blocks("age", _interval(YOUNG, 17, 37), _interval("[37, 91.5)", 37, 91.5)), "not whole"),
    "half below": (_blocks("age", _interval("[16.5, 37)", 16.5, 37), _interval(OLD, 37, 91)), "not whole"),
    "value twice": (
        _blocks("education", UNIVERSITY, _node("9th", "9th"), _node("High", "Masters", "10th")),
        "the value 'Masters' lies in 'University' and in 'High'",
    ),
    "value twice in a block": (
        _blocks("education", _node("University", "Masters", "Masters"), _node("9th", "9th")),
        "the value 'Masters' lies in",
    ),
    "label twice": (
        _blocks("education", UNIVERSITY, _node("9th", "9th"), _node("University", "10th", "11th")),
        "the label 'University' appears twice",
    ),
    "label of another block": (
        _blocks("education", UNIVERSITY, _node("9th", "9th"), _node("Masters", "10th", "11th")),
        "the label 'Masters' of 2 values is itself a raw value",
    ),
    "label of its own block": (
        _blocks("education", UNIVERSITY, _node("9th", "9th", "10th")),
        "the label '9th' of 2 values is itself a raw value",
    ),
    "disclosed twice": (lambda masking: masking["sex"].update(disclosed=["M", "M"]), "'M' appears twice"),
    "marker disclosed": (lambda masking: masking["sex"].update(disclosed=["M", "⊥"]), "is disclosed as a value"),
}


@pytest.mark.parametrize("defect", BROKEN)
def test_a_cut_that_is_no_partition_is_found(verify_planted: Verify, defect: str) -> None:
    edit, words = BROKEN[defect]
    findings = verify_planted(lambda planted: edit(planted.manifest["masking"]))
    assert any(finding.claim == "cut" and words in finding.message for finding in findings), findings


@pytest.mark.parametrize(
    ("label", "lo", "hi"),
    [
        ("[-0.5, 37)", -0.5, 37.0),
        ("[1e-07, 37)", 1e-7, 37),
        ("[-10000000000000000, 37)", -1e16, 37),
        ("[0.30000000000000004, 37)", 0.1 + 0.2, 37),
    ],
)
def test_labels_of_intervals_read_back_as_their_bounds(
    verify_planted: Verify, label: str, lo: float, hi: float
) -> None:
    def plant(planted: Draft) -> None:
        planted.manifest["masking"]["age"].update(
            whole=False, blocks=[_interval(label, lo, hi), _interval(OLD, 37, 91)]
        )
        planted.rows = [(label if row[0] == YOUNG else row[0], *row[1:]) for row in planted.rows]

    assert verify_planted(plant) == []
