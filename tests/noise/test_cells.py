"""Noisy counts of cells: all of them, or only those that reach a threshold, without listing the others."""

import decimal
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from noise.fit import FAR_OFF, OFF, REJECTED, failures, fits, fits_chance, fits_shares, two_sided
from noise.sources import Scripted, chunk
from unveil.counting import Cells
from unveil.noise import Bounds, SeededSource, TwoSidedGeometric
from unveil.publishers.cells import (
    LISTED,
    SPURIOUS,
    _passing,
    _unranked,
    cell_total,
    gap,
    noisy_cells,
    public_threshold,
)

pytestmark = pytest.mark.xdist_group("cells")  # tables that several tests look at are drawn once

SIZES = (3, 2, 2)
CLASSES = 2
CELLS = Cells(np.array([[0, 0, 0], [1, 1, 0], [2, 0, 1]]), np.array([[4, 0], [0, 1], [2, 3]]))
EPSILON = Fraction(1, 2)
EMPTY = math.prod(SIZES) * CLASSES - CELLS.counts.size
STEPS = 5
RUNS = {1: 600, 2: 800}
"""By threshold."""
MANY = {"listed": 2_500, "sampled": 1_700}

Counts = NDArray[np.int64]


def chance(share: Fraction) -> Bounds:
    return lambda size: (share, share)


@pytest.mark.parametrize("share", [Fraction(1, 20), Fraction(1, 10**9)])
def test_gaps_fit(share: Fraction) -> None:
    drawn = gaps(chance(share), 5_000)
    assert fits(drawn, failures(float(share))) > REJECTED
    for off in FAR_OFF:
        assert fits(drawn, failures(float(share) * off)) < REJECTED


@pytest.mark.slow
def test_many_gaps_fit() -> None:
    drawn = gaps(chance(Fraction(1, 20)), 16_000)
    assert fits(drawn, failures(1 / 20), bins=6) > REJECTED
    for off in OFF:
        assert fits(drawn, failures(off / 20), bins=6) < REJECTED


def gaps(share: Bounds, draws: int) -> Counts:
    source = SeededSource(4)
    return np.array([gap(share, source) for _ in range(draws)])


def test_gaps_of_a_chance_that_is_not_a_fraction() -> None:
    drawn = gaps(TwoSidedGeometric(Fraction(1, 3), SeededSource(2)).reaches(4), 2_000)
    exact = float(two_sided(1 / 3)(np.array([4.0]))[0])
    assert fits(drawn, failures(exact)) > REJECTED


