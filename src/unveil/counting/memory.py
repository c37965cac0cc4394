"""The engine that counts in this process: rows held in memory, or read again batch by batch.

For the additive method rows are binned once (`counting.binned`), and weighed once per round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unveil.arrays import Array, IntArray
from unveil.counting.binned import BinnedRows
from unveil.counting.contributions import public_places, used_counts
from unveil.counting.distinct import Aside, DistinctRows, SortedRows
from unveil.counting.earlier import Earlier, Then
from unveil.counting.engine import Cells, Marked
from unveil.counting.index import MemoryIndex, PersonIndex
from unveil.counting.persons import PersonRows, by_person
from unveil.counting.released import linked, released_rows
from unveil.errors import BrokenPromiseError, listed
from unveil.masking import Block, LeftOut, Masking
from unveil.release import Link, ReleasedRows
from unveil.tables import WORDS, Chunk, Outline, Persons, Rows, changed, table_of

KEPT = 8
"""This many projections are kept at most."""


class MemoryEngine:
    """Counts of a table whose distinct rows fit in memory."""

    def __init__(self, rows: Rows, ready: Callable[[], None] = lambda: None) -> None:
        """Takes the rows, and what waits for the loops of a search once it has gathered what they count."""
        self._rows = rows
        self._ready = ready
        self._outline = rows.outline
        self._whom: Whom | None = None

    @property
    def rows(self) -> Rows:
        """What it counts."""
        return self._rows

    @property
    def then(self) -> Sequence[Then]:
        """What earlier releases say about sensitive attributes."""
        return () if self._whom is None else self._whom.then

    def after(self, earlier: Earlier, then: Sequence[Then], numbers: IntArray) -> None:
        """From now on, groups are divided by what earlier releases say about people.

        `then` is what they say about sensitive attributes, and `numbers` the number of each row's person among theirs.
        """
        self._whom = Whom(earlier, tuple(then), numbers, self._outline)

    def people(self, columns: Sequence[int]) -> tuple[IntArray, dict[int, IntArray]]:
        """The two numbers of each row's person, and the codes of some columns, in one pass."""
        words: list[IntArray] = []
        codes: list[list[Array]] = [[] for _ in columns]
        for chunk in self._rows.chunks(columns, persons=True):
            words.append(np.stack(chunk.persons, axis=1))
            for held, column in zip(codes, columns, strict=True):
                held.append(chunk.codes[column])
        held_codes = [np.concatenate(held).astype(np.int64) for held in codes]
        return np.concatenate(words), dict(zip(columns, held_codes, strict=True))

    def link(self, masking: Masking, left_out: LeftOut | None = None) -> Link:
        """Whom a release with this masking shows, and how, in one pass over the rows."""
        return linked(self._rows, masking, left_out)

    def histograms(self) -> tuple[IntArray, ...]:
        """For every attribute its `[value, class]` counts, from the first pass."""
        return self._outline.histograms

    def index(self, columns: Sequence[int], sensitive: int | None = None) -> MemoryIndex:
        """The partition index over the distinct rows of a projection."""
        index = self._index(columns, sensitive)
        self._ready()
        return index

    def _index(self, columns: Sequence[int], sensitive: int | None) -> MemoryIndex:
        if self._whom is not None:
            return self._history_index(self._whom, columns, sensitive)
        if sensitive is None and self._outline.persons is not None:
            return self._person_index(columns, self._outline.persons)
        places = [*columns, *([] if sensitive is None else [sensitive])]
        sizes = [len(self._outline.columns[place]) for place in places]
        distinct = DistinctRows(sizes)
        for chunk in self._rows.chunks(places):
            distinct.add([chunk.codes[place] for place in places], chunk.weight)
        rows = distinct.sorted()
        codes, weight = rows.columns(), rows.weight
        secrets = np.zeros(len(weight), dtype=np.uint8) if sensitive is None else codes.pop()
        width = 1 if sensitive is None else sizes.pop()
        return MemoryIndex(columns, codes, sizes, weight, secrets, width)

    def _person_index(self, columns: Sequence[int], persons: Persons) -> PersonIndex:
        """The index that counts persons."""
        sizes = [len(self._outline.columns[place]) for place in columns]
        distinct = DistinctRows([*persons.sizes, *sizes])
        for chunk in self._rows.chunks(columns, persons=True):
            distinct.add([*chunk.persons, *(chunk.codes[place] for place in columns)])
        return person_index(distinct.sorted(), columns, self._outline)

    def _history_index(self, whom: Whom, columns: Sequence[int], sensitive: int | None) -> MemoryIndex:
        """The index whose groups are divided by the histories of people."""
        places = [*columns, *([] if sensitive is None else [sensitive])]
        history, *codes, weight = self._by_history(whom, columns, places, classes=False)
        secrets = np.zeros(len(weight), dtype=np.uint8) if sensitive is None else codes.pop()
        sizes = [len(self._outline.columns[place]) for place in columns]
        width = 1 if sensitive is None else whom.size(sensitive)
        return MemoryIndex(columns, codes, sizes, weight, secrets, width, np.flatnonzero(np.diff(history, prepend=-1)))

    def _by_history(self, whom: Whom, columns: Sequence[int], places: Sequence[int], *, classes: bool) -> list[Array]:
        """Distinct rows: their histories on some columns, in ascending order, some codes, and how many there are."""
        histories = whom.histories(columns)
        last = [len(self._outline.classes)] if classes else []
        distinct = DistinctRows([int(histories.max()) + 1, *map(whom.size, places), *last])
        done = 0
        real = {place for place in places if place < len(self._outline.columns)}
        for chunk in self._rows.chunks(real):
            whose = whom.numbers[done : done + len(chunk)]
            codes = [whom.codes(chunk, place, whose) for place in places]
            distinct.add([histories[whose], *codes, *([chunk.classes] if classes else [])])
            done += len(chunk)
        if done != len(whom.numbers):
            raise changed(self._outline.origin)
        rows = distinct.sorted()
        history, *codes = rows.columns()
        return [history.astype(np.int64), *codes, rows.weight]

    def marked(self, columns: Sequence[int], marks: Sequence[int]) -> Marked:
        """The distinct rows of a projection, in one pass over the rows."""
        rows = self._marked(columns, marks)
        self._ready()
        return rows

    def _marked(self, columns: Sequence[int], marks: Sequence[int]) -> Marked:
        if self._whom is not None:
            return self._marked_by_history(self._whom, columns, marks)
        places, persons = [*columns, *marks], self._outline.persons
        sizes = [len(self._outline.columns[place]) for place in places]
        distinct = DistinctRows([*(persons.sizes if persons else ()), *sizes, len(self._outline.classes)])
        for chunk in self._rows.chunks(set(places), persons=persons is not None):
            codes = [chunk.codes[place] for place in places]
            distinct.add([*chunk.persons, *codes, chunk.classes], chunk.weight)
        return marked_rows(distinct.sorted(), len(columns), self._outline)

    def _marked_by_history(self, whom: Whom, columns: Sequence[int], marks: Sequence[int]) -> Marked:
        """The same, by the histories of people."""
        history, *codes, classes, weight = self._by_history(whom, columns, [*columns, *marks], classes=True)
        widths = [len(self._outline.classes), *map(whom.size, marks)]
        return Marked(codes[: len(columns)], [classes, *codes[len(columns) :]], widths, weight, history[:, None])

    def cells(self, cuts: Sequence[Sequence[Block]]) -> Cells:
        """The occupied cells of the product of the cuts, in one pass over the rows."""
        block_of = [block_numbers(len(domain), cut) for domain, cut in zip(self._outline.columns, cuts, strict=True)]
        classes = len(self._outline.classes)
        distinct = DistinctRows([*(len(cut) for cut in cuts), classes])
        for chunk in self._rows.chunks(range(len(cuts))):
            blocks = [lookup[chunk.codes[place]] for place, lookup in enumerate(block_of)]
            distinct.add([*blocks, chunk.classes], chunk.weight)
        return cells_of(distinct.sorted(), classes)

    def binned(self, bins: Sequence[Array], sizes: Sequence[int]) -> BinnedRows:
        """The rows by bins."""
        return BinnedRows(self._rows, bins, sizes)

    def bounded(self, most: int) -> tuple[Outline, MemoryEngine]:
        """The table with at most this many rows of each person, in one pass over the rows; it is held in memory."""
        places = range(len(self._outline.columns))
        distinct = DistinctRows([*WORDS, *code_sizes(self._outline)])
        for chunk in self._rows.chunks(places, persons=True):
            distinct.add([*chunk.persons, *(chunk.codes[place] for place in places), chunk.classes])
        rows = distinct.sorted()
        *codes, classes = rows.columns()[len(WORDS) :]
        if int(rows.weight.sum()) != self._outline.records:
            raise changed(self._outline.origin)
        table = table_of(self._outline, codes, classes, used_counts(rows, public_places(self._outline), most))
        return table, MemoryEngine(table)

    def released(self, masking: Masking, weight: str | None, left_out: LeftOut | None = None) -> ReleasedRows:
        """The masked rows, sorted by their values."""
        return released_rows(self._rows, masking, weight, left_out)

    def rows_left_out(self, masking: Masking, left_out: LeftOut) -> int:
        """How many rows the search left out, in one pass if they have weights."""
        if not self._outline.weighted:
            return left_out.records
        return Aside(self._outline, masking, left_out).rows(self._rows.chunks(range(len(self._outline.columns))))


