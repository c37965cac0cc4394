"""Which columns a requirement may name, and in which shape it is stated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from verdicts import verify_release
from verify.releases import OLD, YOUNG
from verify.sensitive import Draft, Stated, alpha_k, claims, closeness, confidence, diversity, found, people, release_of

ROWS = [*people(YOUNG, "flu", "cold"), *people(OLD, "flu", "cold")]
HOLDING = {
    "confidence": confidence(0.5),
    "distinct": diversity(2),
    "entropy": diversity(2, "entropy"),
    "equal": closeness(0),
    "ordered": closeness(0, "ordered", order=["flu", "cold"]),
    "alpha": alpha_k(2, 0.5),
}
every_kind = pytest.mark.parametrize("stated", HOLDING.values(), ids=HOLDING)


def masked_key(stated: Stated) -> str:
    return "channel" if "channel" in stated else "quasi-identifier"


def test_all_kinds_hold_next_to_each_other(tmp_path: Path) -> None:
    assert found(tmp_path, release_of(ROWS, *HOLDING.values())) == []


@every_kind
@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["age", "income"], "'income', which is the class"),
        (["age", "pay"], "'pay', which is released as it is"),
        (["age", "zip"], "'zip', which is not an attribute of the release"),
        (["age", "age"], "'age' twice"),
    ],
)
def test_a_grouped_column_that_is_not_masked_is_found(
    tmp_path: Path, stated: Stated, names: list[str], words: str
) -> None:
    [finding] = found(tmp_path, release_of(ROWS, {**stated, masked_key(stated): names}))
    assert finding.claim == masked_key(stated)
    assert f"requirement 1 names {words}" in finding.message


@every_kind
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("income", "is the class"),
        ("zip", "is not an attribute of the release"),
        ("sex", "is masked by suppression"),
        ("age", "is in its own"),
    ],
)
def test_a_sensitive_column_that_is_not_released_as_it_is_is_found(
    tmp_path: Path, stated: Stated, name: str, words: str
) -> None:
    [finding] = found(tmp_path, release_of(ROWS, {**stated, "sensitive": name}))
    assert finding.claim == "sensitive"
    assert f"requirement 1 protects {name!r}, which {words}" in finding.message


@every_kind
def test_a_sensitive_column_in_its_own_group_is_found(tmp_path: Path, stated: Stated) -> None:
    [finding] = found(tmp_path, release_of(ROWS, {**stated, masked_key(stated): ["age", "disease"]}))
    assert finding.claim == "sensitive"
    assert f"which is in its own {masked_key(stated)}" in finding.message


@every_kind
def test_the_weight_is_not_sensitive(tmp_path: Path, stated: Stated) -> None:
    planted = release_of(ROWS, {**stated, "sensitive": "n"}, weights=[1] * 4)
    [finding] = found(tmp_path, planted)
    assert finding.claim == "sensitive"


@every_kind
def test_a_sensitive_column_that_another_requirement_masks_is_found(tmp_path: Path, stated: Stated) -> None:
    other = {"kind": "k-anonymity", "quasi-identifier": ["age", "disease"], "k": 1}
    [finding] = found(tmp_path, release_of(ROWS, stated, other))
    assert finding.claim == "quasi-identifier"


@every_kind
def test_a_sensitive_column_that_is_gone_is_found(tmp_path: Path, stated: Stated) -> None:
    planted = release_of(ROWS, stated)
    del planted.manifest["masking"]["disease"]
    planted.rows = [(*row[:2], *row[3:]) for row in planted.rows]
    [finding] = found(tmp_path, planted)
    assert finding.claim == "sensitive"


@every_kind
def test_a_sensitive_value_that_is_missing_is_found(tmp_path: Path, stated: Stated) -> None:
    planted = release_of(ROWS, stated)
    table = planted.table()
    diseases = pa.array([*table["disease"].to_pylist()[:-1], None])
    table = table.set_column(2, "disease", diseases).sort_by([(name, "ascending") for name in planted.columns])
    findings = verify_release(planted.write(tmp_path / "release", table=table))
    assert claims(findings) == ["missing"]
    assert "the sensitive column 'disease' of requirement 1 has no value in 1 row." in findings[0].message


@every_kind
def test_a_release_without_rows_breaks_no_requirement(tmp_path: Path, stated: Stated) -> None:
    planted = release_of(ROWS, stated)
    planted.manifest["masking"]["sex"]["disclosed"] = []
    table = planted.table().slice(0, 0)
    planted.rows = []
    planted.recount()
    assert claims(verify_release(planted.write(tmp_path / "release", table=table))) == ["rows"]


@pytest.mark.parametrize("stated", [confidence(1, "1"), alpha_k(1, 1, "1")])
def test_values_of_a_number_cannot_be_limited(tmp_path: Path, stated: Stated) -> None:
    [finding] = found(tmp_path, release_of(ROWS, {**stated, "sensitive": "pay"}))
    assert finding.claim == "sensitive"
    assert "limits values of 'pay', which is a number" in finding.message


def _without(key: str) -> Callable[[Stated], Stated]:
    return lambda stated: {name: value for name, value in stated.items() if name != key}


def _with(key: str, value: Any) -> Callable[[Stated], Stated]:
    return lambda stated: {**stated, key: value}


SHARES = [0, -0.1, 1.1, "0.5", None, True, [0.5], 1e999]
COUNTS = [0, -1, 1.5, "2", None, True]
MALFORMED: dict[str, list[Callable[[Stated], Stated]]] = {
    "confidence": [
        *(_with("limit", value) for value in SHARES),
        *(_with("values", value) for value in ([], "flu", None, [1], [None])),
        *(_with("channel", value) for value in ([], "age", None, [1])),
    ],
    "distinct": [
        *(_with("l", value) for value in (0, 0.5, -1, "2", None, True, 1e999)),
        *(_with("variant", value) for value in ("recursive", None, 1, "Distinct")),
        *(_with("quasi-identifier", value) for value in ([], "age", None, [1])),
    ],
    "equal": [
        *(_with("t", value) for value in (-0.1, 1.1, "0.5", None, True, 1e999)),
        *(_with("distance", value) for value in ("hierarchical", None, 1)),
        *(_with("order", value) for value in ("flu", [1], {"flu": 1}, True)),
        *(_with("quasi-identifier", value) for value in ([], "age", None, [1])),
    ],
    "alpha": [
        *(_with("alpha", value) for value in SHARES),
        *(_with("k", value) for value in COUNTS),
        *(_with("values", value) for value in ([], "flu", None, [1])),
        *(_with("quasi-identifier", value) for value in ([], "age", None, [1])),
    ],
}


@pytest.mark.parametrize(
    ("kind", "place"), [(kind, place) for kind in MALFORMED for place in range(len(MALFORMED[kind]))]
)
def test_a_requirement_of_the_wrong_shape_is_found(tmp_path: Path, kind: str, place: int) -> None:
    stated = MALFORMED[kind][place](HOLDING[kind])
    findings = verify_release(_written(tmp_path, release_of(ROWS, stated)))
    assert findings
    told = [finding for finding in findings if finding.claim != "form"]  # 1e999 does not spell a number
    assert {finding.claim for finding in told} == {"requirement"}
    assert all(f"requirement 1 ({stated['kind']})" in finding.message for finding in told)


@every_kind
def test_every_key_is_needed_and_no_other_is_known(tmp_path: Path, stated: Stated) -> None:
    changes = [*(_without(key) for key in stated if key != "kind"), _with("sensitive", 1), _with("except", ["age"])]
    for number, change in enumerate(changes):
        (tmp_path / str(number)).mkdir()
        findings = found(tmp_path / str(number), release_of(ROWS, change(stated)))
        assert claims(findings) == ["requirement"]


def _written(folder: Path, planted: Draft) -> Path:
    """A manifest with an infinite number is JSON as some write it, with 1e999 in its place."""
    path = planted.write(folder / "release")
    manifest = path / "manifest.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("Infinity", "1e999"), encoding="utf-8")
    return path
