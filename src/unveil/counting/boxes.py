"""The rows of boxes: the distinct rows of a projection with their marks, those of a box adjacent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from unveil.arrays import Array, BoolArray, IntArray
from unveil.cores import each, shares
from unveil.counting.engine import Marked
from unveil.counting.persons import PERSON_COUNTS, count_box_persons, distinct_persons
from unveil.counting.scans import ALL, Scan, scan_boxes
from unveil.counting.splits import Boxes, Choices, Parts, Shapes, divide_pieces, drawn_rows, split_boxes

ROOM = 1 << 16
"""How many candidates are counted before they are returned."""


@dataclass(eq=False)
class BoxRows:
    """Rows that are split again and again."""

    _codes: Array
    """One column per attribute, numbered over all attributes; perhaps one more for the number of the row."""
    _weight: Array
    _marks: Array
    """One column per mark, numbered over all marks."""
    _whose: IntArray
    """The person of each row and how many it represents, its history, or no columns; where some rows only choose the
    masking, one more: how many records each releases."""
    _sections: IntArray
    """Where the counts of each mark begin, and where those of the last end; the size comes first."""
    _targets: int
    """How many marks, the first ones, are to be distinguished."""
    _fine: float
    """How many small fractions a bit has in gains."""
    learns: bool = False
    """Whether some rows only choose the masking: then gains are theirs, and requirements are about the others."""

    @classmethod
    def of(
        cls,
        rows: Marked,
        offsets: Sequence[int],
        values: int,
        targets: int,
        fine: float,
        *,
        numbered: bool = False,
    ) -> BoxRows:
        """The distinct rows of a projection, all in one box.

        With `numbered`, rows keep their numbers when they move, in a last column that is not an attribute.
        """
        columns, firsts, most = list(rows.codes), list(offsets), values
        if numbered:
            columns, firsts, most = [*columns, np.arange(len(rows.weight))], [*firsts, 0], max(values, len(rows.weight))
        codes = side_by_side(columns, firsts, most, len(rows.weight))
        sections = np.cumsum([1, *rows.widths])
        marks = side_by_side(rows.marks, sections[:-1].tolist(), int(sections[-1]), len(rows.weight))
        learns = rows.held is not None
        whose = rows.whose.copy() if rows.held is None else np.column_stack([rows.whose, rows.held])
        return cls(codes, rows.weight.copy(), marks, whose, sections, targets, fine, learns)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._weight)

    def codes(self, start: int, stop: int, column: int) -> Array:
        """The codes of an attribute in some rows, numbered over all attributes."""
        return self._codes[start:stop, column]

    @property
    def records(self) -> int:
        """How many records the rows represent."""
        return int(self._weight.sum())

    def entropy(self) -> float:
        """The entropy of the targets in all rows together, in the steps of gains over one record."""
        counts = np.zeros(int(self._sections[-1]), dtype=np.int64)
        for mark in range(self._targets):
            np.add.at(counts, self._marks[:, mark], self._weight)
        held = counts[counts > 0] / max(self.records, 1)
        return float(-(held * np.log2(held)).sum() * self._fine)

    @property
    def sections(self) -> list[slice]:
        """Where a piece has its counts for each mark that is not a target."""
        ends = (self._sections[self._targets :] - self._shift).tolist()
        return [slice(*pair) for pair in pairwise(ends)]

    @property
    def size_section(self) -> slice:
        """Where a piece has its size: its persons, if the table says who they are, or its records."""
        last = int(self._sections[-1]) - self._shift
        return slice(last, last + 1) if self._by_person else slice(0, 1)

    @property
    def _shift(self) -> int:
        """What the numbers of marks that are no targets are ahead of their places in a piece, after its size."""
        return int(self._sections[self._targets]) - 1

    @property
    def unit(self) -> int:
        """Which count of a piece is its size."""
        unit: int = self.size_section.start
        return unit

    @property
    def _by_person(self) -> bool:
        return bool(self._whose.shape[1] - self.learns == 2)

    @property
    def _by_history(self) -> bool:
        return bool(self._whose.shape[1] - self.learns == 1)

    def scan(
        self, boxes: Boxes, active: BoolArray, shapes: Shapes, *, pure_too: bool
    ) -> Iterator[tuple[Scan, IntArray, BoolArray]]:
        """Counts what every way to refine one block of a box would give, some boxes at a time.

        Gives the candidates; the records of the boxes scanned so far, and where some target differs. Boxes in which
        none does are scanned only with `pure_too`.
        """
        sizes, mixed = np.zeros(len(boxes.start), dtype=np.int64), np.zeros(len(boxes.start), dtype=np.bool_)
        parts = shares(boxes.stop - boxes.start)
        ordered = self.released(boxes) if self.learns else self._in_order(boxes) if self._by_history else None
        scans = [self._scans(boxes, part, active, shapes, pure_too, sizes, mixed, ordered) for part in parts]
        while any(found := each(lambda part: next(part, None), scans)):
            yield from ((scan, sizes, mixed) for scan in found if scan is not None)

    def _scans(
        self,
        boxes: Boxes,
        part: range,
        active: BoolArray,
        shapes: Shapes,
        pure_too: bool,
        sizes: IntArray,
        mixed: BoolArray,
        ordered: tuple[BoxRows, Boxes] | None,
    ) -> Iterator[Scan]:
        """The candidates of some of the boxes, as many at a time as there is room for; overwritten by the next."""
        widest = (shapes.cells[boxes.blocks[part.start : part.stop]] * active).max(axis=0, initial=0)
        most = max(ROOM, int(widest.sum()) + len(widest))
        tally = np.zeros((int(widest.sum()), int(self._sections[-1])), dtype=np.int64)
        found = np.empty(int(widest.max(initial=1)), dtype=np.int64)
        candidates = np.empty((most, 7), dtype=np.int64)
        pieces = np.empty((3 * most, int(self._sections[-1]) - self._shift + self._by_person), dtype=np.int64)
        persons = np.zeros((len(found), PERSON_COUNTS), dtype=np.int64)
        purities, owner = np.empty(3 * most, dtype=np.int64), np.empty(3 * most, dtype=np.int64)
        room = tally, found, sizes, mixed, candidates, pieces, purities, owner
        rows = self._codes, self._weight, self._marks, self._sections, self._targets
        upto, done = boxes._replace(start=boxes.start[: part.stop]), part.start
        while done < part.stop:
            made, used, done = scan_boxes(*rows, *upto, done, active, pure_too, *shapes, self._fine, *room)
            if self._by_person and not self.learns:
                whose = self._codes, self._weight, self._whose
                cells_of = shapes.depth, shapes.first, shapes.cell_of
                count_box_persons(*whose, *boxes, *cells_of, candidates[:made], persons, pieces[:used], owner[:used])
            counted = pieces[:used], purities[:used], owner[:used]
            judged: Callable[[], Iterable[tuple[IntArray, IntArray]]]
            if ordered is not None:
                judged = partial(ordered[0]._divided, ordered[1], shapes, candidates[:made], len(found))
            else:
                judged = partial(iter, [(pieces[:used], owner[:used])])
            yield Scan._make([*candidates[:made].T, *counted, judged])

    def released(self, boxes: Boxes) -> tuple[BoxRows, Boxes]:
        """The rows of boxes that are released, without those that only choose the masking."""
        rows, box = _rows_of(boxes), np.repeat(np.arange(len(boxes.start)), boxes.stop - boxes.start)
        shown = self._whose[rows, -1] > 0
        rows = rows[shown]
        held = self._codes[rows], self._whose[rows, -1], self._marks[rows], self._whose[rows, :-1]
        length = np.bincount(box[shown], minlength=len(boxes.start))
        stop = np.cumsum(length)
        copy = BoxRows(*held, self._sections, self._targets, self._fine)
        return copy, Boxes(stop - length, stop, boxes.blocks)

    def _in_order(self, boxes: Boxes) -> tuple[BoxRows, Boxes]:
        """The rows of boxes in the order of their histories; a box that was split ahead has lost it."""
        rows, box = _rows_of(boxes), np.repeat(np.arange(len(boxes.start)), boxes.stop - boxes.start)
        history = self._whose[rows, 0]
        if not ((np.diff(history) < 0) & (np.diff(box) == 0)).any():
            return self, boxes
        stop = np.cumsum(boxes.stop - boxes.start)
        ordered = Boxes(stop - boxes.stop + boxes.start, stop, boxes.blocks)
        return self._copied(rows[np.lexsort((history, box))]), ordered

    def _divided(
        self, boxes: Boxes, shapes: Shapes, candidates: IntArray, cells: int
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """What candidates would make of the people of each history, and the candidates of these pieces, in parts.

        A split that divides none of them makes no pieces. Without histories, all rows of a box are alike.
        """
        tally = np.zeros((cells, int(self._sections[-1]) - self._shift), dtype=np.int64)
        found = np.empty(cells, dtype=np.int64)
        room, done = 4 * ROOM, 0
        history = self._whose[:, 0] if self._by_history else np.zeros(len(self), dtype=np.int64)
        while done < len(candidates):
            pieces, owner = np.empty((room, tally.shape[1]), dtype=np.int64), np.empty(room, dtype=np.int64)
            rows = self._codes, self._weight, self._marks, self._targets, self._shift, history
            of_boxes = *boxes, shapes.depth, shapes.first, shapes.cell_of
            used, reached = divide_pieces(*rows, *of_boxes, candidates, done, tally, found, pieces, owner)
            if reached == done:
                room *= 2
            counted = pieces[:used]
            if self._by_person:
                divides = (candidates[:, 2] == ALL) | np.isin(np.arange(len(candidates)), owner[:used])
                made = candidates[done:reached][divides[done:reached]]
                counted = np.column_stack([counted, np.zeros(used, dtype=np.int64)])
                persons = np.zeros((cells, PERSON_COUNTS), dtype=np.int64)
                place = np.cumsum(divides[done:reached])[owner[:used] - done] - 1
                count_box_persons(self._codes, self._weight, self._whose, *of_boxes, made, persons, counted, place)
            done = reached
            yield counted, owner[:used]

    def numbers(self, boxes: Boxes) -> IntArray:
        """The numbers of the rows of some boxes, box after box."""
        numbers: IntArray = self._codes[_rows_of(boxes), -1].astype(np.int64)
        return numbers

    def whose(self, boxes: Boxes) -> IntArray:
        """For each row of some boxes the number of its person, or 0, and how many persons it represents.

        Without persons each record counts as one.
        """
        rows = _rows_of(boxes)
        if self._by_person:
            return self._whose[rows]
        return np.stack([np.zeros(len(rows), dtype=np.int64), self._weight[rows]], axis=1)

    def take_out(self, boxes: Boxes, out: BoolArray) -> IntArray:
        """Moves rows, by their numbers, behind the others of their boxes; returns where these stop now."""
        stops = []
        for start, stop in zip(boxes.start.tolist(), boxes.stop.tolist(), strict=True):
            gone = out[self._codes[start:stop, -1]]
            order = start + np.argsort(gone, kind="stable")
            for held in (self._codes, self._weight, self._marks, self._whose):
                held[start:stop] = held[order]
            stops.append(stop - int(np.count_nonzero(gone)))
        return np.array(stops, dtype=np.int64)

    def totals(self, boxes: Boxes, out: BoolArray | None = None) -> IntArray:
        """The records of each box, by the values of each sensitive attribute too, and its persons; without `out`."""
        return self._counts(boxes, np.arange(len(boxes.start)), len(boxes.start), out)

    def divided_totals(self, boxes: Boxes) -> tuple[IntArray, IntArray]:
        """The counts of what must hold in each box: all its rows, or those of each history; and the box of each."""
        if not self._by_history:
            return self.totals(boxes), np.arange(len(boxes.start))
        held, boxes = self._in_order(boxes)
        rows, box = _rows_of(boxes), np.repeat(np.arange(len(boxes.start)), boxes.stop - boxes.start)
        history = held._whose[rows, 0]
        starts = np.flatnonzero((np.diff(box, prepend=-1) != 0) | (np.diff(history, prepend=-1) != 0))
        ends = np.append(starts[1:], len(rows))
        slices = Boxes(rows[starts], rows[starts] + ends - starts, boxes.blocks[box[starts]])
        return held.totals(slices), box[starts]

    def total(self, boxes: Boxes) -> IntArray:
        """The same for all of these boxes as one group: a person may be in several of them."""
        counts: IntArray = self._counts(boxes, np.zeros(len(boxes.start), dtype=np.int64), 1)[0]
        return counts

    def _counts(self, boxes: Boxes, group: IntArray, groups: int, out: BoolArray | None = None) -> IntArray:
        """The counts of groups of boxes."""
        if self.learns:
            held, boxes = self.released(boxes)
            return held._counts(boxes, group, groups)
        rows, box = _rows_of(boxes), np.repeat(group, boxes.stop - boxes.start)
        if out is not None:
            held = ~out[self._codes[rows, -1]]
            rows, box = rows[held], box[held]
        totals = np.zeros((groups, int(self._sections[-1]) - self._shift), dtype=np.int64)
        np.add.at(totals[:, 0], box, self._weight[rows])
        for mark in range(self._targets, self._marks.shape[1]):
            np.add.at(totals, (box, self._marks[rows, mark].astype(np.int64) - self._shift), self._weight[rows])
        if not self._by_person:
            return totals
        person, heads = self._whose[rows].T
        return np.column_stack([totals, distinct_persons(person, heads, box, groups)])

    def split(self, boxes: Boxes, choices: Choices, shapes: Shapes) -> Parts:
        """Makes the rows of each piece adjacent; pieces without rows, or without one that is released, are left out."""
        block = boxes.blocks[np.arange(len(boxes.start)), choices.column]
        chosen = np.stack(choices, axis=1)
        depth, first, cells = shapes.depth[block], shapes.first[block], shapes.cells[block]
        rows = self._codes, self._weight, self._marks, self._whose

        def split(part: range) -> IntArray:
            here = slice(part.start, part.stop)
            held = boxes.start[here], boxes.stop[here], chosen[here], depth[here]
            pieces: IntArray = split_boxes(*rows, *held, shapes.cell_of, first[here], cells[here])
            pieces[:, 0] += part.start
            return pieces

        found = np.concatenate([np.empty((0, 4), dtype=np.int64), *each(split, shares(boxes.stop - boxes.start))])
        parts = Parts(*np.ascontiguousarray(found.T))
        if not self.learns:
            return parts
        _, shown = self.released(Boxes(parts.start, parts.stop, found))
        return Parts(*np.ascontiguousarray(found[shown.stop > shown.start].T))

    def drawn(self, boxes: Boxes, most: int, copies: IntArray) -> tuple[BoxRows, Boxes]:
        """Copies of the rows of each box, or of a sample if there are more than `most`.

        What is drawn does not depend on the order of the rows; a row of a sample represents more records.
        """
        rows = boxes.stop - boxes.start
        halvings = np.maximum(np.ceil(np.log2(np.maximum(rows, 1) / most)), 0).astype(np.int64)
        sample, ends = self._sampled(boxes, halvings)
        first = np.concatenate([[0], ends[:-1]])
        scale = np.repeat(halvings, ends - first)
        sample._weight <<= scale
        sample._whose[:, int(self._by_person or self._by_history) :] <<= scale[:, None]
        length = np.repeat(ends - first, copies)
        stop = np.cumsum(length)
        copies_of = np.repeat(first, copies)
        again = _rows_of(Boxes(copies_of, copies_of + length, boxes.blocks))
        return sample._copied(again), Boxes(stop - length, stop, np.repeat(boxes.blocks, copies, axis=0))

    def _sampled(self, boxes: Boxes, halvings: IntArray) -> tuple[BoxRows, IntArray]:
        """A sample of the rows of each box, one of 2^halvings, box after box, and where those of each box end."""
        kept, ends = drawn_rows(self._codes, boxes.blocks.shape[1], self._marks, boxes.start, boxes.stop, halvings)
        return self._copied(kept), ends

    def _copied(self, rows: IntArray) -> BoxRows:
        """Copies of some rows, one after the other."""
        held = {name: getattr(self, name)[rows] for name in ("_codes", "_weight", "_marks", "_whose")}
        return replace(self, **held)


def _rows_of(boxes: Boxes) -> IntArray:
    """The rows of some boxes, box after box."""
    length = boxes.stop - boxes.start
    ends = np.cumsum(length)
    rows: IntArray = np.repeat(boxes.start - ends + length, length) + np.arange(length.sum())
    return rows


def side_by_side(columns: Sequence[Array], first: Sequence[int], values: int, rows: int) -> Array:
    """Columns of codes, numbered over all of them, row by row: reading a record takes one cache line."""
    side: Array = np.empty((rows, len(columns)), dtype=np.uint16 if values < 2**16 else np.uint32)
    for place, column in enumerate(columns):
        side[:, place] = column
        side[:, place] += first[place]
    return side