@pytest.mark.parametrize("chunks", [1, 2, 3])
def test_a_gap_near_the_next_one_draws_more_bits(chunks: int) -> None:
    """G ≥ 3 where U ≤ (9/10)^3. The bits agree with that for so many chunks; the next one falls on one side of it."""
    exact = Fraction(9, 10) ** 3
    agreeing = int(exact * 2 ** (64 * chunks)).to_bytes(8 * chunks, "big")
    following = int(exact * 2 ** (64 * chunks + 64)) % 2**64
    for last, value in ((following // 2, 3), (following + (2**64 - following) // 2, 2)):
        source = Scripted([*(agreeing[8 * i : 8 * i + 8] for i in range(chunks)), chunk(last)])
        assert gap(chance(Fraction(1, 10)), source) == value
        assert not source.left


def test_gaps_do_not_hang_on_how_the_caller_computes() -> None:
    source = SeededSource(4)
    with decimal.localcontext() as context:
        context.traps[decimal.Inexact] = True
        assert gap(chance(Fraction(1, 7919)), source) >= 0


def test_a_gap_from_zeros_draws_more_bits() -> None:
    source = Scripted([chunk(0), chunk(3 * 2**62)])
    assert gap(chance(Fraction(1, 2)), source) == 64
    assert not source.left


def test_which_events_happen() -> None:
    """Each of 30 with the same chance, each by itself, and so as many as a binomial says."""
    source, total, share, runs = SeededSource(3), 30, 0.2, 600
    happened = np.zeros((runs, total))
    for run in range(runs):
        happened[run, list(_passing(total, chance(Fraction(1, 5)), source))] = 1

    def p_values(claimed: float) -> tuple[float, float]:
        spread = runs * claimed * (1 - claimed)
        each = stats.chi2.sf(((happened.sum(axis=0) - runs * claimed) ** 2 / spread).sum(), total)
        numbers = np.bincount(happened.sum(axis=1).astype(int), minlength=total + 1)
        return each, fits_shares(numbers, stats.binom.pmf(np.arange(total + 1), total, claimed))

    assert min(p_values(share)) > REJECTED
    for off in (1.2, 1 / 1.2):
        assert max(p_values(share * off)) < REJECTED


def test_no_event_beyond_the_last() -> None:
    assert list(_passing(0, chance(Fraction(1, 2)), SeededSource(1))) == []
    assert list(_passing(5, chance(Fraction(1) - Fraction(1, 2**200)), SeededSource(1))) == [0, 1, 2, 3, 4]


def test_cells_are_numbered_in_order() -> None:
    places = [_unranked(place, SIZES, CLASSES) for place in range(24)]
    assert [(*blocks, class_) for blocks, class_ in places] == list(np.ndindex(*SIZES, CLASSES))


@cache
def tables(method: str, threshold: int, runs: int, epsilon: Fraction = EPSILON) -> Counts:
    """The counts of all cells, one row per run, with 0 where a count falls short of the threshold.

    Fewer runs are the first ones of more.
    """
    most = MANY[method] if (threshold, epsilon) == (1, EPSILON) else runs
    if runs < most:
        return tables(method, threshold, most)[:runs]
    source = SeededSource(4)
    drawn = np.zeros((runs, *SIZES, CLASSES), dtype=np.int64)
    for table in drawn:
        blocks, classes, counts = noisy_cells(CELLS, SIZES, epsilon, None if method == "listed" else threshold, source)
        table[(*blocks.T, classes)] = np.where(counts >= threshold, counts, 0)
    return drawn.reshape(runs, -1)


def by_count(drawn: Counts, threshold: int) -> Iterator[tuple[int, Counts]]:
    """For each true count how often its cells had a noisy one that was cut, the threshold, and so on."""
    true = np.zeros((*SIZES, CLASSES), dtype=np.int64)
    true[tuple(CELLS.blocks.T)] = CELLS.counts
    for count in np.unique(true):
        above = np.clip(drawn[:, true.ravel() == count] - threshold + 1, 0, STEPS)
        yield int(count), np.bincount(above.ravel(), minlength=STEPS + 1)


def fits_cells(drawn: Counts, threshold: int, epsilon: float) -> float:
    """Cells of each true count against the exact distribution of their noisy count; all in one p-value."""
    chi_square = freedom = 0.0
    for count, found in by_count(drawn, threshold):
        reach = two_sided(epsilon)(np.arange(threshold, threshold + STEPS) - count)
        expected = -np.diff(reach, prepend=1.0, append=0.0) * found.sum()
        chi_square += ((found - expected) ** 2 / expected).sum()
        freedom += STEPS
    return float(stats.chi2.sf(chi_square, freedom))


def same_cells(one: Counts, other: Counts, threshold: int) -> float:
    """Two samples, with nothing but each other to compare to."""
    chi_square = freedom = 0.0
    for (_, found), (_, expected) in zip(by_count(one, threshold), by_count(other, threshold), strict=True):
        result = stats.chi2_contingency(np.stack([found, expected]), correction=False)
        chi_square += result.statistic
        freedom += result.dof
    return float(stats.chi2.sf(chi_square, freedom))


@pytest.mark.parametrize("threshold", RUNS)
@pytest.mark.parametrize("method", ["listed", "sampled"])
def test_every_cell_fits(method: str, threshold: int) -> None:
    drawn = tables(method, threshold, RUNS[threshold])
    assert fits_cells(drawn, threshold, float(EPSILON)) > REJECTED
    for off in FAR_OFF:
        assert fits_cells(drawn, threshold, float(EPSILON) * off) < REJECTED


@pytest.mark.slow
@pytest.mark.parametrize("method", ["listed", "sampled"])
def test_every_cell_fits_at_length(method: str) -> None:
    drawn = tables(method, 1, MANY[method])
    assert fits_cells(drawn, 1, float(EPSILON)) > REJECTED
    for off in OFF:
        assert fits_cells(drawn, 1, float(EPSILON) * off) < REJECTED


@pytest.mark.parametrize("threshold", RUNS)
def test_both_methods_have_the_same_distribution(threshold: int) -> None:
    runs = RUNS[threshold]
    sampled = tables("sampled", threshold, runs)
    assert same_cells(tables("listed", threshold, runs), sampled, threshold) > REJECTED
    for off in (1.25, 1 / 1.25):
        assert same_cells(tables("listed", threshold, runs, EPSILON * Fraction(off)), sampled, threshold) < REJECTED


@pytest.mark.parametrize("threshold", RUNS)
def test_as_many_empty_cells_pass_as_should(threshold: int) -> None:
    drawn = tables("sampled", threshold, RUNS[threshold])
    blocks = np.arange(math.prod(SIZES) * CLASSES) // CLASSES
    occupied = np.ravel_multi_index(tuple(CELLS.blocks.T), SIZES)
    passed = (drawn[:, ~np.isin(blocks, occupied)] > 0).sum(axis=1)
    share = float(two_sided(float(EPSILON))(np.array([float(threshold)]))[0])
    assert fits_chance(int(passed.sum()), passed.size * EMPTY, share) > REJECTED
    for off in FAR_OFF:
        assert fits_chance(int(passed.sum()), passed.size * EMPTY, share * off) < REJECTED
    numbers = np.bincount(passed, minlength=EMPTY + 1)
    assert fits_shares(numbers, stats.binom.pmf(range(EMPTY + 1), EMPTY, share)) > REJECTED


def test_counts_of_all_cells_are_never_negative_and_all_there() -> None:
    blocks, classes, counts = noisy_cells(CELLS, SIZES, EPSILON, None, SeededSource(5))
    assert [(*block, label) for block, label in zip(blocks.tolist(), classes.tolist(), strict=True)] == list(
        np.ndindex(*SIZES, CLASSES)
    )
    assert counts.min() >= 0


def test_an_empty_table_gets_noise_like_any_other() -> None:
    empty = Cells(np.zeros((0, 3), dtype=np.int64), np.zeros((0, 2), dtype=np.int64))
    assert len(noisy_cells(empty, SIZES, EPSILON, None, SeededSource(6))[2]) == 24
    blocks, classes, counts = noisy_cells(empty, SIZES, Fraction(1, 10), 1, SeededSource(6))
    assert 0 < len(counts) == len(blocks) == len(classes) < 24


def test_a_trillion_cells_cost_what_passes() -> None:
    sizes = (10,) * 12
    cells = Cells(np.arange(36).reshape(3, 12) % 10, np.array([[900, 0], [0, 900], [900, 900]]))
    total = cell_total(sizes, 2)
    threshold = public_threshold(total, Fraction(1, 2))
    assert threshold is not None
    blocks, classes, counts = noisy_cells(cells, sizes, Fraction(1, 2), threshold, SeededSource(7))
    assert blocks.shape == (len(counts), 12)
    assert classes.shape == counts.shape
    assert counts.min() >= threshold
    occupied = {tuple(block) for block in cells.blocks.tolist()}
    spurious = sum(tuple(block) not in occupied for block in blocks.tolist())
    expected = total * float(two_sided(0.5)(np.array([float(threshold)]))[0])
    assert expected < SPURIOUS
    assert abs(spurious - expected) < 6 * math.sqrt(expected)


def test_the_threshold_follows_from_public_numbers() -> None:
    assert public_threshold(LISTED, Fraction(1)) is None
    assert public_threshold(10**12, Fraction(1)) == 21
    assert public_threshold(10**12, Fraction(1, 10)) == 208


def test_a_product_beyond_floats_has_a_threshold() -> None:
    assert public_threshold(10**400, Fraction(1)) == math.ceil(397 * math.log(10))
