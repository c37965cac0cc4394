"""From raw rows to codes, once the survey has numbered all values. A coder is plain data: it can be sent to workers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from unveil.arrays import Array, BoolArray, CodeArray, IntArray
from unveil.cores import each, following
from unveil.errors import TableError
from unveil.masking import days
from unveil.schema import Missing
from unveil.tables.columns import MISSING, Check, Codes, RawColumn, checked_column, followed, other_columns
from unveil.tables.persons import Withheld, person_words

Numbered = Callable[[RawColumn], Codes]
"""The numbers of the distinct values of a column."""


class Sight(NamedTuple):
    """Some rows as a pass sees them: those that are kept, by the entries of their dictionaries."""

    kept: BoolArray
    withheld: int
    """How many rows are left out because of whom they are about."""
    columns: Mapping[str, RawColumn]
    """The columns that are counted, and others that every row needs."""
    numbers: Mapping[str, Codes]
    """The number of each entry's value, in the columns that are counted."""
    missing: Mapping[str, int]
    """How many rows, kept or not, miss a value."""


@dataclass(frozen=True)
class Reading:
    """How the columns of a table are read, in every pass alike."""

    dates: frozenset[str]
    """The columns that count as days."""
    missing: Mapping[str, Missing]
    """What means a missing value in each column, and what it is kept as."""
    checks: Mapping[str, Check]
    """What says which values are invalid, where rows that hold one are dropped."""
    origin: str
    withheld: Withheld | None = None
    """The people whose rows are held back."""

    def sight(self, batch: pa.Table, names: Collection[str], numbered: Numbered, needed: Sequence[str] = ()) -> Sight:
        """The rows that miss no value in some columns, nor in those that every row needs."""

        def column(name: str) -> RawColumn:
            shown = days(batch[name]) if name in self.dates else batch[name]
            return checked_column(name, shown, self.missing[name], self.origin, self.checks)

        read = [*names, *needed]
        columns = dict(zip(read, each(column, read, batch.num_rows), strict=True))
        missing = dict.fromkeys(columns, 0)
        kept = np.ones(batch.num_rows, dtype=np.bool_)
        for name, raw in columns.items():
            if MISSING in raw.place_of:
                gone = raw.missing
                missing[name] = int(gone.sum())
                kept &= ~gone
        if not kept.all():
            columns = _filtered(columns, kept)
        withheld = 0
        if self.withheld is not None:
            gone = self.withheld.of([columns[name] for name in self.withheld.person])
            withheld, columns = int(gone.sum()), _filtered(columns, ~gone)
            kept[kept] = ~gone
        # Values that only dropped rows hold get numbers too, but no counts.
        numbers = {name: followed(columns[name].place_of, numbered(columns[name])) for name in names}
        return Sight(kept, withheld, columns, numbers, missing)


def _filtered(columns: Mapping[str, RawColumn], kept: BoolArray) -> dict[str, RawColumn]:
    return {name: replace(column, entries=column.entries[kept]) for name, column in columns.items()}


@dataclass(frozen=True)
class Chunk:
    """Some rows in codes, those with missing or invalid values left out."""

    codes: Mapping[int, Codes]
    """By the position of the attribute."""
    classes: Codes
    weight: IntArray | None
    others: pa.Table
    persons: tuple[IntArray, ...] = ()
    """The numbers that say whose row each is, if they are asked for."""

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def records(self) -> IntArray:
        """How many records each row represents."""
        return np.ones(len(self), dtype=np.int64) if self.weight is None else self.weight

    def filter(self, kept: BoolArray) -> Chunk:
        """Only these rows."""
        return Chunk(
            codes={place: codes[kept] for place, codes in self.codes.items()},
            classes=self.classes[kept],
            weight=None if self.weight is None else self.weight[kept],
            # A table without columns has no rows to filter.
            others=self.others.filter(pa.array(kept)) if self.others.num_columns else self.others,
            persons=tuple(numbers[kept] for numbers in self.persons),
        )


