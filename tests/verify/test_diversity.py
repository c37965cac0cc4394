from __future__ import annotations

from math import log
from pathlib import Path

import pytest

from verify.releases import OLD, YOUNG
from verify.sensitive import claims, diversity, found, paid, people, release_of

DIVERSE = [*people(YOUNG, "flu", "cold", "gout"), *people(OLD, "cold", "cold", "gout", "gout")]


@pytest.mark.parametrize("variant", ["distinct", "entropy"])
@pytest.mark.parametrize("least", [1, 1.5, 2, 2.0])
def test_a_diverse_release(tmp_path: Path, variant: str, least: float) -> None:
    assert found(tmp_path, release_of(DIVERSE, diversity(least, variant))) == []


def test_one_value_too_few_is_found(tmp_path: Path) -> None:
    changed = [*DIVERSE[:-2], *people(OLD, "cold", "cold")]
    [finding] = found(tmp_path, release_of(changed, diversity(2)))
    assert finding.claim == "diversity"
    assert finding.message == (
        "data.parquet: (age='[37, 91)') has 1 value of 'disease' ('cold') in 4 records, "
        "but requirement 1 asks for at least 2 (too few in 1 of 2 groups)."
    )


def test_the_values_of_the_worst_group_are_told(tmp_path: Path) -> None:
    [finding] = found(tmp_path, release_of(DIVERSE, diversity(4)))
    assert "(age='[37, 91)') has 2 different values of 'disease' ('cold', 'gout') in 4 records" in finding.message
    assert "at least 4 (too few in 2 of 2 groups)" in finding.message


def test_an_entropy_just_below_is_found(tmp_path: Path) -> None:
    changed = [*DIVERSE[:-1], *people(OLD, "cold")]
    [finding] = found(tmp_path, release_of(changed, diversity(2, "entropy")))
    assert finding.claim == "diversity"
    entropy = -0.75 * log(0.75) - 0.25 * log(0.25)
    assert "disease='cold' in 3 of the 4 records of (age='[37, 91)'), a share of 0.75" in finding.message
    assert f"the entropy of 'disease' there is {entropy:.9g}" in finding.message
    assert "at least log 2 = 0.693147181 (too low in 1 of 2 groups)" in finding.message


@pytest.mark.parametrize("size", [2, 3, 7, 50])
@pytest.mark.parametrize(("factor", "holds"), [(1, True), (1 + 1e-12, True), (1 + 1e-7, False)])
def test_an_entropy_may_be_met_and_not_passed(tmp_path: Path, size: int, factor: float, holds: bool) -> None:
    rows = people(YOUNG, *(f"disease {number}" for number in range(size)))
    planted = release_of(rows, diversity(size * factor, "entropy"))
    assert claims(found(tmp_path, planted)) == ([] if holds else ["diversity"])


@pytest.mark.parametrize(("weights", "holds"), [((5, 5), True), ((5, 6), False)])
def test_entropies_count_weights(tmp_path: Path, weights: tuple[int, int], holds: bool) -> None:
    planted = release_of(people(YOUNG, "flu", "cold"), diversity(2, "entropy"), weights=weights)
    assert claims(found(tmp_path, planted)) == ([] if holds else ["diversity"])


def test_weights_add_no_values(tmp_path: Path) -> None:
    planted = release_of(people(YOUNG, "flu", "cold"), diversity(3), weights=[9, 9])
    assert claims(found(tmp_path, planted)) == ["diversity"]


@pytest.mark.parametrize(("pays", "holds"), [((0.5, 1.5), True), ((0.0, -0.0), False)])
def test_numbers_are_different_where_their_values_are(tmp_path: Path, pays: tuple[float, float], holds: bool) -> None:
    planted = release_of(paid(YOUNG, *pays), diversity(2, sensitive="pay"))
    assert claims(found(tmp_path, planted)) == ([] if holds else ["diversity"])
