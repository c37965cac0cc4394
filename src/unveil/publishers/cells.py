"""Noisy counts of every cell of a product of cuts, including empty ones.

A cell is one block of each attribute and one class. Its noisy count is its count plus two-sided geometric noise. One
record changes the count of one cell by one, so all counts together cost the ε of the noise for a record, and m times
that for a person of whom m records are used.

If there are few cells, each gets its own noise. If there are too many to list, only noisy counts that reach a threshold
are published. That is post-processing, and most cells are empty and fall short, so they need not
be visited: of the cells in order, each empty one passes independently with the same probability q, so the gaps between
those that pass are geometric with parameter q. Passing cells that turn out to be occupied are skipped: those have had
their own noise. What an empty cell exceeds the threshold by is geometric, since the noise has no memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np

from unveil.arrays import IntArray
from unveil.counting import Cells
from unveil.noise import Bounds, Source, TwoSidedGeometric, Uniform

LISTED = 100_000
"""Up to this many cells, all are published."""
SPURIOUS = 1_000
"""Above that, the threshold lets fewer empty cells than this pass on average: P(Z ≥ t) ≤ exp(−εt)."""
MANY = 1_000_000
"""No more than this may pass, whatever threshold the owner asks for."""


def cell_total(sizes: Sequence[int], classes: int) -> int:
    """The number of cells."""
    return math.prod(sizes) * classes


def public_threshold(total: int, epsilon: Fraction) -> int | None:
    """The threshold, computed from public numbers alone; None if every cell is listed."""
    if total <= LISTED:
        return None
    return _enough(total, SPURIOUS, epsilon)


def feasible_threshold(wished: int, total: int, epsilon: Fraction) -> int:
    """The owner's threshold, raised if too many empty cells would pass on average."""
    return max(wished, _enough(total, MANY, epsilon))


def _enough(total: int, passing: int, epsilon: Fraction) -> int:
    """A threshold that fewer than `passing` empty cells reach on average."""
    return max(1, math.ceil((math.log(total) - math.log(passing)) / float(epsilon)))


def noisy_cells(
    cells: Cells, sizes: Sequence[int], epsilon: Fraction, threshold: int | None, source: Source
) -> tuple[IntArray, IntArray, IntArray]:
    """Draws the noisy counts, which may cost a record ε: blocks (one row per published cell), classes and counts.

    Only counts that reach the threshold are published; all cells if it is None. Counts are never negative. `sizes` are
    the numbers of blocks of the attributes.
    """
    noise = TwoSidedGeometric(epsilon, source)
    classes = cells.counts.shape[1]
    if threshold is None:
        return _all_cells(cells, sizes, noise)
    noisy = cells.counts + noise.draw(cells.counts.size).reshape(cells.counts.shape)
    cell, class_ = np.nonzero(noisy >= threshold)
    occupied = {tuple(blocks) for blocks in cells.blocks.tolist()}
    passing = _passing(cell_total(sizes, classes), noise.reaches(threshold), source)
    places = [_unranked(place, sizes, classes) for place in passing]
    empty = [(blocks, number) for blocks, number in places if blocks not in occupied]
    blocks = np.array([blocks for blocks, _ in empty], dtype=np.int64).reshape(len(empty), len(sizes))
    labels = np.array([number for _, number in empty], dtype=np.int64)
    return (
        np.concatenate([cells.blocks[cell], blocks]),
        np.concatenate([class_, labels]),
        np.concatenate([noisy[cell, class_], noise.at_least(threshold, len(empty))]),
    )


def _all_cells(cells: Cells, sizes: Sequence[int], noise: TwoSidedGeometric) -> tuple[IntArray, IntArray, IntArray]:
    classes = cells.counts.shape[1]
    counts = np.zeros((math.prod(sizes), classes), dtype=np.int64)
    counts[np.ravel_multi_index(tuple(cells.blocks.T), tuple(sizes))] = cells.counts
    noisy = np.maximum(counts.ravel() + noise.draw(counts.size), 0)
    places = np.unravel_index(np.arange(len(noisy)), (*sizes, classes))
    return np.stack(places[:-1], axis=1), places[-1], noisy


def _unranked(place: int, sizes: Sequence[int], classes: int) -> tuple[tuple[int, ...], int]:
    """The cell with a number: its blocks and its class."""
    place, class_ = divmod(place, classes)
    blocks = []
    for size in reversed(sizes):
        place, block = divmod(place, size)
        blocks.append(block)
    return tuple(reversed(blocks)), class_


def _passing(total: int, chance: Bounds, source: Source) -> Iterator[int]:
    """The numbers below `total` at which independent events of the same chance happen, in order."""
    place = gap(chance, source, total)
    while place < total:
        yield place
        place += 1 + gap(chance, source, total)


def gap(chance: Bounds, source: Source, most: int | None = None) -> int:
    """How many events fail before one happens: G with P(G ≥ g) = (1 − q)^g.

    G is the integer part of ln U / ln(1 − q) for a uniform U. The ratio is bounded from both sides, and U and q made
    finer, until its integer part is certain, or it is certain that it is not below `most`.
    """
    uniform = Uniform(source)
    while True:
        size = uniform.size + 64
        lo, hi = uniform.range
        rarest, commonest = chance(size)
        smallest = int(_log_ratio(hi, commonest, size, -1))
        if most is not None and smallest >= most:
            return most
        if lo > 0 and rarest > 0 and smallest == int(_log_ratio(lo, rarest, size, 1)):
            return smallest
        uniform.refine()


def _log_ratio(uniform: Fraction, chance: Fraction, size: int, side: int) -> Decimal:
    """Ln U / ln(1 − q), moved to one side by more than it can be off.

    1 − q is near 1, where its logarithm loses as many digits as q has leading zeros; the precision allows for those.
    """
    digits = size * 3 // 10
    zeros = max(0, chance.denominator.bit_length() - chance.numerator.bit_length()) * 3 // 10 + 1
    context = Context(prec=2 * digits + zeros + 20, Emin=-(10**9), Emax=10**9)
    top, bottom = (
        context.ln(context.divide(Decimal(number.numerator), Decimal(number.denominator)))
        for number in (uniform, 1 - chance)
    )
    ratio = context.divide(top, bottom)
    slack = context.multiply(ratio, context.scaleb(Decimal(side), -digits))
    return context.add(ratio, slack)
