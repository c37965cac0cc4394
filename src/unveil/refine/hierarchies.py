"""What the blocks of all attributes can be refined into: intervals at allowed cut points, labels of a taxonomy, values.

Blocks have numbers. A block has cells: the intervals between allowed cut points, the children of a label, or the values
that `⊥` hides. It is refined by a split before a cell, into all its cells, or by peeling: one cell is split off, and
the rest keeps the label of the block. The cut points of a number are a grid that all boxes share, so that labels stay
few and comparable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from unveil.arrays import BoolArray, FloatArray, IntArray, NumberArray
from unveil.counting.scans import ALL, INTERVAL, PEEL, PEELED, SPLIT, WHOLE
from unveil.masking import Block, Scale, rest_label
from unveil.schema import SUPPRESSED, Attribute, Fineness, Node, Taxonomy

POINTS = 12
"""How many cut points a number has at most."""
STEPS = 1 << 20
"""Gains are counted in steps of 2^−20 bits."""


def cut_points(histogram: IntArray, targets: int) -> IntArray:
    """Where a greedy discretization by the class, or by other targets, cuts a number; in ascending order.

    The interval and the split with the most information about the targets are next, in bits over the records; among
    ties the lowest. It ends at `POINTS`, or when no split adds information. Without targets, the records count, and
    intervals have about equally many.

    The histogram has `[value, class]` counts, values in domain order; for several targets, one after the other.
    """
    held = np.flatnonzero(histogram.sum(axis=1))
    counts = histogram[held]
    best = {(0, len(held)): _best(counts, targets)} if len(held) else {}
    points: list[int] = []
    while best and len(points) < POINTS:
        lo, hi = max(best, key=lambda part: (best[part][0], -part[0]))
        gain, at = best.pop((lo, hi))
        if gain <= 0:
            break
        points.append(lo + at)
        for part in ((lo, lo + at), (lo + at, hi)):
            best[part] = _best(counts[slice(*part)], targets)
    return held[np.sort(np.array(points, dtype=np.int64))]


def _best(counts: IntArray, targets: int) -> tuple[float, int]:
    """The gain of the best split of these values, and how many values are on its left; no gain if there is none."""
    if len(counts) < 2:
        return 0.0, 0
    left = np.cumsum(counts, axis=0)
    right = left[-1] - left[:-1]
    bits = _purity(left[:-1], targets) + _purity(right, targets) - _purity(left[-1:], targets)
    # Whole steps, so that rounding errors break no ties.
    gains = np.floor(bits * STEPS + 0.5)
    at = int(np.argmax(gains))
    return float(gains[at]), at + 1


def _purity(counts: IntArray, targets: int) -> FloatArray:
    """Minus the entropy of the targets, in bits over the records; without any, that of the interval."""
    several = max(targets, 1)
    spread: FloatArray = several * _xlogx(counts.sum(axis=1) // several)
    return _xlogx(counts).sum(axis=1) - spread if targets else -spread


def _xlogx(counts: IntArray) -> FloatArray:
    floats = counts.astype(np.float64)
    return floats * np.log2(np.maximum(floats, 1))


Cutter = Callable[[float, float], float]
"""The bound that is published for a cut between two neighbouring values."""


@dataclass(frozen=True)
class Shape:
    """A block as the loops see it."""

    kind: int
    depth: int
    first: int
    cells: int
    """0 if it cannot be refined."""


Key = tuple[int, int]
"""What a hierarchy knows a block by."""


class Intervals:
    """A number or date: intervals between cut points. A key is the range of cells."""

    def __init__(
        self,
        attribute: Attribute,
        values: NumberArray,
        scale: Scale,
        points: IntArray,
        cut: Cutter,
        kept: Sequence[float] = (),
    ) -> None:
        """Takes the values in ascending order, and the codes before which an interval may be cut.

        `cut` says which bound is published between two neighbouring values. No value need be between two of the bounds
        `kept`, at which the owner wants the number cut.
        """
        self.attribute = attribute
        self._values, self._scale, self._cut = values, scale, cut
        fixed = np.searchsorted(values, np.array(kept, dtype=np.float64))
        codes = np.concatenate([fixed, np.setdiff1d(points, fixed)])
        order = np.argsort(codes, kind="stable")
        self._ends = np.concatenate([[0], codes[order], [len(values)]])
        self.root = 0, len(self._ends) - 1
        cells = np.argsort(order)[: len(fixed)] + 1
        self._kept: dict[int, float] = dict(zip(cells.tolist(), kept, strict=True))
        """The cells that begin at bounds to keep."""

    def cells(self) -> IntArray:
        """How many cut points are at or below each value."""
        return np.searchsorted(self._ends[1:-1], np.arange(len(self._values)), side="right")[None, :]

    def shape(self, key: Key) -> Shape:
        """An interval with at least two cells can be split."""
        lo, hi = key
        return Shape(INTERVAL, 0, lo, hi - lo if hi - lo > 1 else 0)

    def parts(self, key: Key, way: int, cell: int) -> list[Key]:
        """What is below a cell, and the cell with what is above; an interval is refined in no other way."""
        lo, hi = key
        return [(lo, lo + cell), (lo + cell, hi)]

    def kept(self, key: Key, peeled: Collection[int]) -> tuple[int, int] | None:
        """A split in the middle of the bounds to keep."""
        lo, hi = key
        inside = [cell for cell in self._kept if lo < cell < hi]
        return (SPLIT, inside[len(inside) // 2] - lo) if inside else None

    def block(self, key: Key) -> Block:
        """The interval with the bounds that are published."""
        lo, hi = key
        bounds = self._bound(lo), self._bound(hi)
        codes = np.arange(self._ends[lo], self._ends[hi])
        return self._scale.block(*bounds, codes)

    def _bound(self, cell: int) -> float:
        """Where a cell begins."""
        if cell in self.root:
            return self._scale.end if cell else self._scale.lo
        if cell in self._kept:
            return self._kept[cell]
        code = self._ends[cell]
        return self._cut(self._values[code - 1].item(), self._values[code].item())


class Labels:
    """A category with a taxonomy. A key is the depth of a label and its number there."""

    root = 0, 0

    def __init__(self, attribute: Attribute, taxonomy: Taxonomy) -> None:
        self.attribute = attribute
        self._taxonomy = taxonomy
        keep, self._finest = (frozenset(_labels(labels)) for labels in (attribute.keep, attribute.finest))
        self._coarse = {node.label for node in taxonomy.root.walk() if _is_above(node, keep)}
        """The labels above those that the owner keeps."""
        self._levels = [[taxonomy.root]]
        self._first: list[list[int]] = []
        """For each label, by depth, the number of its first child."""
        while any(node.children for node in self._levels[-1]):
            counts = [len(node.children) for node in self._levels[-1]]
            self._first.append([sum(counts[:place]) for place in range(len(counts))])
            self._levels.append([child for node in self._levels[-1] for child in node.children])

    def cells(self) -> IntArray:
        """The label below each depth that holds a value."""
        cells = np.zeros((len(self._levels) - 1, len(self._taxonomy.leaves)), dtype=np.int64)
        for depth, nodes in enumerate(self._levels[1:]):
            for number, node in enumerate(nodes):
                cells[depth, node.lo : node.hi] = number
        return cells

    def shape(self, key: Key) -> Shape:
        """A label is peeled unless the taxonomy has the label of its rest."""
        depth, number = key
        node = self._node(key)
        if not node.children or node.label in self._finest:
            return Shape(WHOLE, 0, 0, 0)
        kind = WHOLE if rest_label(node.label) in self._taxonomy else PEELED
        return Shape(kind, depth, self._first[depth][number], len(node.children))

    def parts(self, key: Key, way: int, cell: int) -> list[Key]:
        """All children, or one."""
        depth, number = key
        cells = range(len(self._node(key).children)) if way == ALL else (cell,)
        return [(depth + 1, self._first[depth][number] + child) for child in cells]

    def kept(self, key: Key, peeled: Collection[int]) -> tuple[int, int] | None:
        """All children of a label above those to keep."""
        return (ALL, 0) if self._node(key).label in self._coarse else None

    def block(self, key: Key) -> Block:
        """All values below a label."""
        node = self._node(key)
        return Block(node.label, np.arange(node.lo, node.hi))

    def _node(self, key: Key) -> Node:
        depth, number = key
        return self._levels[depth][number]


def _is_above(node: Node, labels: frozenset[str]) -> bool:
    return any(below.label in labels for child in node.children for below in child.walk())


def _labels(fineness: Fineness | None) -> tuple[str, ...]:
    return fineness if isinstance(fineness, tuple) else ()


class Values:
    """A category without a taxonomy: values are disclosed, one at a time or all that a box holds.

    A key is 0 for `⊥` and 1 for a disclosed value, and the code of the value.
    """

    root = 0, 0

    def __init__(self, attribute: Attribute, values: Sequence[str], held: BoolArray) -> None:
        """Takes the values, and which of them some record holds; the others are never disclosed."""
        self.attribute = attribute
        self._values = values
        keep = frozenset(_labels(attribute.keep))
        self._keep = [code for code in np.flatnonzero(held).tolist() if values[code] in keep]

    def cells(self) -> IntArray:
        """Every value is a cell."""
        return np.arange(len(self._values))[None, :]

    def shape(self, key: Key) -> Shape:
        """What is disclosed cannot be refined."""
        return Shape(PEELED, 0, 0, len(self._values) if key == self.root else 0)

    def parts(self, key: Key, way: int, cell: int) -> list[Key]:
        """All values disclosed, or one."""
        return [(1, code) for code in (range(len(self._values)) if way == ALL else (cell,))]

    def kept(self, key: Key, peeled: Collection[int]) -> tuple[int, int] | None:
        """The first value to keep that is hidden."""
        hidden = [code for code in self._keep if code not in peeled] if key == self.root else []
        return (PEEL, hidden[0]) if hidden else None

    def block(self, key: Key) -> Block:
        """A value, or all of them."""
        disclosed, code = key
        if disclosed:
            return Block(self._values[code], np.array([code]))
        return Block(SUPPRESSED, np.arange(len(self._values)))


Hierarchy = Intervals | Labels | Values
"""The blocks of one attribute, from its root, which masks every value.

Parts come without the rest. For a block that is coarser than the owner keeps, `kept` says how it is refined: by a way
and a cell.
"""
