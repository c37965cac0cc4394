"""Exact privacy on small domains: every outcome, on every pair of neighbouring tables, with exact probabilities.

The structure part is enumerated as a whole by replaying `publish_diffgen` (`dice.py`). Two things are asserted of every
pair of tables that differ by one record:

- What a release shows of the structure, the final cuts and the ledger, is as likely on both up to the factor that the
  structure's charges allow. What is possible on one is possible on the other.
- Every single charge covers the draws that were made on it, whatever was drawn before.

Then the counts, and then whole releases. How much of each share is really lost is printed (`pytest -rP`), and must not
be too little either: a test that looks at harmless outcomes only would pass for any publisher.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from unittest.mock import patch

import numpy as np
import pytest

from privacy.dice import EXACT, Dice, NoSource, exp, geometric_chances, real, total
from privacy.losses import (
    TOLERANCE,
    Structures,
    Verdict,
    loss_charged,
    noiseless_counts,
    worst_release,
)
from privacy.worlds import WORLDS, Records, World, flat, number
from unveil.counting import Cells
from unveil.noise import Geometric, TwoSidedGeometric
from unveil.publishers import cells
from unveil.schema import Attribute, PrivatePlan

pytestmark = pytest.mark.slow

MODES = [("exponential", "paper"), ("exponential", "full"), ("permute-and-flip", "full")]
"""The choices that go with each budget."""
USUAL = ("permute-and-flip", "full")
CASES = [
    *((world, h, utility, *USUAL) for world in WORLDS for h in (1, 2) for utility in ("max", "infogain")),
    *((world, 2, utility, *MODES[0]) for world, utility in zip(WORLDS, ("max", "infogain", "max"), strict=True)),
    *((world, 2, utility, *MODES[1]) for world, utility in zip(WORLDS, ("infogain", "max", "infogain"), strict=True)),
]
"""Everything with the usual choice; with the others, every pair of a world and a utility once."""
LEAST = {("max", "paper"): 0.12, ("max", "full"): 0.3, ("infogain", "paper"): 0.12, ("infogain", "full"): 0.15}
"""Which part of its share the structure loses at least, on tables of two records."""
SMALL = World((flat("town", "here", "there"), number("age", 3)))
SMALLEST = World((flat("town", "here", "there"), number("age", 2)))


def told(name: str, verdict: Verdict) -> Verdict:
    """Prints what was found, for who wants to read it."""
    print(f"{name}: {verdict.loss:.4f} of {verdict.share:.4f} ({verdict.tightness:.0%}) at {verdict.where}")
    return verdict


@pytest.mark.parametrize(("world", "specializations", "utility", "choice", "budget"), CASES)
def test_the_structure_loses_no_more_than_its_charges(
    world: str, specializations: int, utility: str, choice: str, budget: str
) -> None:
    plan = PrivatePlan(Fraction(1), specializations, utility, choice, budget)
    structures, pairs = Structures(WORLDS[world], plan), list(WORLDS[world].neighbours(2))
    shown = told("shown", structures.worst(pairs))
    charged = told("charged", structures.worst(pairs, loss_charged))
    assert not shown.broken
    assert not charged.broken
    assert shown.tightness >= LEAST[utility, budget]
    assert charged.tightness >= 0.25


@pytest.mark.parametrize(("specializations", "utility"), [(2, "max"), (1, "infogain")])
def test_nor_on_tables_of_three_records(specializations: int, utility: str) -> None:
    structures = Structures(SMALL, PrivatePlan(Fraction(1), specializations, utility))
    pairs = list(SMALL.neighbours(3))
    assert not told("shown", structures.worst(pairs)).broken
    assert not told("charged", structures.worst(pairs, loss_charged)).broken


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(20)])
@pytest.mark.parametrize(("choice", "budget"), MODES)
def test_nor_at_a_small_or_a_large_epsilon(epsilon: Fraction, choice: str, budget: str) -> None:
    structures = Structures(SMALL, PrivatePlan(epsilon, 2, "max", choice, budget))
    pairs = list(SMALL.neighbours(2))
    assert not told("shown", structures.worst(pairs)).broken
    assert not told("charged", structures.worst(pairs, loss_charged)).broken


def test_a_charge_is_used_up_by_permute_and_flip() -> None:
    """The bound is attained, so there is no slack that a mistake could hide in."""
    structures = Structures(SMALL, PrivatePlan(Fraction(1), 1))
    charged = structures.worst(SMALL.neighbours(2), loss_charged)
    assert charged.share - charged.loss < TOLERANCE


def test_nor_where_a_value_is_off_its_grid_by_rounding() -> None:
    """0.7 − 0.4 is 0.29999999999999993, a hair less than the split 0.3 that it must lie to the right of."""
    world = World((Attribute("share", kind="number", range=(0, 0.5), step=0.1),))
    structures = Structures(world, PrivatePlan(Fraction(1), 2))
    for value in (0.7 - 0.4, 0.1 + 0.2, 1.0 - 0.9):
        assert not structures.worst([((), ((value, "Y"),))]).broken


@pytest.mark.parametrize("budget", ["paper", "full"])
def test_one_record_changes_one_cell_by_one(budget: str) -> None:
    """Whatever the cuts: the sensitivity of all counts together is 1."""
    plan = PrivatePlan(Fraction(1), 2, "max", "exponential", budget)
    known = {}
    for pair in SMALL.neighbours(2):
        for records in pair:
            if records not in known:
                known[records] = noiseless_counts(SMALL, records, plan)
        fewer, more = (known[records] for records in pair)
        assert fewer.keys() == more.keys()
        for shown, counts in fewer.items():
            assert counts.keys() == more[shown].keys()
            differences = [more[shown][cell] - count for cell, count in counts.items()]
            assert sorted(differences) == [0] * (len(differences) - 1) + [1]


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 10), Fraction(1, 3), Fraction(1), Fraction(5)])
def test_noise_of_neighbouring_counts_differs_by_epsilon(epsilon: Fraction) -> None:
    """P(Z = z) from the tails that the sampler compares with: from one z to the next it changes by exp(±ε) exactly."""
    chances = [noise_chance(Geometric(epsilon, NoSource(), two_sided=True), z) for z in range(-6, 7)]
    largest = max(EXACT.ln(EXACT.divide(one, next_)).copy_abs() for one, next_ in pairwise(chances))
    assert abs(largest - real(epsilon)) < TOLERANCE


def noise_chance(magnitude: Geometric, z: int) -> Decimal:
    """P(Z = z); bounds of the tails are closer than 10^−60."""
    at, beyond = (real(magnitude.tail(place)(256)[0]) if place else Decimal(1) for place in (abs(z), abs(z) + 1))
    both = EXACT.subtract(at, beyond)
    return both if z == 0 else EXACT.divide(both, 2)


@pytest.mark.parametrize(
    ("utility", "choice", "budget"), [*(("max", *mode) for mode in MODES), ("infogain", *MODES[2])]
)
def test_whole_releases_lose_no_more_than_epsilon(utility: str, choice: str, budget: str) -> None:
    """Structure, ledger and counts together, as one distribution over releases."""
    plan = PrivatePlan(Fraction(1), 1, utility, choice, budget)
    verdict = told("releases", worst_release(SMALLEST, alone_in_their_class(), plan, most=1))
    assert not verdict.broken
    assert verdict.tightness >= (0.54 if budget == "paper" else 0.7)


def alone_in_their_class() -> list[tuple[Records, Records]]:
    """Neighbours in which no cell, whatever the cuts, holds more than one record."""
    first, *others = (record for record in SMALLEST.records() if record[:-1] == ("here", 0) or record[-1] == "N")
    return [((), (first,)), *(((first,), (first, other)) for other in others)]


@pytest.mark.parametrize("budget", ["paper", "full"])
def test_counts_alone_lose_all_of_their_share(budget: str) -> None:
    """Without specializations the counts are all there is, and the two-sided geometric noise uses up their ε."""
    plan = PrivatePlan(Fraction(1), 0, "max", "exponential", budget)
    verdict = worst_release(SMALLEST, SMALLEST.neighbours(2), plan, most=2)
    share = Decimal(1) if budget == "full" else Decimal("0.5")
    assert abs(verdict.loss - share) < TOLERANCE


Released = dict[Hashable, Decimal]


@pytest.mark.parametrize(
    ("counts", "threshold", "most"),
    [
        ([[0, 0], [0, 0]], 1, 2),
        ([[0, 0], [0, 0]], 2, 2),
        ([[1, 0], [0, 0]], 1, 2),
        ([[2, 0], [0, 0]], 2, 2),
        ([[1, 0], [0, 1]], 1, 1),
    ],
)
def test_cells_found_by_gaps_are_released_as_if_all_had_been_listed(
    counts: list[list[int]], threshold: int, most: int
) -> None:
    """The two methods of `noisy_cells` have the same distribution, once counts below the threshold are left out."""
    by_gaps, by_list = (released_cells(np.array(counts), least, most) for least in (threshold, None))
    above: Released = defaultdict(Decimal)
    for rows, chance in by_list.items():
        kept = tuple(row for row in rows if row[-1] >= threshold)
        above[kept] = EXACT.add(above[kept], chance)
    assert by_gaps.keys() == above.keys()
    assert all(abs(by_gaps[rows] - chance) < TOLERANCE for rows, chance in above.items())


def released_cells(counts: np.ndarray, threshold: int | None, most: int) -> Released:
    """How likely each list of cells is, for one attribute of two blocks; counts above `most` count as `most`."""
    dice = Dice()
    passes = EXACT.divide(exp(-Fraction(threshold or 0)), EXACT.add(1, exp(Fraction(-1))))
    held = np.flatnonzero(counts.sum(axis=1))
    occupied = Cells(held[:, None], counts[held])
    found: Released = defaultdict(Decimal)

    def run() -> tuple[tuple[int, ...], ...]:
        blocks, classes, noisy = cells.noisy_cells(occupied, [len(counts)], Fraction(1), threshold, NoSource())
        rows = zip(blocks[:, 0].tolist(), classes.tolist(), np.minimum(noisy, most).tolist(), strict=True)
        return tuple(sorted(rows))

    with (
        patch.object(TwoSidedGeometric, "draw", dice.noise(most, geometric_chances)),
        patch.object(TwoSidedGeometric, "at_least", dice.excess(most - (threshold or 0))),
        patch.object(cells, "gap", dice.gap(passes, counts.size)),
    ):
        for rows in dice.all(run):
            found[rows] = EXACT.add(found[rows], dice.chance())
    assert abs(total(found.values()) - 1) < TOLERANCE
    return found


@pytest.mark.parametrize("threshold", [1, 2, 30])
def test_an_empty_cell_passes_with_the_chance_that_its_noise_has(threshold: int) -> None:
    """P(Z ≥ t) = α^t / (1 + α) with α = exp(−ε), here for ε = 1."""
    least, most = TwoSidedGeometric(Fraction(1), NoSource()).reaches(threshold)(256)
    chance = EXACT.divide(exp(-Fraction(threshold)), EXACT.add(1, exp(Fraction(-1))))
    assert all(abs(real(bound) - chance) < TOLERANCE for bound in (least, most))


def test_neighbours_are_all_tables_that_differ_by_a_record() -> None:
    """The enumeration itself: 6 · 2 records, so 1 + 12 + 78 tables, each next to 12 others."""
    pairs = list(SMALL.neighbours(2))
    assert len({records for pair in pairs for records in pair}) == 1 + 12 + 78
    assert len(set(pairs)) == (1 + 12) * 12
    assert set(SMALL.records()) == set(product(("here", "there"), (0, 1, 2), ("Y", "N")))
