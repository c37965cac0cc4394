"""The groups of a masked table, and the pieces that refinements would make of them.

The papers' search keeps levels of candidates, not the groups behind them. Here they are counted again, on the cuts
where the search ended, by a plain group-by over the rows. The joint search has its groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from unveil.arrays import BoolArray, IntArray, grouped, packed_keys
from unveil.masking import Block
from unveil.refine import Remaining
from unveil.schema import Level, share_above
from unveil.tables import Table

ROOM = 1 << 22
"""How many counts are held at a time; a single group may need more."""


class Way(NamedTuple):
    """A way to refine a block."""

    block: Block
    parts: tuple[Block, ...]
    """What it distinguishes."""
    rest: bool
    """Whether what is not among the parts stays in the block: so it is when a value is disclosed."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What takes the place of the block."""
        return (*(part.label for part in self.parts), *([self.block.label] if self.rest else []))


def ways_of(item: Remaining) -> list[Way]:
    """The ways to refine a block: one, or for suppressed values one per value."""
    if item.discloses:
        return [Way(item.block, (part,), True) for part in item.parts]
    return [Way(item.block, item.parts, False)] if item.parts else []


class Pieces(NamedTuple):
    """Groups as they would be after refinements, only those that a refinement makes. None is empty."""

    way: IntArray
    """The refinement that makes each piece."""
    child: IntArray
    """Which of its labels the piece holds."""
    group: IntArray
    """The group that it is a piece of."""
    counts: IntArray
    """One row per piece, one column per sensitive value; without any, its size: its persons, if these are known."""
    records: IntArray