@dataclass(frozen=True)
class Coder:
    """What the survey found about raw values: their numbers in order of appearance, and the codes of these."""

    attributes: tuple[str, ...]
    class_: str
    weight: str | None
    others: tuple[str, ...]
    reading: Reading
    dropped: int
    """How many rows are left out."""
    number_of: Mapping[str, Mapping[Any, int]]
    rows: Mapping[str, IntArray]
    """How many kept rows hold each value."""
    codes: Mapping[str, Codes]
    """The code of each value, for every attribute and the class."""
    records: IntArray | None
    """How many records a row represents, for each value of the weight column."""
    person: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    """Columns that every row needs although they are not counted: those that say whose it is, and a hidden weight."""

    def names(self, places: Collection[int]) -> list[str]:
        """The columns to read for the codes of some attributes.

        If no row was dropped, only their own; otherwise all, to know which rows to drop.
        """
        wanted = {self.attributes[place] for place in places}
        attributes = [name for name in self.attributes if self.dropped or name in wanted]
        return [*attributes, self.class_, *([self.weight] if self.weight else [])]

    def coded(self, sight: Sight, batch: pa.Table, others: Sequence[str]) -> Chunk:
        """Rows in codes, from how they were seen and how they were read; `others` are wanted as they are."""

        def looked_up(name: str, by_number: Array) -> Array:
            return followed(sight.numbers[name], by_number)[sight.columns[name].entries]

        places = [place for place, name in enumerate(self.attributes) if name in sight.columns]
        found = each(
            lambda place: looked_up(self.attributes[place], self.codes[self.attributes[place]]), places, batch.num_rows
        )
        codes = dict(zip(places, found, strict=True))
        weight = None if self.weight is None or self.records is None else looked_up(self.weight, self.records)
        # Converted to plain types first: Arrow cannot filter some others, such as string views.
        released = other_columns(batch.select(others), self.reading.origin)
        if others and not sight.kept.all():
            released = released.filter(pa.array(sight.kept))
        return Chunk(codes, looked_up(self.class_, self.codes[self.class_]), weight, released)


class Recount:
    """A later pass over the rows. It counts values, and compares the counts with the survey at the end.

    It gives the codes of some attributes and, if asked for, the columns that the spec does not describe, and whose row
    each is.
    """

    def __init__(self, coder: Coder, places: Collection[int], *, others: bool = False, persons: bool = False) -> None:
        self._coder = coder
        self._described = coder.names(places)
        self._others = coder.others if others else ()
        self._persons = persons
        # A row is dropped also if it does not say whose it is.
        self._needed = coder.needed if coder.dropped else coder.person if persons else ()
        self.names = [*self._described, *self._needed, *self._others]
        self.counts = {name: np.zeros_like(coder.rows[name]) for name in self._described}

    def chunk(self, batch: pa.Table) -> Chunk:
        """Some rows in codes."""
        return next(self.chunks([batch]))

    def chunks(self, batches: Iterable[pa.Table]) -> Iterator[Chunk]:
        """Batches in codes, several at a time."""
        for sight, chunk in following(self._coded, batches):
            for name, numbers in sight.numbers.items():
                add_counts(self.counts[name], numbers, sight.columns[name].rows())
            yield chunk

    def _coded(self, batch: pa.Table) -> tuple[Sight, Chunk]:
        sight = self._coder.reading.sight(batch, self._described, self._known, self._needed)
        chunk = self._coder.coded(sight, batch, self._others)
        if self._persons:
            chunk = replace(chunk, persons=person_words([sight.columns[name] for name in self._coder.person]))
        return sight, chunk

    def _known(self, raw: RawColumn) -> Codes:
        number_of = self._coder.number_of[raw.name]
        numbers = np.array([number_of.get(value, MISSING) for value in raw.distinct], dtype=np.int32)
        if (numbers == MISSING).any():
            raise changed(self._coder.reading.origin)
        return numbers

    def check(self) -> None:
        """Refuses rows that were not those of the survey, as far as single columns show."""
        if any(not np.array_equal(counts, self._coder.rows[name]) for name, counts in self.counts.items()):
            raise changed(self._coder.reading.origin)


def changed(origin: str) -> TableError:
    """The error for rows that are not those of the survey."""
    return TableError(f"{origin}: the source changed while it was being read; nothing was released.")


def add_counts(counts: IntArray, numbers: CodeArray, added: IntArray) -> None:
    """Adds counts of entries to those of their values. No kept row holds what is missing, so that is never counted."""
    held = np.flatnonzero(added)
    np.add.at(counts, numbers[held], added[held])
