"""The rows of boxes where they do not fit in one place: they stay where they are, and counts of them are gathered.

Rows never move. A box is a range of positions, as in `BoxRows`, but nothing lies at a position: it says how many
distinct rows come before. Whoever holds rows finds the box of each by repeating all splits made so far.

One kind of question is asked: how much weight the rows have by numbers that are computed from each, such as its box, an
attribute and its code there. A level of the tree takes a few of these, however many boxes it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from unveil.arrays import Array, BoolArray, IntArray
from unveil.counting.boxes import BoxRows, side_by_side
from unveil.counting.engine import Marked
from unveil.counting.scans import ALL, PEEL, SPLIT, Scan
from unveil.counting.splits import Boxes, Choices, Parts, Shapes, drawn_rows
from unveil.errors import EngineError

COUNTED = ("box", "column", "way", "since", "cell", "gain", "bits", "pieces", "purity", "owner")
"""What a scan counts: candidates, and from `pieces` on what they make."""


WIDE = 1 << 16
"""Numbers of marks are held in 32 bits, however few there are, so that loops are compiled once for them."""


class Held(NamedTuple):
    """Some of the distinct rows: a code per attribute, a code per mark, and how many records each represents."""

    codes: list[Array]
    marks: list[Array]
    weight: Array


class Tally(NamedTuple):
    """Numbers that are computed from rows, and a weight for each row that has them."""

    numbers: list[Array]
    weight: Array


Gather = Callable[[Callable[[Held], Tally], Sequence[int]], Tally]
"""Asks all rows for some numbers, given how many values each can have: the distinct ones with the sums of
their weights."""


class FarMarked(NamedTuple):
    """The distinct rows of a projection, like `Marked`, but not here."""

    gather: Gather
    sizes: list[int]
    """How many values each attribute has."""
    widths: list[int]
    """How many values each mark has."""
    rows: int
    records: int

    def without_class(self) -> FarMarked:
        """The rows without their first mark."""
        gather = self.gather

        def gathered(function: Callable[[Held], Tally], sizes: Sequence[int]) -> Tally:
            return gather(lambda held: function(held._replace(marks=held.marks[1:])), sizes)

        return self._replace(gather=gathered, widths=self.widths[1:])

    def counts(self, place: int, size: int, targets: int) -> IntArray:
        """The records of each value of an attribute, by each target; without any, the records."""

        def by_target(target: int, held: Held) -> Tally:
            mark = held.marks[target] if targets else np.zeros_like(held.codes[place])
            return Tally([held.codes[place], mark], held.weight)

        found = []
        for target, width in enumerate(self.widths[:targets] or [1]):
            held = self.gather(partial(by_target, target), [size, width])
            counted = np.zeros((size, width), dtype=np.int64)
            np.add.at(counted, (held.numbers[0], held.numbers[1]), held.weight)
            found.append(counted)
        return np.concatenate(found, axis=1)


class Move(NamedTuple):
    """One round of splits: boxes in the order of their starts, what each is split by, and where its parts start."""

    start: IntArray
    stop: IntArray
    column: IntArray
    way: IntArray
    cell: IntArray
    depth: IntArray
    shift: IntArray
    first: IntArray
    """Where the parts of each box begin among `parts`."""
    parts: IntArray

    def part(self, box: IntArray, codes: Array, cell_of: Array) -> IntArray:
        """The part of its box that each row is in."""
        code = codes[np.arange(len(box)), self.column[box]]
        cell = cell_of[self.depth[box], code] - self.shift[box]
        way, chosen = self.way[box], self.cell[box]
        part: IntArray = np.where(way == SPLIT, cell >= chosen, np.where(way == PEEL, cell != chosen, cell))
        return part.astype(np.int64)


class Places(NamedTuple):
    """What gives the box of a row: the splits made so far, and the cells of codes by depth."""

    offsets: IntArray
    moves: tuple[Move, ...]
    cell_of: Array

    def codes(self, held: Held) -> Array:
        """The codes of rows side by side, numbered over all attributes."""
        return np.stack([column.astype(np.int64) for column in held.codes], axis=1) + self.offsets

    def keys(self, codes: Array) -> IntArray:
        """The start of the smallest box that each row is in."""
        keys: IntArray = np.zeros(len(codes), dtype=np.int64)
        for move in self.moves:
            rows, box = inside(move.start, move.stop, keys)
            keys[rows] = move.parts[move.first[box] + move.part(box, codes[rows], self.cell_of)]
        return keys


def inside(start: IntArray, stop: IntArray, keys: IntArray) -> tuple[IntArray, IntArray]:
    """The rows that are in some boxes, and in which. Boxes do not overlap and come in the order of their starts."""
    box = np.searchsorted(start, keys, side="right") - 1
    rows = np.flatnonzero((box >= 0) & (keys < stop[box]))
    return rows, box[rows]


class FarRows(BoxRows):
    """Rows of boxes that are asked where they are."""

    def __init__(self, rows: FarMarked, offsets: Sequence[int], targets: int, fine: float) -> None:
        """Takes the distinct rows and the number of the first value of each attribute; the rest as in `BoxRows`."""
        sections = np.cumsum([1, *rows.widths])
        nothing = np.zeros((0, len(offsets)), dtype=np.int64)
        super().__init__(nothing, nothing[:, 0], nothing, np.zeros((0, 0), dtype=np.int64), sections, targets, fine)
        self._far, self._offsets = rows, np.array(offsets, dtype=np.int64)
        self._moves: tuple[Move, ...] = ()
        self._cell_of: Array = np.zeros((1, 1), dtype=np.int32)

    def __len__(self) -> int:
        """The number of rows."""
        return self._far.rows

    @property
    def records(self) -> int:
        """How many records the rows represent."""
        return self._far.records

    def entropy(self) -> float:
        """The entropy of the targets in all rows together."""
        near, _ = self._near(self._asked(np.array([0]), np.array([len(self)])), np.zeros(0, dtype=np.int64))
        return near.entropy()

    def codes(self, start: int, stop: int, column: int) -> Array:
        """The different codes of an attribute in some rows, numbered over all attributes."""
        places, begin, end = self._places, np.array([start]), np.array([stop])

        def held_codes(held: Held) -> Tally:
            codes = places.codes(held)
            rows, _ = inside(begin, end, places.keys(codes))
            return Tally([held.codes[column][rows]], np.ones(len(rows), dtype=np.int64))

        found = self._far.gather(held_codes, [self._far.sizes[column]])
        codes: Array = found.numbers[0].astype(np.int64) + self._offsets[column]
        return codes

    def scan(
        self, boxes: Boxes, active: BoolArray, shapes: Shapes, *, pure_too: bool
    ) -> Iterator[tuple[Scan, IntArray, BoolArray]]:
        """Counts what every way to refine one block of a box would give, in one question for all boxes."""
        self._cell_of = shapes.cell_of
        columns = np.flatnonzero(active)
        found = self._asked(boxes.start, boxes.stop, columns)
        scans, sizes, mixed = [], np.zeros(len(boxes.start), np.int64), np.zeros(len(boxes.start), np.bool_)
        for column in columns.tolist():
            mine = found.numbers[1] == column
            near, ends = self._near(
                Tally([one[mine] for one in found.numbers], found.weight[mine]), boxes.start, column
            )
            only = np.arange(len(active)) == column
            for scan, sizes, mixed in near.scan(Boxes(*ends, boxes.blocks), only, shapes, pure_too=pure_too):  # noqa: B007
                scans.append([np.copy(getattr(scan, name)) for name in COUNTED])  # the next overwrites it
        if scans:
            yield _in_order(scans), sizes, mixed

    def _counts(self, boxes: Boxes, group: IntArray, groups: int, out: BoolArray | None = None) -> IntArray:
        """The counts of groups of boxes."""
        if not len(boxes.start):
            return super()._counts(boxes, group, groups)
        near, ends = self._near(self._asked(boxes.start, boxes.stop), boxes.start)
        return near._counts(Boxes(*ends, boxes.blocks), group, groups)

    def whose(self, boxes: Boxes) -> IntArray:
        """How many records each box has; nobody knows whose they are."""
        records = self.totals(boxes)[:, 0]
        return np.stack([np.zeros_like(records), records], axis=1)

    def split(self, boxes: Boxes, choices: Choices, shapes: Shapes) -> Parts:
        """Splits boxes: counts the rows of each piece. Pieces without rows are left out."""
        block = boxes.blocks[np.arange(len(boxes.start)), choices.column]
        order = np.argsort(boxes.start)
        parts = np.where(choices.way == ALL, shapes.cells[block], 2)[order]
        first = np.cumsum(parts) - parts
        nowhere = np.zeros(int(parts.sum()), dtype=np.int64)
        start, stop, depth, shift = boxes.start, boxes.stop, shapes.depth[block], shapes.first[block]
        fields = (start, stop, choices.column, choices.way, choices.cell, depth, shift)
        move = Move._make([*(field[order] for field in fields), first, nowhere])
        self._cell_of = shapes.cell_of
        counts = self._counted(move, len(nowhere))
        starts = np.cumsum(counts) - counts
        starts += np.repeat(move.start - starts[first], parts)
        self._moves = (*self._moves, move._replace(parts=starts))
        box = np.repeat(order, parts)
        part = np.arange(len(counts)) - np.repeat(first, parts)
        made = np.flatnonzero(counts)
        made = made[np.argsort(box[made], kind="stable")]
        return Parts(box[made], part[made], starts[made], starts[made] + counts[made])

    def _counted(self, move: Move, parts: int) -> IntArray:
        """The rows of each part."""
        places = self._places

        def by_part(held: Held) -> Tally:
            codes = places.codes(held)
            rows, box = inside(move.start, move.stop, places.keys(codes))
            part = move.first[box] + move.part(box, codes[rows], places.cell_of)
            return Tally([part], np.ones(len(rows), dtype=np.int64))

        found = self._far.gather(by_part, [max(parts, 1)])
        counts = np.zeros(parts, dtype=np.int64)
        counts[found.numbers[0]] = found.weight
        return counts

    def _sampled(self, boxes: Boxes, halvings: IntArray) -> tuple[BoxRows, IntArray]:
        """A sample of the rows of each box, box after box, and where those of each end."""
        places, order, sections = self._places, np.argsort(boxes.start), self._sections.tolist()
        start, stop, halved = boxes.start[order], boxes.stop[order], halvings[order]

        def sampled(held: Held) -> Tally:
            codes = places.codes(held)
            rows, box = inside(start, stop, places.keys(codes))
            rows, box = rows[np.argsort(box, kind="stable")], np.sort(box)
            marks = side_by_side([mark[rows] for mark in held.marks], sections, WIDE, len(rows))
            ends = np.searchsorted(box, np.arange(len(start)), side="right")
            begins = np.searchsorted(box, np.arange(len(start)), side="left")
            kept, _ = drawn_rows(codes[rows], codes.shape[1], marks, begins, ends, halved)
            drawn = rows[kept]
            columns = [column[drawn] for column in (*held.codes, *held.marks)]
            return Tally([order[box[kept]], *columns], held.weight[drawn])

        sizes = [len(order), *self._far.sizes, *self._far.widths]
        found = self._far.gather(sampled, sizes)
        by_box = np.argsort(found.numbers[0], kind="stable")
        box, *columns = (column[by_box].astype(np.int64) for column in found.numbers)
        codes = np.stack(columns[: len(self._offsets)], axis=1) + self._offsets
        ends = np.searchsorted(box, np.arange(len(order)), side="right")
        return self._here(codes, found.weight[by_box], columns[len(self._offsets) :]), ends

    @property
    def _places(self) -> Places:
        return Places(self._offsets, self._moves, self._cell_of)

    def _asked(self, start: IntArray, stop: IntArray, columns: IntArray | None = None) -> Tally:
        """The weights of boxes by all marks; with columns, also by each of these and the codes there."""
        places, order = self._places, np.argsort(start)
        begins, ends = start[order], stop[order]
        asked = [-1] if columns is None else columns.tolist()

        def by_box(held: Held) -> Tally:
            rows, box = inside(begins, ends, places.keys(places.codes(held)))
            marks = [np.tile(mark[rows], len(asked)) for mark in held.marks]
            which = np.repeat(asked, len(rows))
            none = np.zeros(len(rows), dtype=np.int64)
            codes = [none if column < 0 else held.codes[column][rows].astype(np.int64) for column in asked]
            numbers = [np.tile(order[box], len(asked)), np.maximum(which, 0), np.concatenate(codes), *marks]
            return Tally(numbers, np.tile(held.weight[rows], len(asked)))

        sizes = [len(start), len(self._offsets), max(self._far.sizes), *self._far.widths]
        return self._far.gather(by_box, sizes)

    def _near(self, found: Tally, start: IntArray, column: int = 0) -> tuple[BoxRows, tuple[IntArray, IntArray]]:
        """Gathered weights as rows of boxes, with a code of one attribute each, and where those of each box are."""
        order = np.argsort(found.numbers[0], kind="stable")
        box, _, code, *marks = (number[order].astype(np.int64) for number in found.numbers)
        codes = np.zeros((len(box), len(self._offsets)), dtype=np.int64)
        codes[:, column] = code + self._offsets[column]
        each = np.arange(len(start))
        ends = np.searchsorted(box, each, side="left"), np.searchsorted(box, each, side="right")
        return self._here(codes, found.weight[order], marks), ends

    def _here(self, codes: Array, weight: Array, marks: Sequence[Array]) -> BoxRows:
        numbered = side_by_side(marks, self._sections.tolist(), WIDE, len(weight))
        whose = np.zeros((len(weight), 0), dtype=np.int64)
        held = codes.astype(np.uint32), weight.astype(np.int64), numbered, whose
        return BoxRows(*held, self._sections, self._targets, self._fine)


def numbered(rows: Marked | FarMarked) -> Marked:
    """Rows that have numbers, which those of several sets of attributes need to be left out of all: those here."""
    if isinstance(rows, FarMarked):
        raise EngineError(
            "with leave-out, several sets of attributes are searched in the driver only: ask for the index there, or "
            "publish without leave-out."
        )
    return rows


def _in_order(scans: Sequence[Sequence[IntArray]]) -> Scan:
    """Candidates in the order of boxes, attributes and domains, and their pieces in that of the candidates."""
    first = np.cumsum([0, *(len(scan[0]) for scan in scans)])
    owner = np.concatenate([scan[-1] + shift for scan, shift in zip(scans, first[:-1], strict=True)])
    *fields, pieces, purity, _ = (np.concatenate(field) for field in zip(*scans, strict=True))
    order = np.lexsort((fields[1], fields[0]))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    made = np.argsort(place[owner], kind="stable")
    counted = pieces[made], purity[made], place[owner][made]
    judged = partial(iter, [(counted[0], counted[2])])
    return Scan._make([*(field[order] for field in fields), *counted, judged])
