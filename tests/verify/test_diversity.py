"""ℓ-diversity and t-closeness, recounted."""

from __future__ import annotations

from math import log
from pathlib import Path

import pytest

from verify.releases import OLD, YOUNG
from verify.sensitive import (
    Stated,
    claims,
    closeness,
    diversity,
    found,
    groups_of,
    largest_distance,
    paid,
    people,
    release_of,
)

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


def test_the_values_of_the_worst_group_are_reported(tmp_path: Path) -> None:
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


# Half of the release has the flu. Young: 3/4, old: 1/4. The distance is 1/4 on both sides.
NEAR = [*people(YOUNG, "flu", "flu", "flu", "cold"), *people(OLD, "flu", "cold", "cold", "cold")]


@pytest.mark.parametrize(
    "stated",
    [closeness(0.25), closeness(1), closeness(0.25, "ordered", order=["flu", "cold"])],
)
def test_a_close_release(tmp_path: Path, stated: Stated) -> None:
    assert found(tmp_path, release_of(NEAR, stated)) == []


def test_a_release_of_one_value_is_as_close_as_can_be(tmp_path: Path) -> None:
    rows = [*people(YOUNG, "flu"), *people(OLD, "flu")]
    stated = [closeness(0), closeness(0, "ordered", order=["flu"])]
    assert found(tmp_path, release_of(rows, *stated)) == []


def test_one_changed_value_is_found(tmp_path: Path) -> None:
    changed = [*NEAR[:3], *people(YOUNG, "flu"), *NEAR[4:]]
    [finding] = found(tmp_path, release_of(changed, closeness(0.25)))
    assert finding.claim == "closeness"
    # 5 of 8 have the flu, 4 of 4 of the young and 1 of 4 of the old.
    assert finding.message == (
        "data.parquet has disease='flu' in 4 of the 4 records of (age='[17, 37)'), a share of 1, "
        "and in 5 of all 8 records; the distance of 'disease' there is 0.375, "
        "but requirement 1 allows at most 0.25 (too far in 2 of 2 groups)."
    )


@pytest.mark.parametrize(("distance", "order"), [("equal", None), ("ordered", ["cold", "flu"])])
@pytest.mark.parametrize(("most", "holds"), [(0.25, True), (0.25 - 1e-12, True), (0.25 - 1e-7, False)])
def test_a_distance_may_be_met_and_not_passed(
    tmp_path: Path, distance: str, order: list[str] | None, most: float, holds: bool
) -> None:
    planted = release_of(NEAR, closeness(most, distance, order=order))
    assert claims(found(tmp_path, planted)) == ([] if holds else ["closeness"])


@pytest.mark.parametrize(("pays", "rest", "most"), [
    ((3, 4, 5), (6, 7, 8, 9, 10, 11), 0.375),
    ((6, 8, 11), (3, 4, 5, 7, 9, 10), 1 / 6),
])  # fmt: skip
def test_the_salaries_of_the_paper(
    tmp_path: Path, pays: tuple[float, ...], rest: tuple[float, ...], most: float
) -> None:
    """Section 5.1: of the salaries 3k to 11k, {3k, 4k, 5k} lies 0.375 from all and {6k, 8k, 11k} 0.167."""
    rows = [*paid(YOUNG, *pays), *paid(OLD, *rest)]
    for name, stated, holds in [("met", most, True), ("passed", most - 1e-6, False)]:
        (tmp_path / name).mkdir()
        findings = found(tmp_path / name, release_of(rows, closeness(stated, "ordered", "pay")))
        assert claims(findings) == ([] if holds else ["closeness"])


def test_an_order_counts(tmp_path: Path) -> None:
    """What is near depends on the order: 0 and 1 next to each other, or at both ends."""
    rows = [*people(YOUNG, "flu", "gout"), *people(OLD, "cold", "gout")]
    for name, order, holds in [("near", ["flu", "cold", "gout"], True), ("far", ["flu", "gout", "cold"], False)]:
        (tmp_path / name).mkdir()
        findings = found(tmp_path / name, release_of(rows, closeness(0.2, "ordered", order=order)))
        assert claims(findings) == ([] if holds else ["closeness"])


def test_an_order_may_list_values_that_no_record_holds(tmp_path: Path) -> None:
    """They are not among the values of the release, so that they do not thin out its distances."""
    order = ["flu", "mumps", "cold", "gout"]
    assert found(tmp_path, release_of(NEAR, closeness(0.25, "ordered", order=order))) == []
    (tmp_path / "below").mkdir()
    assert claims(found(tmp_path / "below", release_of(NEAR, closeness(0.2, "ordered", order=order)))) == ["closeness"]


@pytest.mark.parametrize(
    ("stated", "claim", "words"),
    [
        (closeness(1, "ordered"), "sensitive", "gives no order of its values"),
        (closeness(1, "ordered", order=["flu"]), "sensitive", "leaves 'cold' out of its order"),
        (closeness(1, "ordered", order=[]), "sensitive", "leaves 'cold', 'flu' out of its order"),
        (closeness(1, "ordered", order=["flu", "cold", "flu"]), "sensitive", "lists 'flu' twice in its order"),
        (closeness(1, "ordered", order=["flu", "Cold"]), "sensitive", "leaves 'cold' out of its order"),
        (closeness(1, "ordered", "pay", order=["0", "1", "2", "3"]), "sensitive", "numbers are ordered by value"),
        (closeness(1, order=["flu", "cold"]), "requirement", "but the equal distance has none"),
    ],
)
def test_an_order_that_is_none_is_found(tmp_path: Path, stated: Stated, claim: str, words: str) -> None:
    [finding] = found(tmp_path, release_of(NEAR, stated))
    assert finding.claim == claim
    assert words in finding.message


@pytest.mark.parametrize("distance", ["equal", "ordered"])
def test_weights_are_counted_and_not_rows(tmp_path: Path, distance: str) -> None:
    rows = [*paid(YOUNG, 1, 2), *paid(OLD, 1, 2)]
    for name, weights, holds in [("same", [1, 3, 2, 6], True), ("other", [1, 3, 3, 1], False)]:
        (tmp_path / name).mkdir()
        planted = release_of(rows, closeness(0, distance, "pay"), weights=weights)
        assert claims(found(tmp_path / name, planted)) == ([] if holds else ["closeness"])


def test_prefix_sums_that_are_too_large_for_64_bits(tmp_path: Path) -> None:
    """Rows that represent more than 2 to the 60 records, with 160 pays."""
    rows = [*paid(YOUNG, *range(80, 160)), *paid(OLD, *range(160))]
    weights = [*[2**53] * 80, *[2**53, 2**52] * 80]
    exact = largest_distance(groups_of(rows, weights, ["age"], "pay"), [float(pay) for pay in range(160)])
    for name, most, holds in [("met", float(exact), True), ("passed", float(exact) - 1e-8, False)]:
        (tmp_path / name).mkdir()
        planted = release_of(rows, closeness(most, "ordered", "pay"), weights=weights)
        assert claims(found(tmp_path / name, planted)) == ([] if holds else ["closeness"])
