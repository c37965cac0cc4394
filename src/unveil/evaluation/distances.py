"""How far the tables of counts of a release are from those of the raw table, by total variation.

It is half of Σ |share of the raw records − share of the released ones| over the cells of a table: the share of the
records that would have to change cells, 0 for the same table and 1 for nothing in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unveil.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Spread:
    """A released attribute as a reader counts it: each label is spread evenly over the values that it covers."""

    labels: IntArray
    """The label of each row."""
    shares: FloatArray
    """What each label gives to each cell, `[label, cell]`; 1 in total."""


@dataclass(frozen=True)
class Distances:
    """How far tables of a release are from those of the raw table, by total variation."""

    one_way: tuple[float, ...]
    """By column."""
    two_way: Mapping[tuple[int, int], float]
    """By pair of columns."""

    def of(self, columns: Sequence[int]) -> tuple[float, float]:
        """The means over some columns and over the pairs of them."""
        pairs = [apart for (one, other), apart in self.two_way.items() if one in columns and other in columns]
        return _mean([self.one_way[column] for column in columns]), _mean(pairs)


def table_distances(
    raw: Sequence[IntArray],
    released: Sequence[Spread],
    raw_weights: FloatArray | None = None,
    released_weights: FloatArray | None = None,
    pairs: Sequence[tuple[int, int]] | None = None,
) -> Distances:
    """Compares the one-way and two-way tables of a release with those of the raw table.

    Args:
        raw: The cell of each raw row, per column.
        released: The same columns as released; rows may be fewer, and in another order.
        raw_weights: How many records each raw row represents; one each if they are not given.
        released_weights: The same for the released rows.
        pairs: Pairs of columns to compare; all if they are not given.
    """
    sizes = [spread.shares.shape[1] for spread in released]
    one_way = [
        _distance(
            _counted(cells, size, raw_weights),
            _counted(spread.labels, len(spread.shares), released_weights) @ spread.shares,
        )
        for cells, spread, size in zip(raw, released, sizes, strict=True)
    ]
    two_way = {
        (one, other): _distance(
            _counted(raw[one] * sizes[other] + raw[other], sizes[one] * sizes[other], raw_weights),
            _spread_pair(released[one], released[other], released_weights).ravel(),
        )
        for one, other in (combinations(range(len(raw)), 2) if pairs is None else pairs)
    }
    return Distances(tuple(one_way), two_way)


def _spread_pair(first: Spread, second: Spread, weights: FloatArray | None) -> FloatArray:
    """The two-way table of two released columns, as shares of the records."""
    rows, columns = len(first.shares), len(second.shares)
    held = _counted(first.labels * columns + second.labels, rows * columns, weights).reshape(rows, columns)
    spread: FloatArray = first.shares.T @ held @ second.shares
    return spread


def _counted(codes: IntArray, size: int, weights: FloatArray | None) -> FloatArray:
    """The share of the records with each code; of no record at all, none."""
    counts: FloatArray = np.bincount(codes, weights=weights, minlength=size).astype(np.float64)
    return counts / (counts.sum() or 1)


def _distance(before: FloatArray, after: FloatArray) -> float:
    """The total variation. A release without records has all of them in a cell that the raw table lacks."""
    return float(np.abs(before - after).sum() + abs(before.sum() - after.sum())) / 2


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else 0.0