class KeptEngine(MemoryEngine):
    """Keeps the distinct rows that it was asked for last: searches that differ in their bounds ask for the same."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        self._kept: dict[tuple[tuple[int, ...], tuple[int, ...]], Marked] = {}

    def marked(self, columns: Sequence[int], marks: Sequence[int]) -> Marked:
        """The distinct rows of a projection, counted once. A search copies what it changes."""
        key = tuple(columns), tuple(marks)
        if key not in self._kept:
            if len(self._kept) == KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = super().marked(columns, marks)
        return self._kept[key]


def code_sizes(outline: Outline) -> list[int]:
    """How many codes each attribute and the class have."""
    return [*map(len, outline.columns), len(outline.classes)]


@dataclass(frozen=True)
class Whom:
    """Whom the rows of a table are about, in terms of earlier releases."""

    earlier: Earlier
    then: tuple[Then, ...]
    numbers: IntArray
    """The number of each row's person."""
    outline: Outline

    def histories(self, columns: Sequence[int]) -> IntArray:
        """The history of each person on some attributes."""
        return self.earlier.histories([self.outline.columns[column].name for column in columns])

    def size(self, place: int) -> int:
        """How many codes a column has, of the table or of an earlier release."""
        known = len(self.outline.columns)
        return len(self.outline.columns[place]) if place < known else self.then[place - known].size

    def codes(self, chunk: Chunk, place: int, whose: IntArray) -> Array:
        """The codes of a column in some rows."""
        known = len(self.outline.columns)
        return chunk.codes[place] if place < known else self.then[place - known].codes[whose]


