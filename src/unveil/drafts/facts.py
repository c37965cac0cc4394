"""What a column holds, as far as a first spec needs to know, and which columns determine others, exactly or nearly.

Facts are found for distinct values, which may be a million. Dependencies have one column on the left. With 300 columns
there are 90,000 pairs, so a sample decides which are worth a look at all rows. It is sorted by the first column of a
pair, and neighbours with the same value are compared in all other columns at once. An exact dependency has no
neighbours that differ, in any sample, so none is missed. What is left is counted on all rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import BoolArray, CodeArray, FloatArray, IntArray
from unveil.errors import TableError
from unveil.frames import is_number
from unveil.masking import days, dictionary_of, python_values
from unveil.schema import number_of
from unveil.tables.columns import TEXTS, is_usable

CERTAIN = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL")
"""Texts that mean a missing value."""
DOUBTFUL = ("None", "none", "-", ".", "missing", "unknown")
"""Texts that mean a missing value if they are rare, and may be ordinary values otherwise."""
MARKS = (*CERTAIN, *DOUBTFUL)
SAMPLE = 10_000
"""How many rows decide which pairs are looked at."""
COUNTED = 100_000
"""How many rows decide whether a column nearly determines another one."""
REPEATS = 10
"""A column with fewer rows per value determines others by chance, as an identifier does."""
TELLS = 0.95
"""A column nearly determines another one if it gives its value for this share of the rows,"""
BETTER = 0.1
"""and leaves at most this share of what one would get wrong without it."""
DIFFER = 0.3
"""In the sample, neighbours may differ this often, compared with any two rows, before a pair is given up."""
TRIED = 5
"""How many columns are tried for each other one if the first ones do not determine it exactly."""
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
DATE = r"^\d{4}-\d{2}-\d{2}"


@dataclass(frozen=True)
class Coded:
    """A column as codes from 0 on; a missing value has a code too."""

    name: str
    codes: CodeArray
    size: int
    """How many codes there are."""


@dataclass(frozen=True)
class Dependency:
    """One column determines another."""

    by: str
    determined: str
    share: float
    """For which share of the rows; 1 if the dependency is exact."""
    mutual: bool = False
    """Whether both tell each other, so that one repeats the other."""

    @property
    def exact(self) -> bool:
        """Whether it has no exception."""
        return self.share == 1


def dependencies(columns: Sequence[Coded]) -> list[Dependency]:
    """For each column the coarsest one that determines it, exactly if there is one, else nearly.

    Constant columns and those with hardly any value twice are left out. Of columns that determine each other, the first
    determines the others.
    """
    rows = len(columns[0].codes) if columns else 0
    used = [column for column in columns if 1 < column.size <= rows / REPEATS]
    if not used:
        return []
    place_of = {column.name: place for place, column in enumerate(columns)}
    used.sort(key=lambda column: column.size)
    generator = np.random.default_rng(0)
    few, drawn = (_drawn(rows, size, generator) for size in (SAMPLE, COUNTED))
    candidates = _candidates([_part(column, few) for column in used])
    found = []
    for column, by in zip(used, candidates, strict=True):
        others = [used[place] for place in by]
        later = frozenset(other.name for other in others if place_of[other.name] > place_of[column.name])
        one = _exact(column, others, later, drawn) or _near(column, others, drawn)
        found += [] if one is None else [one]
    return sorted(found, key=lambda item: place_of[item.determined])


def _drawn(rows: int, size: int, generator: np.random.Generator) -> IntArray:
    """Some rows in their order; all if they are not more."""
    return np.arange(rows) if rows <= size else np.sort(generator.choice(rows, size, replace=False))


def _part(column: Coded, rows: IntArray) -> Coded:
    return Coded(column.name, column.codes[rows], column.size)


def _candidates(columns: Sequence[Coded]) -> list[list[int]]:
    """For each column the others that may determine it, in their order."""
    # A row of the sample is one piece of memory, so that neighbours are compared fast.
    sample = np.ascontiguousarray(np.stack([column.codes for column in columns], axis=1))
    shares = [np.bincount(column.codes) / len(column.codes) for column in columns]
    chance = np.array([1 - float((share**2).sum()) for share in shares])
    found: list[list[int]] = [[] for _ in columns]
    for place, column in enumerate(columns):
        ranked = np.argsort(column.codes, kind="stable")
        same = column.codes[ranked[1:]] == column.codes[ranked[:-1]]
        left, right = ranked[:-1][same], ranked[1:][same]
        differ = (sample[left] != sample[right]).sum(axis=0) if len(left) else np.zeros(len(columns))
        for other in np.flatnonzero(differ <= DIFFER * chance * len(left)):
            if other != place:
                found[other].append(place)
    return found


def _exact(column: Coded, by: Sequence[Coded], later: frozenset[str], rows: IntArray) -> Dependency | None:
    """The first column that determines another one, looked for in some rows first. A later one does not repeat it."""
    part = _part(column, rows)
    for other in by:
        if is_determined(part, _part(other, rows)) and is_determined(column, other):
            mutual = column.size == other.size and is_determined(other, column)
            if not (mutual and other.name in later):
                return Dependency(other.name, column.name, 1.0, mutual)
    return None


def _near(column: Coded, by: Sequence[Coded], rows: IntArray) -> Dependency | None:
    """The first column that nearly determines another one, by some rows that hold each of its values repeatedly."""
    coarse = [other for other in by if other.size <= len(rows) / REPEATS]
    part = _part(column, rows)
    for other in coarse[:TRIED]:
        if (share := determined_share(part, _part(other, rows))) is not None:
            return Dependency(other.name, column.name, share)
    return None


def is_determined(column: Coded, by: Coded) -> bool:
    """Whether rows with the same value of one column have the same value of another."""
    if by.size < column.size:
        return False
    held = np.zeros(by.size, dtype=column.codes.dtype)
    held[by.codes] = column.codes
    return bool((held[by.codes] == column.codes).all())


def determined_share(column: Coded, by: Coded) -> float | None:
    """For which share of the rows one column gives another; None if that is all, not much, or no more than a guess."""
    rows = len(column.codes)
    pairs, counts = np.unique(by.codes.astype(np.int64) * column.size + column.codes, return_counts=True)
    best: IntArray = np.zeros(by.size, dtype=np.int64)
    np.maximum.at(best, pairs // column.size, counts)
    share, guessed = int(best.sum()) / rows, int(np.bincount(column.codes).max()) / rows
    return share if TELLS <= share < 1 and 1 - share <= BETTER * (1 - guessed) else None


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