class Groups:
    """The records that share their masked values on some attributes, counted by sensitive value if there is one."""

    def __init__(
        self, table: Table, cuts: Mapping[int, Sequence[Block]], columns: Sequence[int], sensitive: int | None
    ) -> None:
        self._codes = {column: table.columns[column].codes for column in columns}
        self._sizes = {column: len(table.columns[column]) for column in columns}
        self._cuts = cuts
        self._secret = None if sensitive is None else table.columns[sensitive].codes
        self._width = 1 if sensitive is None else len(table.columns[sensitive])
        self._weight = table.row_records
        self._person = table.person if sensitive is None else None
        held = {
            column: _block_numbers(cuts[column], self._sizes[column])[codes] for column, codes in self._codes.items()
        }
        order, starts, numbers = grouped(packed_keys(list(held.values()), [len(cuts[column]) for column in columns]))
        self._group = np.empty(len(order), dtype=np.int64)
        self._group[order] = numbers
        self._blocks = {column: blocks[order[starts]] for column, blocks in held.items()}

    def block(self, column: int, group: int) -> Block:
        """The block that a group holds on an attribute."""
        return self._cuts[column][int(self._blocks[column][group])]

    def total(self) -> IntArray:
        """The counts of all records, or of all persons."""
        if self._person is not None:
            return np.array([len(np.unique(self._person))])
        counts: IntArray = self._counts(slice(None), np.zeros(len(self._group), dtype=np.int64), 1)[0]
        return counts

    def _counts(self, rows: IntArray | slice, piece: IntArray, pieces: int) -> IntArray:
        """The counts of some pieces, from their rows and the piece of each."""
        cell = piece * self._width + (0 if self._secret is None else self._secret[rows])
        counts = np.bincount(cell, weights=self._weight[rows], minlength=pieces * self._width).astype(np.int64)
        return counts.reshape(pieces, self._width)

    def pieces(self, column: int, ways: Sequence[Way]) -> Iterator[Pieces]:
        """The pieces that refinements of an attribute would make, each on its own, in batches of whole groups."""
        cells = _Cells(ways, self._sizes[column])
        cell = cells.of[self._codes[column]]
        rows = np.flatnonzero(cell >= 0)
        if not len(rows):
            return
        pairs = grouped([self._group[rows] * len(cells.way) + cell[rows]])
        ends = np.append(pairs.starts, len(rows))
        rows = rows[pairs.order]
        group, cell = self._group[rows[pairs.starts]], cell[rows[pairs.starts]]
        if self._person is not None:
            records = np.add.reduceat(self._weight[rows], pairs.starts)
            yield cells.pieces(group, cell, records[:, None], _headcounts(pairs.numbers, group, self._person[rows]))
            return
        for start, stop in _batches(group, max(ROOM // self._width, 1)):
            inside = slice(int(ends[start]), int(ends[stop]))
            counts = self._counts(rows[inside], pairs.numbers[inside] - start, stop - start)
            yield cells.pieces(group[start:stop], cell[start:stop], counts)

    def short(self, column: int, way: Way, levels: Sequence[Level]) -> BoolArray:
        """Which rows would be in groups that break a level, if a block of an attribute were refined."""
        child = np.full(self._sizes[column], -1, dtype=np.int64)
        child[way.block.codes] = len(way.parts)
        for place, part in enumerate(way.parts):
            child[part.codes] = place
        cell = child[self._codes[column]]
        rows = np.flatnonzero(cell >= 0)
        pieces = grouped([self._group[rows] * (len(way.parts) + 1) + cell[rows]])
        rows = rows[pieces.order]
        if self._person is not None:
            whole = np.arange(len(pieces.starts))
            counts = _headcounts(pieces.numbers, whole, self._person[rows]).held[:, None]
        else:
            counts = self._counts(rows, pieces.numbers, len(pieces.starts))
        fails = np.zeros(len(counts), dtype=np.bool_)
        for level in levels:
            fails |= ~level.holds(level.of(counts))
        short: BoolArray = np.zeros(len(self._group), dtype=np.bool_)
        short[rows] = fails[pieces.numbers]
        return short


class _Heads(NamedTuple):
    """The distinct persons of the cells of groups."""

    held: IntArray
    """Of each cell."""
    rest: IntArray
    """Of the other cells of its group: all persons of the group, but those who are in this cell only."""


def _headcounts(cell: IntArray, group: IntArray, person: IntArray) -> _Heads:
    """Counts persons, from the cell and the person of each row, and the group of each cell."""
    found = grouped(packed_keys([cell, person], [len(group), int(person.max(initial=0)) + 1]))
    cell, person = cell[found.order[found.starts]], person[found.order[found.starts]]
    groups = int(group.max(initial=-1)) + 1
    whose = grouped(packed_keys([group[cell], person], [groups, int(person.max(initial=0)) + 1]))
    alone = cell[whose.order[whose.starts[np.diff(whose.starts, append=len(cell)) == 1]]]
    everybody = np.bincount(group[cell[whose.order[whose.starts]]], minlength=groups)
    rest = everybody[group] - np.bincount(alone, minlength=len(group))
    return _Heads(np.bincount(cell, minlength=len(group)), rest)


class _Cells:
    """What distinguishes the pieces of a group: the parts of all ways, by the codes they represent."""

    def __init__(self, ways: Sequence[Way], size: int) -> None:
        self._discloses = any(way.rest for way in ways)
        parts = [(number, place, part) for number, way in enumerate(ways) for place, part in enumerate(way.parts)]
        self.way: IntArray = np.array([number for number, _, _ in parts], dtype=np.int64)
        self._child: IntArray = np.array([place for _, place, _ in parts], dtype=np.int64)
        self.of: IntArray = np.full(size, -1, dtype=np.int64)
        for number, (_, _, part) in enumerate(parts):
            self.of[part.codes] = number

    def pieces(self, group: IntArray, cell: IntArray, counts: IntArray, heads: _Heads | None = None) -> Pieces:
        """The pieces, from the counts of each cell of each group; a disclosure also leaves the rest of the group."""
        sizes = counts if heads is None else heads.held[:, None]
        made = Pieces(self.way[cell], self._child[cell], group, sizes, counts.sum(axis=1))
        if not self._discloses:
            return made
        starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
        hidden = np.repeat(np.add.reduceat(counts, starts), np.diff(np.append(starts, len(group))), axis=0)
        rest = hidden - counts
        left = rest.sum(axis=1) > 0
        return Pieces(
            np.concatenate([made.way, made.way[left]]),
            np.concatenate([made.child, made.child[left] + 1]),
            np.concatenate([group, group[left]]),
            np.concatenate([sizes, (rest if heads is None else heads.rest[:, None])[left]]),
            np.concatenate([made.records, rest[left].sum(axis=1)]),
        )


class Fewest(NamedTuple):
    """How few records keep a block from being refined into all its parts: those in groups that would fall short."""

    records: int
    into: tuple[str, ...]
    leave_out: str
    """The share of all records, or persons, that would have to be left out, with those that are."""
    persons: int | None = None
    """How many persons have these records, if the table says whose they are."""


def cost_of(table: Table, rows: BoolArray, out: BoolArray, into: tuple[str, ...]) -> Fewest:
    """What some rows cost: `out` are all that would have to be left out, these among them."""
    records = int(table.row_records[rows].sum())
    if table.person is None or table.persons is None:
        return Fewest(records, into, share_above(int(table.row_records[out].sum()), table.records))
    held, gone = (len(np.unique(table.person[part])) for part in (rows, out))
    return Fewest(records, into, share_above(gone, table.persons.count), held)


def _block_numbers(cut: Sequence[Block], size: int) -> IntArray:
    """For every code the place of its block in the cut."""
    numbers: IntArray = np.zeros(size, dtype=np.int64)
    for number, block in enumerate(cut):
        numbers[block.codes] = number
    return numbers


def _batches(group: IntArray, room: int) -> Iterator[tuple[int, int]]:
    """Runs of whole groups with at most this many entries, or one group that has more."""
    edges = np.append(np.flatnonzero(group[1:] != group[:-1]) + 1, len(group))
    start = 0
    while start < len(group):
        fitting = int(np.searchsorted(edges, start + room, side="right")) - 1
        following = int(np.searchsorted(edges, start, side="right"))
        stop = int(edges[max(fitting, following)])
        yield start, stop
        start = stop
