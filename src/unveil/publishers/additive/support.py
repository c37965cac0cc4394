"""Cells that represent the table: drawn from the measured class-conditional shapes, weighed by the model.

The product of the cuts has too many cells to list, and most are empty. A fixed number of points is drawn: for each
class as many as its share, every attribute on its own from the shape that was measured for the class, in even strata.
The class probabilities of a point come from the model, which knows how attributes act together. All of this uses noisy
numbers only, and a public seed: post-processing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unveil.arrays import FloatArray, IntArray
from unveil.publishers.additive.rounds import Learned, Round
from unveil.publishers.additive.smoothing import nonnegative

POINTS = 50_000
"""How many points are drawn; a release has at most so many cells."""
SEED = 15
"""Public: the points are a function of what was measured."""


def drawn_bins(learned: Learned) -> IntArray:
    """The points: one row each, one column per attribute, with the number of the bin."""
    classes = np.repeat(np.arange(len(learned.totals)), _points_per_class(learned.model.totals))
    draw = np.random.default_rng(SEED)
    bins = np.zeros((len(classes), len(learned.bins)), dtype=np.int64)
    for attribute in sorted({done.attribute for done in learned.rounds}):
        for number, shape in enumerate(_shapes(learned, attribute)):
            bins[classes == number, attribute] = _spread(shape, int((classes == number).sum()), draw)
    return bins


def _points_per_class(totals: FloatArray) -> IntArray:
    ends = np.rint(POINTS * np.cumsum(totals) / totals.sum()).astype(np.int64)
    points: IntArray = np.diff(ends, prepend=0)
    return points


def _shapes(learned: Learned, attribute: int) -> Iterator[FloatArray]:
    """For each class, how its records spread over the bins of an attribute, by the first sums that say so."""
    rounds = [done for done in learned.rounds if done.attribute == attribute]
    positive = learned.model.positive
    for class_ in range(len(learned.totals)):
        own = [done.within for done in rounds if positive[done.model] == class_]
        other = [done.against for done in rounds if positive[done.model] != class_]
        shape = nonnegative((own or other)[0] / _unit(rounds, own, other)) + 1e-9
        yield shape / shape.sum()


def _unit(rounds: list[Round], own: list[IntArray], other: list[IntArray]) -> int:
    first = (own or other)[0]
    return next(done.unit for done in rounds if done.within is first or done.against is first)


def _spread(shape: FloatArray, count: int, draw: np.random.Generator) -> IntArray:
    """Bins in proportion to a shape, one from each of `count` even strata, in random order."""
    places = (np.arange(count) + draw.random()) / max(count, 1)
    found = np.searchsorted(np.cumsum(shape), places, side="right")
    return draw.permutation(np.minimum(found, len(shape) - 1))
