"""The partition index in this process: the groups of one requirement, and the pieces that refinements would make."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from unveil.arrays import Array, BoolArray, Growing, IntArray
from unveil.cores import each, shares
from unveil.counting.engine import Pieces
from unveil.counting.holders import Holders, initial_counts
from unveil.counting.kernels import count_pieces, link_children, link_new, linked_groups, split_groups
from unveil.counting.persons import count_person_pieces, distinct_persons
from unveil.masking import Block, Offer, Refinement

ROOM = 1 << 19
"""How many pieces are counted before they are returned."""
BLOCK = 1 << 16
"""How many rows are laid out at a time: few enough to stay in the cache of a core."""
MANY = 256


def _narrow(values: Array, narrow: type, wide: type) -> Array:
    """The numbers in the narrow type if they fit: every pass reads them, so they should be small.

    Each array has one of two types only, because the loops are compiled for each combination.
    """
    return values.astype(narrow if int(values.max()) <= np.iinfo(narrow).max else wide)


class MemoryIndex:
    """TIPS for one requirement: the rows of a group are adjacent, and tables say which block masks a code."""

    count: ClassVar[Callable[..., tuple[int, int]]] = staticmethod(count_pieces)

    def __init__(
        self,
        columns: Sequence[int],
        codes: Sequence[Array],
        sizes: Sequence[int],
        weight: IntArray,
        sensitive: Array,
        width: int,
        starts: IntArray | None = None,
    ) -> None:
        """One group of all rows, or groups of adjacent rows, given where each starts."""
        starts = np.zeros(1, dtype=np.int64) if starts is None else starts
        values = sum(sizes)
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self._column = {column: place for place, column in enumerate(columns)}
        self._first_code = dict(zip(columns, first.tolist(), strict=True))
        # Row-major, so that reading a record takes one cache line, not one per attribute.
        self._codes = np.empty((len(weight), len(codes)), dtype=np.uint16 if values < 2**16 else np.uint32)

        def lay(start: int) -> None:
            rows = slice(start, start + BLOCK)
            for place, column in enumerate(codes):
                np.add(column[rows], first[place], out=self._codes[rows, place], casting="unsafe")

        each(lay, range(0, len(weight), BLOCK), len(weight))
        self._weight = _narrow(weight, np.int32, np.int64)
        self._sensitive = _narrow(sensitive, np.uint16, np.uint32)
        self._width = width
        self._holders: Holders | None = None
        self._start, self._stop = Growing(np.int64), Growing(np.int64)
        self._start.add(len(starts), starts)
        self._stop.add(len(starts), np.append(starts[1:], len(weight)))
        self._following = Growing(np.int64, len(codes))
        # Each group is followed by the next one.
        self._following.add(len(starts), np.append(np.arange(1, len(starts)), -1)[:, None])
        self._block_of = np.zeros(values, dtype=np.int32)
        self._cell_of = np.zeros(values, dtype=np.int32)
        self._child_of = np.zeros(values, dtype=np.int32)
        self._blocks = _Blocks(width, self.many)

    @property
    def many(self) -> float:
        """For an offer of more values than this, pieces are counted on demand."""
        return MANY

    def totals(self) -> IntArray:
        """The counts of the initial groups."""
        return initial_counts(self._start.rows, self._weight, self._sensitive, self._width)

    def watch(self, offers: Sequence[Offer], alive: BoolArray) -> Iterator[Pieces]:
        """Starts to count the pieces of the first offers."""
        many = {
            self._column[offer.column]: self._first_code[offer.column] for offer in offers if self._on_demand(offer)
        }
        if many:
            numbers = np.arange(len(self._codes), dtype=np.uint32)
            self._codes = np.column_stack([self._codes, numbers])
            self._holders = Holders(self._codes, self._weight, self._sensitive, self._width, many, self._start.rows)
        for offer in offers:
            self._enter(offer.column, offer.block, offer)
            self._blocks.head.rows[-1] = 0
        yield from self._pieces(np.arange(len(self._start)), alive)

    def refine(
        self, refinement: Refinement, column: int, offers: Sequence[Offer], alive: BoolArray
    ) -> Iterator[Pieces]:
        """Splits the groups that hold the refined block and counts the pieces of the results."""
        place = self._column[column]
        code = self._first_code[column] + int(refinement.children[0].codes[0])
        block = int(self._block_of[code])
        holders = self._holders if self._blocks.on_demand(block) else None
        if holders is not None:
            chosen, made = self._take_out(holders, place, code)
        else:
            chosen, made = self._split(column, refinement.children, block)
        offer_of = {offer.block: offer for offer in offers}
        for child in refinement.children:
            # What stays suppressed keeps its number and its candidates; every other child is a new block.
            if child.label != refinement.block.label:
                self._enter(column, child, offer_of.get(child))
        groups = np.concatenate([chosen, made])
        if holders is None:
            head = self._blocks.head.rows
            head[block] = -1
            link_children(self._following.rows, head, groups, self._codes, self._start.rows, self._block_of, place)
        yield from self._pieces(groups, alive)

    def recount(self, offer: Offer, candidates: IntArray) -> Iterator[Pieces]:
        """Counts the pieces of candidates of an offer of many values; those of others are always counted."""
        if self._holders is None or not self._on_demand(offer):
            return
        codes = self._first_code[offer.column] + offer.codes[candidates - offer.first]
        owner, counts = self._holders.pieces(self._weight, self._sensitive, self._column[offer.column], codes)
        yield Pieces(candidates[owner], counts)

    def _on_demand(self, offer: Offer) -> bool:
        """Whether the pieces of an offer are counted on demand."""
        return offer.discloses and len(offer.parts) > self.many

    def _enter(self, column: int, block: Block, offer: Offer | None) -> None:
        base = self._first_code[column]
        self._block_of[base + block.codes] = len(self._blocks)
        cells = self._blocks.enter(offer)
        for cell, part in enumerate(offer.parts if offer else (), start=cells):
            self._cell_of[base + part.codes] = cell

    def _take_out(self, holders: Holders, place: int, code: int) -> tuple[IntArray, IntArray]:
        """Splits off the rows of a disclosed value; returns the groups that held it and the numbers of the new ones."""
        chosen, start, stop, origin = holders.take_out(*self._rows, place, code)
        made = self._add_groups(start, stop, origin)
        holders.moved(*self._rows, made)
        holders.taken_out(made, origin)
        return chosen, made

    def _split(self, column: int, children: Sequence[Block], block: int) -> tuple[IntArray, IntArray]:
        """Splits the groups of a block among its children; returns these groups and the numbers of the new ones."""
        place = self._column[column]
        chosen = linked_groups(self._blocks.head.rows[block], self._following.rows, place)
        for number, child in enumerate(children):
            self._child_of[self._first_code[column] + child.codes] = number

        def split(groups: IntArray) -> tuple[IntArray, IntArray, IntArray]:
            return split_groups(*self._rows, groups, place, self._child_of, len(children))

        start, stop, origin = map(np.concatenate, zip(*each(split, self._shared(chosen)), strict=True))
        made = self._add_groups(start, stop, origin)
        if self._holders is not None:
            self._holders.moved(*self._rows, np.concatenate([chosen, made]))
        return chosen, made

    @property
    def _rows(self) -> tuple[Array, Array, Array, Array, Array]:
        """What every loop takes: codes, weights and sensitive values, and where groups start and stop."""
        return self._codes, self._weight, self._sensitive, self._start.rows, self._stop.rows

    def _add_groups(self, start: IntArray, stop: IntArray, origin: IntArray) -> IntArray:
        known = len(self._start)
        self._start.add(len(start), start)
        self._stop.add(len(stop), stop)
        self._following.add(len(origin))
        link_new(self._following.rows, origin, known)
        return np.arange(known, known + len(start))

    def _shared(self, groups: IntArray) -> list[IntArray]:
        """The groups in runs of about as many rows, one for each core."""
        runs = shares(self._stop.rows[groups] - self._start.rows[groups])
        return [groups[run.start : run.stop] for run in runs] or [groups]

    def _pieces(self, chosen: IntArray, alive: BoolArray) -> Iterator[Pieces]:
        """The pieces of some groups, in an order that depends on the number of cores."""
        if not self._blocks.watch(alive):
            return
        counting = [
            self._counted(run, self._blocks.room(number, len(self._column)), alive)
            for number, run in enumerate(self._shared(chosen))
        ]
        while counting:
            found = each(lambda run: next(run, None), counting)
            yield from (pieces for pieces in found if pieces is not None)
            counting = [run for run, pieces in zip(counting, found, strict=True) if pieces is not None]

    def _counted(self, chosen: IntArray, room: Room, alive: BoolArray) -> Iterator[Pieces]:
        """The pieces of a run of groups, as many at a time as its buffers hold."""
        blocks, done = self._blocks, 0
        while done < len(chosen):
            facts = (blocks.first_cell, blocks.cells, blocks.watched, blocks.discloses, blocks.first_candidate)
            tables = self._block_of, self._cell_of, *(fact.rows for fact in facts)
            used, done = self.count(*self._rows, chosen, done, *tables, alive, len(self._column), *room)
            yield Pieces(room.owner[:used], room.counts[:used])


class PersonIndex(MemoryIndex):
    """The same, where the size of a group is the number of its persons: these are in the place of a sensitive value.

    All pieces are counted with every step, since rows that are taken out of a group one by one lose their order.
    """

    count: ClassVar[Callable[..., tuple[int, int]]] = staticmethod(count_person_pieces)

    @property
    def many(self) -> float:
        """No offer is so large."""
        return math.inf

    def totals(self) -> IntArray:
        """All persons."""
        everyone = np.zeros(len(self._weight), dtype=np.int64)
        return distinct_persons(self._sensitive.astype(np.int64), self._weight.astype(np.int64), everyone, 1)[None, :]


class _Blocks:
    """What the loops need to know about each block, and their buffers. Kept from step to step."""

    def __init__(self, width: int, many: float) -> None:
        self._many = many
        self.head = Growing(np.int64)
        """The first group of each block."""
        self.first_cell = Growing(np.int64)
        self.cells = Growing(np.int64)
        self.watched = Growing(np.bool_)
        self.discloses = Growing(np.bool_)
        self.first_candidate = Growing(np.int64)
        self._parts = 0
        self._width = width
        self._counted: dict[int, Offer] = {}
        """The blocks that disclose values one at a time, and whose pieces are counted with every step."""
        self._most = 0
        self._rooms: list[Room] = []
        # Block 0 is for attributes that cannot be refined at all.
        self.enter(None)

    def __len__(self) -> int:
        return len(self.head)

    def enter(self, offer: Offer | None) -> int:
        """Adds a block; returns its first cell."""
        parts, first = len(offer.parts) if offer else 0, self._parts
        counted = offer is not None and not (offer.discloses and parts > self._many)
        if offer is not None and offer.discloses and counted:
            self._counted[len(self)] = offer
        self.head.add(1, -1)
        self.first_cell.add(1, first)
        self.cells.add(1, parts)
        self.watched.add(1, counted)
        self.discloses.add(1, offer is not None and offer.discloses)
        self.first_candidate.add(1, offer.first if offer else 0)
        self._parts += parts
        self._most = max(self._most, parts if counted else 0)
        return first

    def on_demand(self, block: int) -> bool:
        """Whether the pieces of a block are counted on demand."""
        return bool(self.discloses.rows[block] and self.cells.rows[block] > self._many)

    def watch(self, alive: BoolArray) -> bool:
        """Finds which blocks still have values to disclose; says whether there may be anything to count."""
        for block, offer in self._counted.items():
            self.watched.rows[block] = offer.alive(alive)
        return self._most > 0

    def room(self, number: int, columns: int) -> Room:
        """The buffers of a run of groups, kept from step to step."""
        while number >= len(self._rooms):
            self._rooms.append(Room.of(0, 0, self._width))
        pieces = max(ROOM // self._width, 2 * self._most * columns)
        held = self._rooms[number]
        if self._parts > len(held.tally) or pieces > len(held.owner):
            # A tally grows with every block, so it gets room for the next ones.
            self._rooms[number] = Room.of(2 * self._parts, pieces, self._width)
        return self._rooms[number]


class Room(NamedTuple):
    """What a run of groups is counted in."""

    tally: IntArray
    """The counts of the cells of a group, all zero before and after."""
    counts: IntArray
    """The pieces, of at least one group."""
    owner: IntArray
    """The candidate that each piece belongs to."""

    @classmethod
    def of(cls, cells: int, pieces: int, width: int) -> Room:
        """Buffers for this many cells and pieces."""
        counts = np.empty((pieces, width), dtype=np.int64)
        return cls(np.zeros((cells, width), dtype=np.int64), counts, np.empty(pieces, dtype=np.int64))
