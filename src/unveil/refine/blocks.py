"""The blocks of all masked attributes by number, and what each can be refined into."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from unveil.arrays import Growing, IntArray
from unveil.counting.scans import ALL, PEEL
from unveil.counting.splits import Shapes
from unveil.masking import Block, rest_label
from unveil.refine.hierarchies import Hierarchy, Key, Shape
from unveil.schema import SUPPRESSED, Attribute


class Blocks:
    """The blocks of all masked attributes, by number."""

    def __init__(self, hierarchies: Sequence[Hierarchy], sizes: Sequence[int]) -> None:
        """Enters the block that masks everything, for each masked attribute with this many values."""
        self.hierarchies = hierarchies
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).tolist()
        cells = [hierarchy.cells() for hierarchy in hierarchies]
        self._cell_of = np.zeros((max(map(len, cells)), sum(sizes)), dtype=np.int32)
        for place, levels in enumerate(cells):
            self._cell_of[: len(levels), self.offsets[place] : self.offsets[place + 1]] = levels
        self._shapes = Growing(np.int64, 4)
        self.owner: list[int] = []
        """For each block, the place of its attribute among the masked ones."""
        self._key: list[Key] = []
        self._origin: list[tuple[int, int] | None] = []
        """For the rest of a category: the block that was peeled, and the cell."""
        self._number: dict[tuple[int, Key], int] = {}
        self._known: dict[int, Block] = {}
        self._labels: dict[int, tuple[str, int]] = {}
        self._into: dict[tuple[int, int, int], list[int]] = {}
        self.members = Growing(np.int64)
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

    def reopen(self) -> None:
        """Undoes `close` for all blocks: at the end of a search, to see what else it could have refined."""
        for block in range(len(self._key)):
            self._shapes.rows[block, 3] = self._shape(block).cells

    def lists(self, blocks: IntArray, ways: IntArray, cells: IntArray) -> IntArray:
        """Where, among the members, the blocks begin that refinements give."""
        keys, place = np.unique(np.stack([blocks, ways, cells], axis=1), axis=0, return_inverse=True)
        starts = np.array([self._list(*key) for key in keys.tolist()], dtype=np.int64)
        return starts[place.reshape(-1)]

    def into(self, block: int, way: int, cell: int) -> list[int]:
        """The blocks that a refinement gives, the rest last; for all at once, without those that are peeled already."""
        found = self._into.get((block, way, cell))
        if found is None:
            start = self._list(block, way, cell)
            peeled = set(self.peeled(block)) if way == ALL else ()
            count = self._shape(block).cells if way == ALL else 2
            every = self.members.rows[start : start + count].tolist()
            found = self._into[block, way, cell] = [part for place, part in enumerate(every) if place not in peeled]
        return found

    def kept(self, attribute: int) -> Iterator[tuple[int, int, int]]:
        """The refinements that lead from the root of an attribute to what the owner keeps: blocks, ways and cells."""
        waiting = [self.roots[attribute]]
        while waiting:
            block = waiting.pop()
            refined = self.hierarchies[attribute].kept(self._key[block], self.peeled(block))
            if refined is not None:
                yield block, *refined
                waiting += reversed(self.into(block, *refined))

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

    def attribute(self, block: int) -> Attribute:
        """The attribute that it is a block of."""
        return self.hierarchies[self.owner[block]].attribute

    def place(self, block: int) -> int:
        """Where the block lies in the order of the domain; a rest where its label begins."""
        return self._labelled(block)[1]

    def label(self, block: int) -> str:
        """The released label."""
        return self._labelled(block)[0]

    def block(self, block: int) -> Block:
        """A block as the masking knows it; a rest holds what was not peeled."""
        held = self._whole(block)
        if not self.is_rest(block):
            return held
        hierarchy, key = self.hierarchies[self.owner[block]], self._key[block]
        gone = [hierarchy.block(part).codes for cell in self.peeled(block) for part in hierarchy.parts(key, PEEL, cell)]
        return Block(self.label(block), np.setdiff1d(held.codes, np.concatenate(gone)))

    def _labelled(self, block: int) -> tuple[str, int]:
        """The label of a block and its place, which every step asks for."""
        found = self._labels.get(block)
        if found is None:
            whole = self._whole(block)
            rest = self.is_rest(block) and whole.label != SUPPRESSED
            found = self._labels[block] = rest_label(whole.label) if rest else whole.label, whole.first
        return found

    def _whole(self, block: int) -> Block:
        """The block before anything was peeled."""
        whole = self._number[self.owner[block], self._key[block]]
        if whole not in self._known:
            self._known[whole] = self.hierarchies[self.owner[block]].block(self._key[block])
        return self._known[whole]

    def _shape(self, block: int) -> Shape:
        return self.hierarchies[self.owner[block]].shape(self._key[block])

    def _enter(self, owner: int, key: Key) -> int:
        number = self._number.get((owner, key))
        if number is None:
            number = self._number[owner, key] = self._add(owner, key, None)
        return number

    def _add(self, owner: int, key: Key, origin: tuple[int, int] | None) -> int:
        shape = self.hierarchies[owner].shape(key)
        self._shapes.add(1, (shape.kind, shape.depth, shape.first, shape.cells))
        self.owner.append(owner)
        self._key.append(key)
        self._origin.append(origin)
        return len(self._key) - 1

    def _list(self, block: int, way: int, cell: int) -> int:
        owner, key = self.owner[block], self._key[block]
        hierarchy = self.hierarchies[owner]
        if way == ALL:
            # What is left of a label has the same children, so they are listed once.
            whole = self._number[owner, key]
            if whole not in self._family:
                self._family[whole] = self._listed([self._enter(owner, part) for part in hierarchy.parts(key, ALL, 0)])
            return self._family[whole]
        known = self._lists.get((block, way, cell))
        if known is None:
            pair = [self._enter(owner, part) for part in hierarchy.parts(key, way, cell)]
            if way == PEEL:
                pair.append(self._add(owner, key, (block, cell)))
            known = self._lists[block, way, cell] = self._listed(pair)
        return known

    def _listed(self, blocks: list[int]) -> int:
        start = len(self.members)
        self.members.add(len(blocks), blocks)
        return start
