"""Cells that represent the table, weighed by the model and corrected by the counts of a tree over them.

The product of the cuts has too many cells to list, and most are empty. A fixed number of points is drawn: for each
class as many as its share, every attribute on its own from the shape that was measured for the class, in even strata.
The class probabilities of a point come from the model, which knows how attributes act together. All of this uses noisy
numbers only, and a public seed: post-processing.

The last measurement is the class counts of the leaves of a tree. It is grown on the cells and weights that the model
predicts, not on the rows. Its leaves partition all cells of the cuts, so a record is in one leaf and one class: one of
the counts changes, by 1. Totals and odds of the leaves are then moved towards the noisy counts, as far as these can be
trusted (empirical Bayes): post-processing. So is the list of cells that the points fall into, which is released.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from unveil.absence import absent
from unveil.arrays import FloatArray, IntArray, grouped, packed_keys
from unveil.interruption import is_command
from unveil.masking import Block
from unveil.publishers.additive.bins import Bins, cut_of
from unveil.publishers.additive.model import nonnegative
from unveil.publishers.additive.rounds import Learned
from unveil.publishers.private import cell_rows
from unveil.schema import WEIGHT
from unveil.tables import Outline

DECIMALS = 6
"""Weights are rounded to this many decimals; a cell whose weight is then zero is not listed."""

POINTS = 50_000
"""How many points are drawn; a release has at most this many cells."""
SEED = 15
"""Public: the points are a function of what was measured."""
SMALLEST = 0.001
"""No leaf expects a smaller share of the records."""
ABOVE_NOISE = 8
"""Nor fewer records than this times 1 / ε."""
LARGEST = 0.4
"""And no leaf needs to expect more than this share."""
FURTHEST = 8.0
"""The log-odds of a leaf move no further than this."""


def drawn_bins(learned: Learned) -> IntArray:
    """The points: one row each, one column per attribute, with the number of the bin."""
    classes = np.repeat(np.arange(len(learned.totals)), points_per_class(learned.model.totals))
    draw = np.random.default_rng(SEED)
    bins = np.zeros((len(classes), len(learned.bins)), dtype=np.int64)
    for attribute in sorted({done.attribute for done in learned.rounds}):
        for number, shape in enumerate(_shapes(learned, attribute)):
            bins[classes == number, attribute] = spread(shape, int((classes == number).sum()), draw)
    return bins


def points_per_class(totals: FloatArray) -> IntArray:
    """How many points each class gets."""
    ends = np.rint(POINTS * np.cumsum(totals) / totals.sum()).astype(np.int64)
    points: IntArray = np.diff(ends, prepend=0)
    return points


def _shapes(learned: Learned, attribute: int) -> Iterator[FloatArray]:
    """For each class, how its records spread over the bins of an attribute, by the first sums that say so."""
    rounds = [done for done in learned.rounds if done.attribute == attribute]
    positive = learned.model.positive
    for class_ in range(len(learned.totals)):
        own = [done.within / done.unit for done in rounds if positive[done.model] == class_]
        other = [done.against / done.unit for done in rounds if positive[done.model] != class_]
        shape = nonnegative((own or other)[0]) + 1e-9
        yield shape / shape.sum()


def spread(shape: FloatArray, count: int, draw: np.random.Generator) -> IntArray:
    """Bins in proportion to a shape, one from each of `count` even strata, in random order."""
    places = (np.arange(count) + draw.random()) / max(count, 1)
    found = np.searchsorted(np.cumsum(shape), places, side="right")
    return draw.permutation(np.minimum(found, len(shape) - 1))


@dataclass(frozen=True, eq=False)
class LeafTree:
    """A partition of cells by tests: rank of an attribute's block ≤ threshold."""

    attribute: IntArray
    """The attribute that each node tests; −1 for a leaf."""
    threshold: IntArray
    """Up to this rank, left."""
    left: IntArray
    right: IntArray
    leaf: IntArray
    """The number of each leaf; −1 for an inner node."""

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return int(self.leaf.max()) + 1

    def of(self, ranks: IntArray) -> IntArray:
        """The leaf of each cell."""
        node = np.zeros(len(ranks), dtype=np.int64)
        while (inner := np.flatnonzero(self.attribute[node] >= 0)).size:
            at = node[inner]
            below = ranks[inner, self.attribute[at]] <= self.threshold[at]
            node[inner] = np.where(below, self.left[at], self.right[at])
        return self.leaf[node]


