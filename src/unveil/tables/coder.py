"""From raw rows to codes, once the survey has numbered all values. A coder is plain data: it can be sent to workers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.arrays import BoolArray, IntArray
from unveil.errors import TableError
from unveil.masking import days
from unveil.tables.columns import MISSING, Codes, RawColumn
from unveil.tables.types import other_columns
from unveil.tables.validity import Check, checked_column


@dataclass(frozen=True)
class Chunk:
    """Some rows in codes, those with missing or invalid values left out."""

    codes: Mapping[int, Codes]
    """By the place of the attribute."""
    classes: Codes
    weight: IntArray | None
    others: pa.Table

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def records(self) -> IntArray:
        """How many records each row stands for."""
        return np.ones(len(self), dtype=np.int64) if self.weight is None else self.weight


@dataclass(frozen=True)
class Coder:
    """What the survey found out about raw values: their numbers in the order of sight, and the codes of those."""

    attributes: tuple[str, ...]
    class_: str
    weight: str | None
    others: tuple[str, ...]
    dates: frozenset[str]
    """The columns that count as days."""
    marks: tuple[str, ...]
    checks: Mapping[str, Check]
    """What says which values are invalid, where rows that hold one are dropped."""
    origin: str
    dropped: int
    number_of: Mapping[str, Mapping[Any, int]]
    rows: Mapping[str, IntArray]
    """How many kept rows hold each value."""
    codes: Mapping[str, Codes]
    """The code of each value, for every attribute and the class."""
    records: IntArray | None
    """How many records a row stands for, for each value of the weight column."""

    def names(self, places: Collection[int]) -> list[str]:
        """The columns to read for the codes of some attributes.

        Where no row was dropped, only their own; else all, to know which rows to leave out.
        """
        wanted = {self.attributes[place] for place in places}
        attributes = [name for name in self.attributes if self.dropped or name in wanted]
        return [*attributes, self.class_, *([self.weight] if self.weight else [])]

    def coded(self, numbers: Mapping[str, Codes], others: pa.Table) -> Chunk:
        """Rows in codes, from the numbers of their values."""
        codes = {
            place: self.codes[name][numbers[name]] for place, name in enumerate(self.attributes) if name in numbers
        }
        weight = None if self.weight is None or self.records is None else self.records[numbers[self.weight]]
        return Chunk(codes, self.codes[self.class_][numbers[self.class_]], weight, others)


class Recount:
    """A later pass over the rows. It counts what it sees, and compares that with the survey at its end."""

    def __init__(self, coder: Coder, places: Collection[int], *, others: bool = False) -> None:
        """Starts a pass.

        Args:
            coder: What the survey found out.
            places: The attributes whose codes are wanted.
            others: Whether the columns that the spec does not describe are wanted as well.
        """
        self._coder = coder
        self._described = coder.names(places)
        self._others = coder.others if others else ()
        self.names = [*self._described, *self._others]
        self.counts = {name: np.zeros_like(coder.rows[name]) for name in self._described}

    def chunk(self, batch: pa.Table) -> Chunk:
        """Some rows in codes."""
        coder = self._coder
        shown = {name: days(batch[name]) if name in coder.dates else batch[name] for name in self._described}
        raw = [checked_column(name, column, coder.marks, coder.origin, coder.checks) for name, column in shown.items()]
        kept = kept_rows(raw, batch.num_rows)
        numbers = {column.name: self._numbers(column, kept) for column in raw}
        # Given their plain types first: Arrow cannot filter some of the others, such as views of text.
        others = other_columns(batch.select(self._others), coder.origin)
        others = others.filter(pa.array(kept)) if self._others else others
        return coder.coded(numbers, others)

    def _numbers(self, raw: RawColumn, kept: BoolArray) -> Codes:
        number_of = self._coder.number_of[raw.name]
        lookup = np.array([number_of.get(value, MISSING) for value in raw.distinct], dtype=np.int32)
        if (lookup == MISSING).any():
            raise changed(self._coder.origin)
        indices = raw.indices if kept.all() else raw.indices[kept]
        numbers = lookup[indices] if len(lookup) else indices
        counts = self.counts[raw.name]
        counts += np.bincount(numbers, minlength=len(counts))
        return numbers

    def check(self) -> None:
        """Whether the rows were those of the survey, as far as single columns tell.

        Raises:
            TableError: They were not.
        """
        if any(not np.array_equal(counts, self._coder.rows[name]) for name, counts in self.counts.items()):
            raise changed(self._coder.origin)


def changed(origin: str) -> TableError:
    """What to say of rows that are not those of the survey."""
    return TableError(f"{origin}: the source changed while it was being read; nothing was released.")


def kept_rows(columns: Iterable[RawColumn], rows: int) -> BoolArray:
    """The rows without a missing value."""
    kept = np.ones(rows, dtype=np.bool_)
    for column in columns:
        kept &= ~column.missing
    return kept
