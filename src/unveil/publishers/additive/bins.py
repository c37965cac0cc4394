"""Public bins, and the cut that is made of them.

Each attribute has a ladder of partitions, from coarse to fine, made from its declared domain alone. A category has one
level for each depth of its taxonomy; without a taxonomy it has one, all its values. A number has levels of thresholds
on its grid: a linear series, and 1, 2, 5, 10, 20, 50, … steps from its lowest value, since amounts of money and
durations crowd near zero. Each level adds thresholds to the one before.

In the cut, bins that an attribute need not tell apart become one block, never finer than what was measured. Bins are
alike if their effects on the log-odds differ by little. Intervals of a number merge with their neighbours, the children
of a taxonomy node into the node, and values without a taxonomy into `⊥`, the largest set of alike values. This uses the
model only: post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unveil.arrays import Array, FloatArray, IntArray
from unveil.masking import Block, Scale
from unveil.schema import SUPPRESSED, Attribute, Grid, Node, Taxonomy, grid_of
from unveil.schema.privacy import MOST_BINS
from unveil.tables import Domain

LINEAR = (8, 16, 32)
"""How many intervals the linear series of each level has."""
FEW_BINS = 60
"""Up to this many bins of a category are measured where n·ε is small."""
ALIKE = 0.15
"""Bins of a number whose log-odds differ by no more than this are not distinguished."""
ALIKE_LABELS = 0.45
"""Those of a category may differ by more: its labels have no order, so each costs a classifier a test."""
MOST_BLOCKS = 16
"""If there would be more blocks, bins that differ by more are merged too."""
WIDER = 1.25


@dataclass(frozen=True, eq=False)
class Bins:
    """One level of an attribute: its bins, and how alike they are."""

    attribute: Attribute
    thresholds: tuple[int, ...] = ()
    """For a number: the places of the grid at which a bin begins, the first bin left out."""
    nodes: tuple[Node, ...] = ()
    """For a category with a taxonomy: the node of each bin."""
    groups: tuple[IntArray, ...] = ()
    """For a category with a taxonomy: which bins share a node at each level up to this one."""

    @property
    def size(self) -> int:
        """The number of bins."""
        if self.attribute.ordered:
            return len(self.thresholds) + 1
        return len(self.nodes) if self.nodes else len(self.attribute.values or ())

    @property
    def grid(self) -> Grid:
        """The domain of a number."""
        grid = grid_of(self.attribute)
        if grid is None:
            raise ValueError(f"{self.attribute.name} has no declared domain")
        return grid

    def of_codes(self, domain: Domain) -> Array:
        """The bin of each code of a column."""
        if isinstance(domain.values, tuple):
            if not self.nodes:
                return np.arange(len(domain.values), dtype=np.uint16)
            return np.repeat(np.arange(self.size, dtype=np.uint16), [node.hi - node.lo for node in self.nodes])
        return np.searchsorted(self.thresholds, self.grid.places(domain.values), side="right").astype(np.uint16)

    def kernel(self) -> FloatArray:
        """How alike the effects of any two bins are expected to be, between 0 and 1.

        Bins of a number are alike if they are near, at several scales, and a missing value is like nothing else; those
        of a taxonomy are alike if they share nodes.
        """
        if self.attribute.ordered:
            return _near(self.size - self.grid.kinds, self.grid.kinds)
        groups = self.groups or (np.arange(self.size),)
        shared: FloatArray = np.mean([group[:, None] == group[None, :] for group in groups], axis=0)
        return shared


def _near(numbers: int, kinds: int) -> FloatArray:
    """How alike bins of numbers are, and after them kinds of missing values."""
    places = np.arange(numbers) / max(numbers - 1, 1)
    apart = np.abs(places[:, None] - places[None, :])
    scales = 2.0 ** np.arange(1, max(2, int(np.ceil(np.log2(numbers))) + 1))
    near: FloatArray = np.eye(numbers + kinds)
    near[:numbers, :numbers] = np.mean([np.exp(-apart * scale) for scale in scales], axis=0)
    return near


def affordable(attribute: Attribute, records: float) -> Bins | None:
    """The level that is measured: the finest that n·ε, by the noisy class totals, can afford; None if there is none."""
    if attribute.ordered:
        ladder = number_levels(attribute)
        level = 0 if records < 1e4 else 1 if records < 1e6 else 2
        bins = ladder[min(level, len(ladder) - 1)]
    else:
        ladder = [level for level in category_levels(attribute) if 1 < level.size <= MOST_BINS]
        most = FEW_BINS if records < 1e5 else MOST_BINS
        return next((level for level in reversed(ladder) if level.size <= most), ladder[0] if ladder else None)
    return bins if 1 < bins.size <= MOST_BINS else None


def number_levels(attribute: Attribute) -> list[Bins]:
    """The levels of a number, coarse to fine; each has all thresholds of those before it.

    Every kind of missing values is its own bin.
    """
    grid = Bins(attribute).grid
    held = set(range(grid.size, grid.total))
    levels: list[Bins] = []
    for linear in LINEAR:
        held |= _thresholds(grid.size, linear)
        if not levels or len(held) > len(levels[-1].thresholds):
            levels.append(Bins(attribute, thresholds=tuple(sorted(held))))
    return levels


def _thresholds(size: int, linear: int) -> set[int]:
    """All places of a small grid; of a larger one a linear series and 1, 2, 5, 10, … steps."""
    if size <= linear + linear // 2:
        return set(range(1, size))
    even = {size * place // linear for place in range(1, linear)}
    steps, power = set(), 1
    while power < size:
        steps |= {factor * power for factor in (1, 2, 5) if factor * power < size}
        power *= 10
    return even | steps


def category_levels(attribute: Attribute) -> list[Bins]:
    """The levels of a category, coarse to fine."""
    if attribute.taxonomy is None:
        return [Bins(attribute)]
    fronts = _fronts(attribute.taxonomy)
    levels = []
    for depth, front in enumerate(fronts):
        starts = [node.lo for node in front]
        groups = tuple(_containing(upper, starts) for upper in fronts[: depth + 1])
        levels.append(Bins(attribute, nodes=front, groups=groups))
    return levels


def _fronts(taxonomy: Taxonomy) -> list[tuple[Node, ...]]:
    """Cuts through the taxonomy, one per depth: from the children of the root to the leaves."""
    fronts: list[tuple[Node, ...]] = []
    front: tuple[Node, ...] = (taxonomy.root,)
    while any(node.children for node in front):
        front = tuple(child for node in front for child in (node.children or (node,)))
        fronts.append(front)
    return fronts


def _containing(front: Sequence[Node], starts: Sequence[int]) -> IntArray:
    """The node of a front above each leaf."""
    return np.searchsorted([node.lo for node in front], starts, side="right") - 1


def block_of_bins(bins: Bins, effects: FloatArray) -> IntArray:
    """The block of each bin, by what it adds to the log-odds (`[bin, model]`); the last one is `⊥` if there is one."""
    alike = ALIKE if bins.attribute.ordered else ALIKE_LABELS
    while True:
        found = _merged(bins, effects, alike)
        if found.max() < MOST_BLOCKS:
            return found
        alike *= WIDER


def _merged(bins: Bins, effects: FloatArray, alike: float) -> IntArray:
    if bins.attribute.ordered:
        return _intervals(effects, alike)
    return _nodes(bins, effects, alike) if bins.nodes else _disclosed(effects, alike)


def _intervals(effects: FloatArray, alike: float) -> IntArray:
    """Neighbours merge while they are like the first of their interval."""
    blocks = np.zeros(len(effects), dtype=np.int64)
    start = 0
    for place in range(1, len(effects)):
        fresh = np.abs(effects[place] - effects[start]).max() > alike
        start = place if fresh else start
        blocks[place] = blocks[place - 1] + fresh
    return blocks


def _nodes(bins: Bins, effects: FloatArray, alike: float) -> IntArray:
    """The highest nodes whose bins are all alike."""
    starts = np.array([node.lo for node in bins.nodes])
    blocks = np.zeros(len(effects), dtype=np.int64)
    for number, node in enumerate(_highest(bins, effects, alike, starts)):
        blocks[_inside(node, starts)] = number
    return blocks


def _highest(bins: Bins, effects: FloatArray, alike: float, starts: IntArray) -> list[Node]:
    assert bins.attribute.taxonomy is not None  # noqa: S101 - only bins with a taxonomy have nodes
    ends = {node.lo: node.hi for node in bins.nodes}
    waiting, found = [bins.attribute.taxonomy.root], []
    while waiting:
        node = waiting.pop()
        held = effects[_inside(node, starts)]
        if ends.get(node.lo) == node.hi or np.ptp(held, axis=0).max() <= alike:
            found.append(node)
        else:
            waiting += reversed(node.children)
    return found


def _inside(node: Node, starts: IntArray) -> slice:
    return slice(*np.searchsorted(starts, [node.lo, node.hi]))


def _disclosed(effects: FloatArray, alike: float) -> IntArray:
    """Every value is a block, except for the largest set of alike values, which share the last one."""
    near = np.abs(effects[:, None, :] - effects[None, :, :]).max(axis=2) <= alike / 2
    hidden = near[int(near.sum(axis=1).argmax())]
    if hidden.sum() < 2:
        return np.arange(len(effects))
    blocks = np.cumsum(~hidden) - 1
    blocks[hidden] = (~hidden).sum()
    return blocks


def cut_of(attribute: Attribute, domain: Domain, bins: Bins | None, blocks: IntArray) -> list[Block]:
    """The blocks of an attribute with their labels and codes; one block if nothing was measured."""
    if bins is None:
        return [_whole(attribute, domain)]
    block_of = blocks[bins.of_codes(domain)]
    cut = []
    for number in range(int(blocks.max()) + 1):
        held = np.flatnonzero(blocks == number)
        codes = np.flatnonzero(block_of == number)
        cut.append(_block(bins, held, codes, alone=int(blocks.max()) == 0))
    return cut


def _whole(attribute: Attribute, domain: Domain) -> Block:
    codes = np.arange(len(domain))
    if attribute.range is not None:
        scale = Scale.of(attribute, attribute.range)
        return scale.block(scale.lo, scale.end, codes)
    return Block(SUPPRESSED if attribute.taxonomy is None else attribute.taxonomy.root.label, codes)


def _block(bins: Bins, held: IntArray, codes: IntArray, *, alone: bool) -> Block:
    """The block of some bins."""
    attribute = bins.attribute
    if attribute.range is not None:
        places = (0, *bins.thresholds, bins.grid.total)
        bounds = (bins.grid.value(places[held[0]]), bins.grid.value(places[held[-1] + 1]))
        return Scale.of(attribute, attribute.range).block(*bounds, codes)
    if attribute.taxonomy is not None:
        return Block(_node_label(bins, held), codes)
    values = attribute.values or ()
    return Block(values[held[0]] if len(held) == 1 and not alone else SUPPRESSED, codes)


def _node_label(bins: Bins, held: IntArray) -> str:
    """The highest node that covers these bins and no others."""
    lo, hi = bins.nodes[held[0]].lo, bins.nodes[held[-1]].hi
    assert bins.attribute.taxonomy is not None  # noqa: S101 - only bins with a taxonomy have nodes
    return next(node.label for node in bins.attribute.taxonomy.root.walk() if (node.lo, node.hi) == (lo, hi))
