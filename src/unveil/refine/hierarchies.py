"""What the blocks of all attributes can be refined into: intervals at allowed cut points, labels of a taxonomy, values.

Blocks have numbers. A block has cells: the intervals between allowed cut points, the children of a label, or the values
that `⊥` hides. It is refined by a split before a cell, into all its cells, or by peeling: one cell is told apart, and
the rest keeps the label of the block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unveil.arrays import Growing, IntArray, NumberArray
from unveil.counting.boxes import Shapes
from unveil.counting.scans import ALL, INTERVAL, PEELED, SPLIT, WHOLE
from unveil.masking import Block, rest_label
from unveil.schema import SUPPRESSED, Attribute, Node, Taxonomy, interval_label

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


class Hierarchy(Protocol):
    """The blocks of one attribute."""

    attribute: Attribute
    root: Key
    """The block that masks every value."""

    def cells(self) -> IntArray:
        """The cell of each value, by depth."""
        ...

    def shape(self, key: Key) -> Shape:
        """The cells of a block."""
        ...

    def part(self, key: Key, cell: int) -> Key:
        """For a category, the block of a cell."""
        ...

    def halves(self, key: Key, cell: int) -> tuple[Key, Key]:
        """For an interval, what is below and above a cell."""
        ...

    def block(self, key: Key) -> Block:
        """A block as the masking knows it."""
        ...


class Intervals:
    """A number or date: intervals between cut points. A key is the range of cells."""

    def __init__(
        self, attribute: Attribute, values: NumberArray, bounds: tuple[float, float], points: IntArray, cut: Cutter
    ) -> None:
        """Keeps what is given.

        Args:
            attribute: The number.
            values: Its values, in ascending order.
            bounds: Its range.
            points: The codes before which an interval may be cut.
            cut: The bound that is published for a cut between two neighbouring values.
        """
        self.attribute = attribute
        self.root = 0, len(points) + 1
        self._values, self._bounds, self._cut = values, bounds, cut
        self._ends = np.concatenate([[0], points, [len(values)]])

    def cells(self) -> IntArray:
        """How many cut points are at or below each value."""
        return np.searchsorted(self._ends[1:-1], np.arange(len(self._values)), side="right")[None, :]

    def shape(self, key: Key) -> Shape:
        """An interval with at least two cells can be split."""
        lo, hi = key
        return Shape(INTERVAL, 0, lo, hi - lo if hi - lo > 1 else 0)

    def part(self, key: Key, cell: int) -> Key:
        """A single cell."""
        return key[0] + cell, key[0] + cell + 1

    def halves(self, key: Key, cell: int) -> tuple[Key, Key]:
        """What is below and above a cell."""
        lo, hi = key
        return (lo, lo + cell), (lo + cell, hi)

    def block(self, key: Key) -> Block:
        """The interval with the bounds that are published."""
        lo, hi = key
        bounds = self._bound(lo), self._bound(hi)
        codes = np.arange(self._ends[lo], self._ends[hi])
        return Block(interval_label(*bounds, self.attribute.unit), codes, bounds)

    def _bound(self, cell: int) -> float:
        """Where a cell begins."""
        if cell in self.root:
            return self._bounds[cell > 0]
        code = self._ends[cell]
        return self._cut(self._values[code - 1].item(), self._values[code].item())


class Labels:
    """A category with a taxonomy. A key is the depth of a label and its number there."""

    root = 0, 0

    def __init__(self, attribute: Attribute, taxonomy: Taxonomy) -> None:
        self.attribute = attribute
        self._taxonomy = taxonomy
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
        if not node.children:
            return Shape(WHOLE, 0, 0, 0)
        kind = WHOLE if rest_label(node.label) in self._taxonomy else PEELED
        return Shape(kind, depth, self._first[depth][number], len(node.children))

    def part(self, key: Key, cell: int) -> Key:
        """A child."""
        depth, number = key
        return depth + 1, self._first[depth][number] + cell

    def halves(self, key: Key, cell: int) -> tuple[Key, Key]:
        """Labels are not cut."""
        raise NotImplementedError

    def block(self, key: Key) -> Block:
        """All values below a label."""
        node = self._node(key)
        return Block(node.label, np.arange(node.lo, node.hi))

    def _node(self, key: Key) -> Node:
        depth, number = key
        return self._levels[depth][number]


class Values:
    """A category without a taxonomy: values are disclosed, one at a time or all that a box holds.

    A key is 0 for `⊥` and 1 for a disclosed value, and the code of the value.
    """

    root = 0, 0

    def __init__(self, attribute: Attribute, values: Sequence[str]) -> None:
        self.attribute = attribute
        self._values = values

    def cells(self) -> IntArray:
        """Every value is a cell."""
        return np.arange(len(self._values))[None, :]

    def shape(self, key: Key) -> Shape:
        """What is disclosed cannot be refined."""
        return Shape(PEELED, 0, 0, len(self._values) if key == self.root else 0)

    def part(self, key: Key, cell: int) -> Key:
        """A disclosed value."""
        return 1, cell

    def halves(self, key: Key, cell: int) -> tuple[Key, Key]:
        """Values are not cut."""
        raise NotImplementedError

    def block(self, key: Key) -> Block:
        """A value, or all of them."""
        disclosed, code = key
        if disclosed:
            return Block(self._values[code], np.array([code]))
        return Block(SUPPRESSED, np.arange(len(self._values)))


class Blocks:
    """The blocks of all masked attributes, by number."""

    def __init__(self, hierarchies: Sequence[Hierarchy], sizes: Sequence[int]) -> None:
        """Enters the block that masks everything, for each attribute.

        Args:
            hierarchies: The masked attributes.
            sizes: How many values each has.
        """
        self.hierarchies = hierarchies
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).tolist()
        cells = [hierarchy.cells() for hierarchy in hierarchies]
        self._cell_of = np.zeros((max(map(len, cells)), sum(sizes)), dtype=np.int32)
        for place, levels in enumerate(cells):
            self._cell_of[: len(levels), self.offsets[place] : self.offsets[place + 1]] = levels
        self._shapes = Growing(np.int64, 4)
        self._owner: list[int] = []
        self._key: list[Key] = []
        self._origin: list[tuple[int, int] | None] = []
        """For the rest of a category: the block that was peeled, and the cell."""
        self._number: dict[tuple[int, Key], int] = {}
        self._known: dict[int, Block] = {}
        self._members = Growing(np.int64)
        """The blocks that refinements give, one list after the other."""
        self._lists: dict[tuple[int, int, int], int] = {}
        self._family: dict[int, int] = {}
        self.roots = [self._enter(place, hierarchy.root) for place, hierarchy in enumerate(hierarchies)]

    @property
    def shapes(self) -> Shapes:
        """The blocks as the loops see them."""
        kind, depth, first, cells = self._shapes.rows.T
        return Shapes(kind, depth, first, cells, self._cell_of)

    def close(self, block: int) -> None:
        """No longer refines a block."""
        self._shapes.rows[block, 3] = 0

    def lists(self, blocks: IntArray, ways: IntArray, cells: IntArray) -> IntArray:
        """Where, among the members, the blocks begin that refinements give."""
        keys, place = np.unique(np.stack([blocks, ways, cells], axis=1), axis=0, return_inverse=True)
        starts = np.array([self._list(*key) for key in keys.tolist()], dtype=np.int64)
        return starts[place.reshape(-1)]

    @property
    def members(self) -> IntArray:
        """The blocks that refinements give, one list after the other."""
        return self._members.rows

    def into(self, block: int, way: int, cell: int) -> list[int]:
        """The blocks that a refinement gives, the rest last; for all at once, without those that are peeled already."""
        start = self._list(block, way, cell)
        peeled = set(self.peeled(block)) if way == ALL else ()
        count = self._shape(block).cells if way == ALL else 2
        every: list[int] = self._members.rows[start : start + count].tolist()
        return [child for place, child in enumerate(every) if place not in peeled]

    def peeled(self, block: int) -> list[int]:
        """The cells that were peeled off a rest."""
        cells = []
        while (origin := self._origin[block]) is not None:
            block, cell = origin
            cells.append(cell)
        return cells

    def hides(self, block: int) -> bool:
        """Whether it is `⊥`, which values are disclosed from."""
        return self._whole(block).label == SUPPRESSED

    def is_rest(self, block: int) -> bool:
        """Whether something was peeled off."""
        return self._origin[block] is not None

    def owner(self, block: int) -> int:
        """The place of its attribute among the masked ones."""
        return self._owner[block]

    def attribute(self, block: int) -> Attribute:
        """The attribute that it is a block of."""
        return self.hierarchies[self._owner[block]].attribute

    def place(self, block: int) -> int:
        """Where the block lies in the order of the domain; a rest where its label begins."""
        return self._whole(block).first

    def label(self, block: int) -> str:
        """The released label."""
        label = self._whole(block).label
        return rest_label(label) if self.is_rest(block) and label != SUPPRESSED else label

    def block(self, block: int) -> Block:
        """A block as the masking knows it; a rest holds what was not peeled."""
        held = self._whole(block)
        if not self.is_rest(block):
            return held
        hierarchy, key = self.hierarchies[self._owner[block]], self._key[block]
        gone = [hierarchy.block(hierarchy.part(key, cell)).codes for cell in self.peeled(block)]
        return Block(self.label(block), np.setdiff1d(held.codes, np.concatenate(gone)))

    def _whole(self, block: int) -> Block:
        """The block before anything was peeled."""
        whole = self._number[self._owner[block], self._key[block]]
        if whole not in self._known:
            self._known[whole] = self.hierarchies[self._owner[block]].block(self._key[block])
        return self._known[whole]

    def _shape(self, block: int) -> Shape:
        return self.hierarchies[self._owner[block]].shape(self._key[block])

    def _enter(self, owner: int, key: Key) -> int:
        number = self._number.get((owner, key))
        if number is None:
            number = self._number[owner, key] = self._add(owner, key, None)
        return number

    def _add(self, owner: int, key: Key, origin: tuple[int, int] | None) -> int:
        shape = self.hierarchies[owner].shape(key)
        self._shapes.add(1, (shape.kind, shape.depth, shape.first, shape.cells))
        self._owner.append(owner)
        self._key.append(key)
        self._origin.append(origin)
        return len(self._key) - 1

    def _list(self, block: int, way: int, cell: int) -> int:
        owner, key = self._owner[block], self._key[block]
        hierarchy = self.hierarchies[owner]
        if way == ALL:
            # What is left of a label has the same children, so they are listed once.
            whole = self._number[owner, key]
            if whole not in self._family:
                parts = range(hierarchy.shape(key).cells)
                self._family[whole] = self._listed([self._enter(owner, hierarchy.part(key, part)) for part in parts])
            return self._family[whole]
        known = self._lists.get((block, way, cell))
        if known is None:
            if way == SPLIT:
                pair = [self._enter(owner, half) for half in hierarchy.halves(key, cell)]
            else:
                pair = [self._enter(owner, hierarchy.part(key, cell)), self._add(owner, key, (block, cell))]
            known = self._lists[block, way, cell] = self._listed(pair)
        return known

    def _listed(self, blocks: list[int]) -> int:
        start = len(self._members)
        self._members.add(len(blocks), blocks)
        return start
