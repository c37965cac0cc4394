"""Cuts with planted faults, and rows that do not hold their labels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from verdicts import verify_release
from verify.releases import OLD, RELEASED_ROWS, YOUNG, Draft, Verify, draft

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
def test_a_cut_that_is_not_a_partition_is_found(verify_planted: Verify, defect: str) -> None:
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


@pytest.mark.parametrize(
    ("field", "value", "claim", "words"),
    [
        ("released", 11, "rows", "has 10 rows, but rows.released is 11"),
        ("read", 12, "rows", "12 rows were read, 1 dropped and 10 released"),
        ("dropped", 0, "rows", "11 rows were read, 0 dropped and 10 released"),
        ("records", 9, "records", "holds 10 records, but records is 9"),
    ],
)
def test_wrong_counts_are_found(verify_planted: Verify, field: str, value: int, claim: str, words: str) -> None:
    def plant(planted: Draft) -> None:
        counts = planted.manifest if field == "records" else planted.manifest["rows"]
        counts[field] = value

    findings = verify_planted(plant)
    assert {finding.claim for finding in findings} == {claim}
    assert words in findings[0].message


def test_an_empty_release_is_found(tmp_path: Path) -> None:
    planted = draft()
    planted.manifest["masking"]["sex"]["disclosed"] = []
    table = planted.table().slice(0, 0)
    planted.rows = []
    planted.recount()
    findings = verify_release(planted.write(tmp_path / "planted", table=table))
    assert [finding.message for finding in findings] == ["data.parquet holds no rows."]


@pytest.mark.parametrize("name", ["age", "education", "sex", "income"])
def test_a_missing_value_is_found(tmp_path: Path, name: str) -> None:
    planted = draft()
    planted.manifest["requirements"][0]["quasi-identifier"] = ["age", "education", "sex"]
    planted.manifest["requirements"][0]["k"] = 1
    values = [*planted.table()[name].to_pylist()[:-1], None]
    table = planted.table().set_column(planted.columns.index(name), name, pa.array(values))
    findings = verify_release(planted.write(tmp_path / "planted", table=table))
    assert [finding.claim for finding in findings] == ["missing"]
    assert f"{name!r} has no value in 1 row" in findings[0].message


def test_rows_in_another_order_are_found(verify_planted: Verify) -> None:
    def plant(planted: Draft) -> None:
        planted.rows[3], planted.rows[2:3] = planted.rows[0], []
        planted.rows.insert(0, RELEASED_ROWS[2])

    findings = verify_planted(plant, sort=False)
    assert [finding.claim for finding in findings] == ["order"]
    assert "row 2 has hours=" in findings[0].message


def test_only_one_order_of_the_rows_is_accepted(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    for attempt in range(20):
        planted = draft()
        planted.rows = [planted.rows[place] for place in rng.permutation(10)]
        sorted_already = planted.rows == RELEASED_ROWS
        findings = verify_release(planted.write(tmp_path / str(attempt), sort=False))
        assert [finding.claim for finding in findings] == ([] if sorted_already else ["order"])


def test_text_is_ordered_by_its_bytes_and_numbers_by_value(tmp_path: Path) -> None:
    planted = draft()
    planted.manifest["requirements"][0]["k"] = 1
    planted.manifest["masking"]["sex"]["disclosed"] = ["Z", "a", "é", "ａ", "😀"]
    rows = [(YOUNG, "University", sex, 9.0, "low") for sex in ["Z", "a", "é", "ａ", "😀"]]
    rows += [(YOUNG, "University", "😀", 10.0, "low")]
    planted.rows = rows
    planted.recount()
    assert verify_release(planted.write(tmp_path / "release", sort=False)) == []


def test_a_zero_has_no_sign_and_a_missing_value_comes_last(tmp_path: Path) -> None:
    planted = draft()
    planted.manifest["masking"]["sex"]["disclosed"] = []
    hours = [(0.0, "high"), (-0.0, "low"), (float("nan"), "high"), (None, "high")]
    planted.rows = [(YOUNG, "University", "⊥", number, income) for number, income in hours]
    planted.recount()
    assert verify_release(planted.write(tmp_path / "release", sort=False)) == []
    planted.rows.reverse()
    findings = verify_release(planted.write(tmp_path / "planted", sort=False))
    assert [finding.claim for finding in findings] == ["order"]


def _weighted(planted: Draft) -> None:
    planted.rows = sorted(set(planted.rows), key=RELEASED_ROWS.index)
    planted.weigh([RELEASED_ROWS.count(row) for row in planted.rows])


def test_a_weighted_release_holds(verify_planted: Verify) -> None:
    assert verify_planted(_weighted) == []


def test_a_weighted_release_may_have_fewer_rows_than_were_read_but_not_more(verify_planted: Verify) -> None:
    def plant(planted: Draft) -> None:
        _weighted(planted)
        planted.manifest["rows"]["read"] = 7

    [finding] = verify_planted(plant)
    assert finding.claim == "rows"
    assert "does not add up" in finding.message


def test_equal_rows_next_to_weights_are_found(verify_planted: Verify) -> None:
    [finding] = verify_planted(lambda planted: planted.weigh([1] * 10))
    assert finding.claim == "equal-rows"
    assert "appears in 2 rows" in finding.message


@pytest.mark.parametrize("weight", [0, -1, 1.5, float("nan"), float("inf"), 2**60, "2", None])
def test_a_weight_that_is_not_a_count_is_found(tmp_path: Path, weight: object) -> None:
    planted = draft()
    _weighted(planted)
    column = planted.table()["n"].to_pylist()
    mixed = [str(value) for value in column] if isinstance(weight, str) else column
    table = planted.table().set_column(5, "n", pa.array([weight, *mixed[1:]]))
    [finding] = verify_release(planted.write(tmp_path / "planted", table=table))
    assert finding.claim == "weight"
    assert "'n'" in finding.message


def test_weights_may_be_whole_floats(tmp_path: Path) -> None:
    planted = draft()
    _weighted(planted)
    table = planted.table()
    table = table.set_column(5, "n", table["n"].cast(pa.float64()))
    assert verify_release(planted.write(tmp_path / "planted", table=table)) == []


def test_weights_that_no_whole_number_can_add_up_are_found(verify_planted: Verify) -> None:
    """Five hundred and thirteen rows of 2 to the 53 records would add up to a negative number."""

    def plant(planted: Draft) -> None:
        planted.rows = [(YOUNG, "University", "M", float(number), "low") for number in range(513)]
        planted.weigh([2**53] * 513)
        planted.manifest["records"] = 2**62

    [finding] = verify_planted(plant)
    assert finding.claim == "weight"
    assert "'n' adds up to more than" in finding.message
