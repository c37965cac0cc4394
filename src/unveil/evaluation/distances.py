"""How far a release is from the raw table: tables of counts by total variation, and means and quantiles of numbers.

Total variation is half of Σ |share of the raw records − share of the released ones| over the cells of a table: the
share of the records that would have to change cells, 0 for the same table and 1 for nothing in common. For the mean and
the quantiles of a number, every interval is spread evenly over what it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unveil.arrays import FloatArray, IntArray

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""The quantiles that are compared."""
ROUNDING = 1e-9
"""How far a float may be off from the place of a grid that it means."""


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

    `raw` has the cell of each raw row, per column, and `released` the same columns as released; rows may be fewer, and
    in another order. Weights are how many records each row represents, one if they are not given. `pairs` are those of
    columns to compare, all if they are not given.
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
    return first.shares.T @ held @ second.shares


def _counted(codes: IntArray, size: int, weights: FloatArray | None) -> FloatArray:
    """The share of the records with each code; of no record at all, none."""
    counts: FloatArray = np.bincount(codes, weights=weights, minlength=size).astype(np.float64)
    return counts / (counts.sum() or 1)


def _distance(before: FloatArray, after: FloatArray) -> float:
    """The total variation. A release without records has all of them in a cell that the raw table lacks."""
    return float(np.abs(before - after).sum() + abs(before.sum() - after.sum())) / 2


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else 0.0


MIDDLE = QUANTILES.index(0.5)


@dataclass(frozen=True)
class NumberKept:
    """The mean and the quantiles of a number, raw and released; dates are days since 1970-01-01."""

    raw_mean: float
    released_mean: float
    mean_error: float
    """How far the mean is off, in standard deviations of the raw values."""
    raw_quantiles: tuple[float, ...]
    """At the shares `QUANTILES`."""
    released_quantiles: tuple[float, ...]
    quantile_error: float
    """How far the quantiles are off, on average: the share of the raw records between what was asked for and got."""


def number_kept(
    values: FloatArray, records: FloatArray, intervals: FloatArray, held: FloatArray, unit: float
) -> NumberKept:
    """Compares raw values, in ascending order, with intervals `[lo, hi)`, one per label, by the records that hold each.

    The unit is the step of the values; 0 if they may lie anywhere.
    """
    shares, held = records / records.sum(), held / (held.sum() or 1)
    mean = float(shares @ values)
    deviation = float(np.sqrt(shares @ (values - mean) ** 2))
    released = float(held @ (intervals.sum(axis=1) - unit) / 2)
    below = np.cumsum(shares)
    raw = [float(values[min(int(np.searchsorted(below, share - ROUNDING)), len(values) - 1)]) for share in QUANTILES]
    quantiles = spread_quantiles(intervals, held, unit)
    ranks = [_rank_error(values, below, value, share) for value, share in zip(quantiles, QUANTILES, strict=True)]
    return NumberKept(
        raw_mean=mean,
        released_mean=released,
        mean_error=abs(released - mean) / (deviation or float(np.ptp(intervals)) or 1),
        raw_quantiles=tuple(raw),
        released_quantiles=tuple(quantiles),
        quantile_error=float(np.mean(ranks)),
    )


def spread_quantiles(intervals: FloatArray, held: FloatArray, unit: float) -> list[float]:
    """The quantiles of records that are spread evenly over their intervals: the least value with enough at or below."""
    edges = np.unique(intervals)
    ends = np.searchsorted(edges, intervals)
    density = np.zeros(len(edges))
    per_unit = held / np.diff(intervals, axis=1)[:, 0]
    np.add.at(density, ends[:, 0], per_unit)
    np.add.at(density, ends[:, 1], -per_unit)
    below = np.concatenate([[0], np.cumsum(np.cumsum(density)[:-1] * np.diff(edges))])
    found = []
    for share in QUANTILES:
        place = max(int(np.searchsorted(below, share - ROUNDING)), 1)
        inside = (share - below[place - 1]) / ((below[place] - below[place - 1]) or 1)
        value = edges[place - 1] + inside * (edges[place] - edges[place - 1])
        if unit:
            value = edges[0] + max(np.ceil((value - edges[0]) / unit - ROUNDING) - 1, 0) * unit
        found.append(float(value))
    return found


def _rank_error(values: FloatArray, below: FloatArray, value: float, share: float) -> float:
    """How far a share is from the shares of the raw records below a value, and at or below it."""
    up_to = np.concatenate([[0], below])
    low, high = (float(up_to[np.searchsorted(values, value, side=side)]) for side in ("left", "right"))
    return max(low - share, share - high, 0.0)


def mean_number(runs: Sequence[NumberKept]) -> NumberKept:
    """The means over several releases."""
    return NumberKept(
        raw_mean=_mean([run.raw_mean for run in runs]),
        released_mean=_mean([run.released_mean for run in runs]),
        mean_error=_mean([run.mean_error for run in runs]),
        raw_quantiles=_means([run.raw_quantiles for run in runs]),
        released_quantiles=_means([run.released_quantiles for run in runs]),
        quantile_error=_mean([run.quantile_error for run in runs]),
    )


def _means(runs: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(np.mean(runs, axis=0).tolist())