def grown(ranks: IntArray, weights: FloatArray, epsilon: float) -> LeafTree:
    """A tree that separates classes, with leaves that are large enough for their noise.

    `ranks` has the rank of the block of each attribute by its effect, one row per cell; `weights` the expected records
    per cell and class.
    """
    # It looks whether pandas is there, which takes longer to import than the tree to grow.
    with absent("pandas") if is_command() else nullcontext():
        from sklearn.tree import DecisionTreeClassifier

    cells, classes = weights.shape
    least = min(LARGEST, max(SMALLEST, ABOVE_NOISE / (epsilon * max(weights.sum(), 1))))
    tree = DecisionTreeClassifier(criterion="entropy", min_weight_fraction_leaf=least, random_state=0)
    tree.fit(np.tile(ranks, (classes, 1)), np.repeat(np.arange(classes), cells), sample_weight=weights.T.ravel())
    nodes = tree.tree_
    inner = nodes.children_left >= 0
    leaf = np.where(inner, -1, np.cumsum(~inner) - 1)
    return LeafTree(
        np.where(inner, nodes.feature, -1),
        np.where(inner, np.floor(nodes.threshold), 0).astype(np.int64),
        nodes.children_left,
        nodes.children_right,
        leaf,
    )


def corrected(weights: FloatArray, leaf: IntArray, counts: IntArray, variance: float) -> FloatArray:
    """The expected records per cell and class, moved towards the noisy counts of their leaves."""
    leaves, classes = counts.shape
    expected = np.stack([np.bincount(leaf, row, minlength=leaves) for row in weights.T], axis=1)
    sums = np.maximum(expected.sum(axis=1), 1e-9)
    noisy = counts.astype(np.float64)
    totals = _totals(sums, noisy.sum(axis=1), classes * variance)
    chances = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)
    # Of two classes, one says it all.
    for class_ in [1] if classes == 2 else range(classes):
        odds = _odds(expected[:, class_] / sums, noisy[:, class_], noisy.sum(axis=1), totals, variance, classes)
        chances[:, class_] *= np.exp(odds)[leaf]
    chances /= np.maximum(chances.sum(axis=1, keepdims=True), 1e-12)
    moved: FloatArray = chances * (weights.sum(axis=1) * (totals / sums)[leaf])[:, None]
    return moved


def _totals(expected: FloatArray, noisy: FloatArray, variance: float) -> FloatArray:
    """The likely totals: expected and noisy ones, weighed by how far the expectation turned out to be off."""
    off = np.sum((noisy - expected) ** 2 - variance - expected) / np.sum(expected**2)
    trust = max(off, 0.01) * expected**2
    return np.maximum((noisy * trust + expected * variance) / (trust + variance), 1e-3)


def _odds(
    share: FloatArray, noisy: FloatArray, sums: FloatArray, totals: FloatArray, variance: float, classes: int
) -> FloatArray:
    """By how much the log-odds of a class should move in each leaf."""
    chance = np.clip(share, 1e-4, 1 - 1e-4)
    residual = noisy - sums * chance
    information = totals * chance * (1 - chance)
    noise = variance * ((1 - chance) ** 2 + (classes - 1) * chance**2)
    spread = np.sum(residual**2 - information - noise) / max(float(np.sum(information**2)), 1e-9)
    if spread <= 0:
        return np.zeros(len(share))
    moved = spread * residual * information / (spread * information**2 + information + noise)
    return np.clip(moved, -FURTHEST, FURTHEST)


def merged(bins: IntArray, blocks: Sequence[IntArray], records: FloatArray) -> tuple[IntArray, FloatArray]:
    """The cells that points fall into, one row of blocks each, and the records that are expected there, per class.

    `bins` has one row per point and one column per attribute, `blocks` for every attribute the block of each bin, and
    `records` how many records a point represents, per class.
    """
    points = np.stack([held[bins[:, place]] for place, held in enumerate(blocks)], axis=1)
    found = grouped(packed_keys(list(points.T), [int(held.max()) + 1 for held in blocks]))
    return points[found.order[found.starts]], np.add.reduceat(records[found.order], found.starts, axis=0)


def listed_rows(table: Outline, cuts: Sequence[Sequence[Block]], blocks: IntArray, weights: FloatArray) -> pa.Table:
    """One row per cell and class whose weight is not zero."""
    weights = np.round(weights, DECIMALS)
    cell, class_ = np.nonzero(weights > 0)
    rows, listed = cell_rows(table, cuts, blocks[cell], class_, weights[cell, class_])
    return rows.append_column(WEIGHT, pa.array(listed))


def bin_labels(
    table: Outline,
    measured: Collection[int],
    bins: Sequence[Bins | None],
    cuts: Sequence[Sequence[Block]],
    blocks: Sequence[IntArray],
) -> dict[str, dict[str, str]]:
    """The bins of every attribute that was measured, and the block of each."""
    return {
        table.attributes[place].name: {
            label: cuts[place][block].label
            for label, block in zip(_labels(bins[place], table, place), blocks[place].tolist(), strict=True)
        }
        for place in sorted(measured)
    }


def _labels(bins: Bins | None, table: Outline, place: int) -> tuple[str, ...]:
    if bins is not None and bins.nodes:
        return tuple(node.label for node in bins.nodes)  # a block would take the label of a node above an only child
    single = np.arange(1 if bins is None else bins.size)
    return tuple(block.label for block in cut_of(table.attributes[place], table.columns[place], bins, single))
