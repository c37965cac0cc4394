"""Kinds of requirement, recounted by what groups hold; and none is known on one side only."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.schema import KINDS as PUBLISHED
from unveil.verifier.data import encode
from unveil.verifier.holdings import count_holdings, largest_counts
from unveil.verifier.requirements import KINDS as RECOUNTED
from verify.releases import OLD, YOUNG
from verify.sensitive import Stated, alpha_k, claims, confidence, found, paid, people, release_of

if set(PUBLISHED) != set(RECOUNTED):
    raise RuntimeError(f"known on one side only: {sorted(set(PUBLISHED) ^ set(RECOUNTED))}")
STUDIO = files("unveil") / "studio/static/requirements.js"

ALIKE = [*people(YOUNG, "flu", "cold", "cold"), *people(OLD, "flu", "cold", "cold")]
RARE = [*people(YOUNG, "flu", "cold", "gout"), *people(OLD, "flu", "cold", "cold")]
APART = [*paid(YOUNG, 0.1, 0.3), *paid(OLD, 5, 6)]


def likeness(beta: float) -> dict:
    return {"kind": "beta-likeness", "quasi-identifier": ["age"], "sensitive": "disease", "beta": beta}


def spread(k: int, e: float, sensitive: str = "pay") -> dict:
    return {"kind": "k-e-anonymity", "quasi-identifier": ["age"], "k": k, "sensitive": sensitive, "e": e}


@pytest.mark.parametrize("kind", PUBLISHED)
def test_a_kind_and_its_numbers_can_be_chosen_in_the_studio(kind: str) -> None:
    script = STUDIO.read_text(encoding="utf-8")
    shown = {key: re.search(rf"^  {key}: {{ symbol", script, re.MULTILINE) for key in PUBLISHED[kind].bounds}
    assert re.search(rf'^  "?{kind}"?: {{ text', script, re.MULTILINE)
    assert all(shown.values())


def test_groups_like_the_table(tmp_path: Path) -> None:
    assert found(tmp_path, release_of(ALIKE, likeness(0.001))) == []


def test_a_gain_may_be_met(tmp_path: Path) -> None:
    assert found(tmp_path, release_of(RARE, likeness(1))) == []


def test_a_rare_value_that_one_group_holds_alone_is_found(tmp_path: Path) -> None:
    [finding] = found(tmp_path, release_of(RARE, likeness(0.9)))
    assert finding.claim == "likeness"
    assert finding.message == (
        "data.parquet has disease='gout' in 1 of the 3 records of (age='[17, 37)'), a share of 0.333333, 2 times that "
        "of the whole release, but requirement 1 allows at most 1 + 0.9 times (too much in 1 of 2 groups)."
    )


@pytest.mark.parametrize(("k", "e", "broken"), [(2, 0.2, []), (2, 0.21, ["span"]), (3, 0.2, ["diversity"])])
def test_numbers_apart(tmp_path: Path, k: int, e: float, broken: list[str]) -> None:
    """0.3 - 0.1 is 0.2, though not in floats."""
    assert claims(found(tmp_path, release_of(APART, spread(k, e)))) == broken


def test_the_closest_group_is_named(tmp_path: Path) -> None:
    [finding] = found(tmp_path, release_of(APART, spread(2, 0.9)))
    assert finding.message == (
        "data.parquet: in (age='[17, 37)') the values of 'pay' span 0.2, but requirement 1 asks for at least 0.9 "
        "(too close in 1 of 2 groups)."
    )


def test_only_numbers_are_apart(tmp_path: Path) -> None:
    [finding] = found(tmp_path, release_of(ALIKE, spread(1, 1, "disease")))
    assert finding.message == "manifest.json: requirement 1 measures 'disease', which is not a number."


FAIR = [*people(YOUNG, "flu", "flu", "flu", "cold"), *people(OLD, "cold", "gout")]
LIMITS = [confidence, lambda limit, *values: alpha_k(1, limit, *values)]


@pytest.mark.parametrize("stated", [confidence(0.75), confidence(1), confidence(0.75, "cold", "flu"), alpha_k(2, 0.75)])
def test_a_release_that_keeps_the_limit(tmp_path: Path, stated: Stated) -> None:
    assert found(tmp_path, release_of(FAIR, stated)) == []


def test_one_changed_value_is_found(tmp_path: Path) -> None:
    [finding] = found(tmp_path, release_of([*FAIR[:3], *people(YOUNG, "flu"), *FAIR[4:]], confidence(0.75)))
    assert finding.claim == "confidence"
    assert finding.message == (
        "data.parquet has disease='flu' in 4 of the 4 records of (age='[17, 37)'), a share of 1, "
        "but requirement 1 allows at most 0.75 (too high in 1 of 2 groups)."
    )


def test_the_highest_share_is_reported(tmp_path: Path) -> None:
    [finding] = found(tmp_path, release_of(FAIR, confidence(0.3, "gout", "flu", "cold")))
    assert "disease='flu' in 3 of the 4 records of (age='[17, 37)'), a share of 0.75" in finding.message
    assert "at most 0.3 (too high in 2 of 2 groups)" in finding.message


@pytest.mark.parametrize("stated", LIMITS)
@pytest.mark.parametrize(
    ("count", "size", "limit", "holds"),
    [
        (3, 4, 0.75, True),
        (7, 10, 0.7, True),
        (3, 10, 0.3, True),
        (29, 100, 0.29, True),
        (1, 3, 0.333, False),
        (1, 3, 0.3333333333333333, False),
        (1, 3, 0.3334, True),
        (2, 3, 0.6666666666666666, False),
        (8, 10, 0.7, False),
        (1, 10, 1e-30, False),
        (0, 10, 1e-30, True),
        (10, 10, 1.0, True),
    ],
)
def test_a_limit_may_be_met_and_not_passed(
    tmp_path: Path, stated: type, count: int, size: int, limit: float, holds: bool
) -> None:
    rows = people(YOUNG, *["flu"] * count, *["cold"] * (size - count))
    findings = found(tmp_path, release_of(rows, stated(limit)))
    assert claims(findings) == ([] if holds else [stated(limit)["kind"].split("-")[0]])


@pytest.mark.parametrize(("weights", "holds"), [((1, 3), True), ((3, 1), False)])
def test_weights_are_counted_and_not_rows(tmp_path: Path, weights: tuple[int, int], holds: bool) -> None:
    planted = release_of(people(YOUNG, "flu", "cold"), confidence(0.25), weights=weights)
    assert claims(found(tmp_path, planted)) == ([] if holds else ["confidence"])


def test_large_weights_are_compared_exactly(tmp_path: Path) -> None:
    """One record too many in 2 to the 53: no float tells the share from a half."""
    half = 2**53 - 1
    for name, weights in {"held": (half, half), "passed": (half + 1, half)}.items():
        planted = release_of(people(YOUNG, "flu", "cold"), confidence(0.5), weights=weights)
        (tmp_path / name).mkdir()
        assert claims(found(tmp_path / name, planted)) == ([] if name == "held" else ["confidence"])


def test_a_channel_is_grouped_by_all_its_columns(tmp_path: Path) -> None:
    rows = [
        (YOUNG, sex, disease, 1.0, "low") for sex, disease in [("M", "flu"), ("M", "flu"), ("F", "cold"), ("F", "cold")]
    ]
    planted = release_of(rows, confidence(0.5), confidence(0.5, channel=["age", "sex"]))
    [finding] = found(tmp_path, planted)
    assert "disease='flu' in 2 of the 2 records of (age='[17, 37)', sex='M')" in finding.message
    assert "requirement 2" in finding.message


def test_a_value_that_no_record_holds_has_no_share(tmp_path: Path) -> None:
    assert found(tmp_path, release_of(FAIR, confidence(0.01, "mumps"))) == []


def test_both_halves_of_alpha_k_are_recounted(tmp_path: Path) -> None:
    findings = found(tmp_path, release_of(FAIR, alpha_k(3, 0.7)))
    assert claims(findings) == ["group-size", "alpha"]
    assert "(age='[37, 91)') is shared by 2 records, but requirement 1 asks for at least 3" in findings[0].message
    assert "disease='flu' in 3 of the 4 records of (age='[17, 37)'), a share of 0.75" in findings[1].message


def test_categories_that_are_not_text_are_named_by_their_text(tmp_path: Path) -> None:
    rows = [(YOUNG, "⊥", True, 1.0, "low"), (YOUNG, "⊥", True, 2.0, "low"), (YOUNG, "⊥", False, 1.0, "low")]
    [finding] = found(tmp_path, release_of(rows, confidence(0.5, "false", "true")))
    assert "disease=True in 2 of the 3 records" in finding.message


@given(st.lists(st.integers(1, 2**62), max_size=5), st.fractions(0, 1))
def test_the_largest_count_is_the_last_that_keeps_the_limit(sizes: list[int], limit: Fraction) -> None:
    for size, most in zip(sizes, largest_counts(np.array(sizes, dtype=np.int64), limit).tolist(), strict=True):
        assert Fraction(most, size) <= limit < Fraction(most + 1, size)


@pytest.mark.parametrize(("width", "values"), [(1, 4), (3, 4), (20, 300)])
def test_holdings_are_what_counting_on_fingers_gives(width: int, values: int) -> None:
    """Twenty columns of 300 values have more groups than a 64-bit number can tell apart."""
    rng = np.random.default_rng(11)
    rows = rng.integers(0, values, (1000, width + 1))
    rows[:500] = rows[500:]
    weights = rng.integers(1, 5, 1000)
    *columns, sensitive = [encode(str(place), pa.chunked_array([column])) for place, column in enumerate(rows.T)]
    counted = count_holdings(columns, sensitive, weights)

    sizes: Counter[tuple[int, ...]] = Counter()
    counts: Counter[tuple[int, ...]] = Counter()
    for *key, weight in zip(
        *(column.codes.tolist() for column in [*columns, sensitive]), weights.tolist(), strict=True
    ):
        sizes[tuple(key[:-1])] += weight
        counts[tuple(key)] += weight
    keys = list(zip(*(key.tolist() for key in counted.groups.keys), strict=True))
    assert dict(zip(keys, counted.groups.sizes.tolist(), strict=True)) == sizes
    entries = [(*keys[owner], code) for owner, code in zip(counted.owners, counted.codes.tolist(), strict=True)]
    assert entries == sorted(entries)
    assert dict(zip(entries, counted.counts.tolist(), strict=True)) == counts
    assert counted.whole().tolist() == [weights[sensitive.codes == code].sum() for code in range(len(sensitive.values))]