def person_index(rows: SortedRows, columns: Sequence[int], outline: Outline) -> PersonIndex:
    """The index that counts persons, from distinct rows: the numbers of the person, and the codes of the attributes.

    How many records a row represents does not matter to it.
    """
    held = _by_person(replace(rows, weight=np.ones_like(rows.weight)), len(columns), outline)
    return PersonIndex(columns, held.codes, rows.sizes[-len(columns) :], held.heads, held.person, 1)


def marked_rows(rows: SortedRows, columns: int, outline: Outline) -> Marked:
    """Distinct rows with their marks, the class first; by person if the table says whose row each is.

    The rows have the numbers of the person, if any, and the codes of the attributes, the other marks and the class.
    """
    codes, weight, whose = rows.columns(), rows.weight, np.zeros((len(rows), 0), dtype=np.int64)
    if outline.persons is not None:
        held = _by_person(rows, columns, outline)
        codes, weight, whose = held.codes, held.weight, np.stack([held.person, held.heads], axis=1)
    attributes, marks, classes = codes[:columns], codes[columns:-1], codes[-1]
    widths = list(rows.sizes[len(rows.sizes) - len(codes) + columns :])
    return Marked(attributes, [classes, *marks], [widths.pop(), *widths], weight, whose)


def _by_person(rows: SortedRows, columns: int, outline: Outline) -> PersonRows:
    """Rows by person; refuses those of other persons than in the first pass."""
    persons = outline.persons
    held = None if persons is None else by_person(rows, len(persons.sizes), columns)
    if persons is None or held is None or held.persons != persons.count:
        raise changed(outline.origin)
    return held


def cells_of(rows: SortedRows, classes: int) -> Cells:
    """Cells from sorted blocks and classes: adjacent cells with the same blocks become one row of counts."""
    *blocks, labels = rows.columns()
    fresh = np.zeros(len(rows), dtype=np.bool_)
    fresh[:1] = True
    for column in blocks:
        fresh[1:] |= column[1:] != column[:-1]
    counts = np.zeros((int(fresh.sum()), classes), dtype=np.int64)
    counts[np.cumsum(fresh) - 1, labels] = rows.weight
    held = [column[fresh].astype(np.int64) for column in blocks]
    return Cells(np.stack(held, axis=1), counts)


def block_numbers(size: int, cut: Sequence[Block]) -> Array:
    """The block number of each value; every value must be in a block."""
    block_of = np.full(size, -1, dtype=np.int32)
    for number, block in enumerate(cut):
        block_of[block.codes] = number
    if (block_of < 0).any():
        raise BrokenPromiseError(f"the cut {listed([block.label for block in cut])} leaves out a value of its domain.")
    return block_of
