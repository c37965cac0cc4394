from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.verifier.holdings import largest_counts
from verify.releases import OLD, YOUNG
from verify.sensitive import Stated, alpha_k, claims, confidence, found, people, release_of

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


def test_the_highest_share_is_told(tmp_path: Path) -> None:
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
