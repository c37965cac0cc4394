"""From noisy tables to points: the class first, then each attribute given the class, and some given another one too.

Pairs that were measured tie attributes to each other, without circles: a forest. The table of a pair and the class is
the one nearest to independence within the class that agrees with the noisy counts of the pair and with the noisy tables
of both attributes. Points are drawn from it in even strata, with a public seed. All of this is post-processing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unveil.arrays import FloatArray, IntArray
from unveil.publishers.additive.cells import SEED, points_per_class, spread
from unveil.publishers.additive.model import nonnegative

SWEEPS = 20
"""How often the table of a pair and the class is scaled to each of the three tables that it should agree with."""
LEAST = 1e-9
"""What no share is below, before shares are scaled to sum 1."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two attributes, by their places, and the noisy counts of their groups."""

    places: tuple[int, int]
    counts: IntArray


class Star:
    """Every attribute given the class, by the noisy tables."""

    def __init__(
        self, totals: IntArray, variance: float, tables: Mapping[int, IntArray], table_variance: float
    ) -> None:
        """Estimates records per class and shapes, from noisy totals per class and noisy tables per bin and class.

        The variances are those of their noise; tables are by the place of their attribute.
        """
        trust = {place: 1 / (len(held) * table_variance + 1e-12) for place, held in tables.items()}
        first = 1 / (variance + 1e-12)
        sums = first * totals + sum(trust[place] * held.sum(axis=0) for place, held in tables.items())
        self.records: FloatArray = np.maximum(sums / (first + sum(trust.values())), 1.0)
        """The likely records per class: all tables know them, the less surely the more bins they have."""
        self.shares: FloatArray = self.records / self.records.sum()
        self.shapes = {place: np.stack([_shape(part) for part in held.T], axis=1) for place, held in tables.items()}
        """How the records of each class spread over the bins of an attribute: `[bin, class]`."""

    def grouped(self, place: int, groups: IntArray) -> FloatArray:
        """The share of all records in each group and class."""
        shape = self.shapes[place] * self.shares
        return np.stack([np.bincount(groups, part) for part in shape.T], axis=1)


def _shape(noisy: FloatArray | IntArray) -> FloatArray:
    """Shares that are above zero."""
    shape: FloatArray = nonnegative(noisy.astype(np.float64)) + LEAST
    shape /= shape.sum()
    return shape


def groups_of(shares: FloatArray, most: int, *, ordered: bool) -> IntArray:
    """The group of each bin: of a number, neighbours of about equal share together; of a category, the rare values."""
    if len(shares) <= most:
        return np.arange(len(shares))
    if ordered:
        middle = (np.cumsum(shares) - shares / 2) / shares.sum()
        return np.unique(np.minimum((middle * most).astype(np.int64), most - 1), return_inverse=True)[1]
    frequent = np.sort(np.argsort(-shares, kind="stable")[: most - 1])
    groups = np.full(len(shares), most - 1)
    groups[frequent] = np.arange(most - 1)
    return groups


def raked(counts: IntArray, first: FloatArray, second: FloatArray, shares: FloatArray) -> FloatArray:
    """The likely shares of all records by group of one attribute, group of another, and class.

    They come from the noisy counts of the pair, the shares of both attributes by group and class, and those of classes.
    """
    pair = _shape(counts.ravel()).reshape(counts.shape)
    table = first[:, None, :] * second[None, :, :] / shares
    for _ in range(SWEEPS):
        table *= (pair / table.sum(axis=2))[:, :, None]
        table *= (first / table.sum(axis=1))[:, None, :]
        table *= (second / table.sum(axis=0))[None, :, :]
    return table


def tied(places: Sequence[int], pairs: Sequence[Pair]) -> Iterator[tuple[int, int | None, Pair | None]]:
    """All attributes, each with the one that it depends on, if any, and their pair: nearest to the root first."""
    seen: set[int] = set()
    for root in places:
        if root in seen:
            continue
        waiting: list[tuple[int, int | None, Pair | None]] = [(root, None, None)]
        while waiting:
            place, above, tie = waiting.pop(0)
            seen.add(place)
            yield place, above, tie
            for pair in pairs:
                if place in pair.places:
                    [other] = set(pair.places) - {place}
                    if other not in seen:
                        waiting.append((other, place, pair))


def drawn_points(
    star: Star, groups: Mapping[int, IntArray], pairs: Sequence[Pair], attributes: int
) -> tuple[IntArray, IntArray]:
    """The class of each point, and its bins: one column per attribute of the table.

    `groups` has, for every attribute in a pair, the group of each bin.
    """
    draw = np.random.default_rng(SEED)
    classes = np.repeat(np.arange(len(star.records)), points_per_class(star.records))
    bins = np.zeros((len(classes), attributes), dtype=np.int64)
    parts = np.split(bins, np.searchsorted(classes, np.arange(1, len(star.records))))
    for place, above, pair in tied(sorted(star.shapes), pairs):
        shapes = star.shapes[place].T
        if above is None or pair is None:
            for part, shape in zip(parts, shapes, strict=True):
                part[:, place] = spread(shape / shape.sum(), len(part), draw)
            continue
        first, second = (star.grouped(held, groups[held]) for held in pair.places)
        table = raked(pair.counts, first, second, star.shares)
        table = table if pair.places[0] == above else table.transpose(1, 0, 2)
        upper = [groups[above][part[:, above]] for part in parts]
        found = [_by_row(held, rows, draw) for held, rows in zip(upper, table.transpose(2, 0, 1), strict=True)]
        for part, group, shape in zip(parts, found, shapes, strict=True):
            part[:, place] = _within(group, groups[place], shape, draw)
    return classes, bins


def _by_row(rows: IntArray, shapes: FloatArray, draw: np.random.Generator) -> IntArray:
    """Points of each row of a table, spread over its columns."""
    found = np.zeros(len(rows), dtype=np.int64)
    for row, shape in enumerate(shapes):
        held = rows == row
        found[held] = spread(shape / shape.sum(), int(held.sum()), draw)
    return found


def _within(group: IntArray, groups: IntArray, shape: FloatArray, draw: np.random.Generator) -> IntArray:
    """Points of each group, spread over its bins."""
    found = np.zeros(len(group), dtype=np.int64)
    for number in range(int(groups.max()) + 1):
        held, options = group == number, np.flatnonzero(groups == number)
        share = shape[options]
        found[held] = options[spread(share / share.sum(), int(held.sum()), draw)]
    return found
