"""Kinds of requirement, recounted by what groups hold: likeness, spans, shares, diversity and closeness.

None is known on one side only.
"""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from importlib.resources import files
from math import log
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
from verify.sensitive import (
    Stated,
    alpha_k,
    claims,
    closeness,
    confidence,
    diversity,
    found,
    groups_of,
    largest_distance,
    paid,
    people,
    release_of,
)

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


def test_one_value_that_takes_a_group_apart_is_found(tmp_path: Path) -> None:
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
def test_distances_count_weights_and_not_rows(tmp_path: Path, distance: str) -> None:
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
