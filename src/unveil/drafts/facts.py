"""What a column holds, as far as a first spec needs to know: found for distinct values, which may be a million."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import BoolArray, CodeArray, FloatArray, IntArray
from unveil.drafts.dependencies import Coded
from unveil.errors import TableError
from unveil.frames import is_number
from unveil.masking import days, dictionary_of, python_values
from unveil.schema import number_of
from unveil.tables.columns import TEXTS, is_usable

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
DATE = r"^\d{4}-\d{2}-\d{2}"


@dataclass(frozen=True, eq=False)
class Facts:
    """The distinct values of a column, and how many rows hold each."""

    name: str
    values: pa.Array
    """The distinct values; text as such, any other type as it is."""
    codes: CodeArray
    """The place of each row's value; a row without one has the place after the last."""

    @cached_property
    def counts(self) -> IntArray:
        """How many rows hold each value; at last how many have none."""
        return np.bincount(self.codes, minlength=len(self.values) + 1)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    @property
    def is_text(self) -> bool:
        """Whether the values are texts, which may mean numbers."""
        return any(test(self.values.type) for test in TEXTS)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each text; empty if there are other values."""
        return {text: place for place, text in enumerate(self.values.to_pylist())} if self.is_text else {}

    def held(self, marks: Collection[str] = ()) -> BoolArray:
        """Which values some row holds and no mark makes missing; a number that is not one is missing too."""
        held: BoolArray = self.counts[:-1] > 0
        if self.is_text and marks:
            held &= ~pc.is_in(self.values, pa.array(marks, pa.string())).to_numpy(zero_copy_only=False)
        if pa.types.is_floating(self.values.type):
            held &= ~pc.is_nan(self.values).fill_null(True).to_numpy(zero_copy_only=False)
        return held

    def missing(self, marks: Collection[str] = ()) -> BoolArray:
        """Which rows have no value."""
        return np.append(~self.held(marks), True)[self.codes]

    @cached_property
    def numbers(self) -> FloatArray:
        """The number that each value is; NaN for any other value."""
        values = self.values
        if self.is_text:
            values = pc.if_else(pc.match_substring_regex(values, NUMBER), values, None)
        elif not is_number(values.type):
            return np.full(len(values), np.nan)
        numbers: FloatArray = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return numbers

    def dates(self, held: BoolArray) -> list[float] | None:
        """The days of the values; None if a value is not a date."""
        values = self.values.filter(pa.array(held))
        if self.is_text and not (len(values) and pc.all(pc.match_substring_regex(values, DATE)).as_py()):
            return None
        if not self.is_text and not pa.types.is_date(values.type):
            return None
        found = [number_of(value, "date") for value in python_values(values)]
        dates = [date for date in found if date is not None]
        return dates if dates and len(dates) == len(found) else None

    def examples(self, held: BoolArray, most: int) -> list[str]:
        """The most frequent of some values, as texts."""
        places = np.flatnonzero(held)
        ranked = places[np.argsort(-self.counts[places], kind="stable")][:most]
        return [str(value) for value in self.values.take(pa.array(ranked)).to_pylist()]

    def coded(self) -> Coded:
        """The column for a search of dependencies; only codes that occur."""
        used = np.flatnonzero(self.counts)
        if len(used) == len(self.counts):
            return Coded(self.name, self.codes, len(used))
        rank = np.zeros(len(self.counts), dtype=np.int32)
        rank[used] = np.arange(len(used), dtype=np.int32)
        return Coded(self.name, rank[self.codes], len(used))


def facts_of(name: str, column: pa.ChunkedArray, origin: str) -> Facts:
    """Looks at a column; refuses one whose values cannot be compared."""
    if not is_usable(column.type) and not pa.types.is_duration(column.type):
        raise TableError(f"{origin}: column {name!r}: values of type {column.type} cannot be used.")
    encoded = dictionary_of(days(column))
    values = encoded.dictionary
    if any(test(values.type) for test in TEXTS):
        values = values.cast(pa.string())
    codes = encoded.indices.cast(pa.int32()).fill_null(len(values)).to_numpy(zero_copy_only=False)
    return Facts(name, values, codes)
