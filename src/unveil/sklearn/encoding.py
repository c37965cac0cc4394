"""Masked values as input for a classifier: numbers, with one encoding per column, fixed with the masking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.arrays import FloatArray, IntArray
from unveil.choices import Unseen
from unveil.errors import TableError
from unveil.frames import is_number
from unveil.masking import AsIs, Discretization, Generalization, Interval, Masking, Vocabulary, dictionary_of
from unveil.schema import parse_number, value_text

Output = Literal["onehot", "codes", "labels"]


@dataclass(frozen=True)
class Numbers:
    """A number released as it is."""

    name: str
    missing: tuple[str, ...] = ()
    """The label of missing values, if they are kept."""

    def names(self, name: str, output: Output) -> list[str]:
        """One column, and one for missing values that are kept."""
        return _with_missing(name, self.missing, output)

    def encoded(self, column: pa.ChunkedArray, output: Output) -> FloatArray:
        """The number; NaN if it is missing or not a number. One that is kept is 0, with a 1 in the next column."""
        if is_number(column.type):
            numbers: FloatArray = column.cast(pa.float64()).to_numpy()
        else:
            numbers = np.array([parse_number(value) for value in column.to_pylist()], dtype=np.float64)
        if self.missing:
            gone = np.isnan(numbers)
            return np.stack([np.where(gone, 0.0, numbers), gone.astype(np.float64)], axis=1)
        return numbers[:, None]


def _with_missing(name: str, missing: Sequence[str], output: Output) -> list[str]:
    """The column of a number, and one for each kind of missing values; where labels are shown there is one."""
    return [name] if output == "labels" else [name, *(f"{name}={kind}" for kind in missing)]


@dataclass(frozen=True)
class Intervals:
    """A discretized number or date: the middle of its interval, or both ends where intervals overlap.

    The middle is the one that `Release.to_pandas(intervals="midpoint")` has.
    """

    name: str
    labels: tuple[str, ...]
    numbers: tuple[tuple[float, ...], ...]
    """Those of each block, and for each kind of missing values whether it holds that and no numbers."""
    missing: tuple[str, ...]
    overlapping: bool

    def names(self, name: str, output: Output) -> list[str]:
        """One column or two, and one for each kind of missing values."""
        if self.overlapping and output != "labels":
            return [f"{name} from", *_with_missing(f"{name} to", self.missing, output)]
        return _with_missing(name, self.missing, output)

    def encoded(self, column: pa.ChunkedArray, output: Output) -> FloatArray:
        """The numbers of its block; NaN for a value that has no block, and those of the range for a missing one."""
        return np.array([*self.numbers, (np.nan,) * len(self.numbers[0])])[_places(column, self.labels)]


@dataclass(frozen=True)
class Categories:
    """A category: its labels in domain order."""

    name: str
    labels: tuple[str, ...]
    words: Vocabulary | None = None
    """Where labels of a taxonomy overlap, the coarser ones above each, and what each covers."""

    def names(self, name: str, output: Output) -> list[str]:
        """One column for each label; or one in all, or two, for the first and the last value that a label covers."""
        if output == "onehot":
            return [f"{name}={label}" for label in self.labels]
        return [name] if self.words is None or output == "labels" else [f"{name} from", f"{name} to"]

    def encoded(self, column: pa.ChunkedArray, output: Output) -> FloatArray:
        """A 1 in the column of the label and of every coarser one; or the place of the label, or those of both values.

        All zeros or −1 for a value without a label.
        """
        places = _places(column, self.labels)
        if output == "onehot":
            above = np.eye(len(self.labels)) if self.words is None else self.words.above
            return np.vstack([above, np.zeros((1, len(self.labels)))])[places].astype(np.float64)
        if self.words is None:
            return places[:, None].astype(np.float64)
        return np.vstack([self.words.ends - [0, 1], [[-1, -1]]])[places].astype(np.float64)


ColumnEncoding = Numbers | Intervals | Categories


@dataclass(frozen=True)
class Encoding:
    """How all columns of a masking are passed to a classifier."""

    columns: tuple[ColumnEncoding, ...]
    output: Output

    @classmethod
    def of(cls, masking: Masking, released: pa.Table, output: Output) -> Encoding:
        """Derives the encoding from a masking and, for values released as they are, from the released rows."""
        entries = masking.columns.items()
        # A survey weight says nothing about the class.
        features = {name: entry for name, entry in entries if getattr(entry, "survey_weight", None) is None}
        return cls(tuple(_column(name, entry, released) for name, entry in features.items()), output)

    def names(self, name_of: dict[str, str]) -> list[str]:
        """The names of the columns that come out."""
        return [label for column in self.columns for label in column.names(name_of[column.name], self.output)]

    def encoded(self, masked: pa.Table, unseen: Unseen) -> NDArray[Any]:
        """Masked rows as an array: of numbers, or of the released values themselves."""
        if unseen == "refuse":
            for column in self.columns:
                _check_seen(column, masked[column.name])
        if self.output == "labels":
            shown = [np.array(masked[column.name].to_pylist(), dtype=object) for column in self.columns]
            return np.stack(shown, axis=1)
        return np.hstack([column.encoded(masked[column.name], self.output) for column in self.columns])


def _column(name: str, entry: Any, released: pa.Table) -> ColumnEncoding:
    match entry:
        case Discretization(local=True):
            ends = tuple((held.lo, held.hi, *flags) for held, flags in _blocks(entry))
            return Intervals(name, entry.shown, ends, tuple(entry.missing), overlapping=True)
        case Generalization(local=True):
            words = Vocabulary.of(entry)
            return Categories(name, words.labels, words)
        case Discretization():
            middles = tuple((entry.middle(held), *flags) for held, flags in _blocks(entry))
            return Intervals(name, entry.shown, middles, tuple(entry.missing), overlapping=False)
        case AsIs(type="number"):
            return Numbers(name, tuple(entry.missing))
        case AsIs():
            held = pc.unique(released[name]).drop_null()
            return Categories(name, tuple(sorted(value_text(value) for value in held.to_pylist())))
        case _:
            return Categories(name, entry.shown)


def _blocks(entry: Discretization) -> Iterator[tuple[Interval, tuple[float, ...]]]:
    """The numbers of each block, the whole range for one without, and which kinds of missing values that one holds."""
    whole = next(iter(entry.intervals.values()))
    for block in entry.blocks:
        alone = block.numbers is None
        yield whole if alone else block, tuple(float(alone and kind in block.missing) for kind in entry.missing)


def _places(column: pa.ChunkedArray, labels: Sequence[str]) -> IntArray:
    """Which label each value has; −1 for a value that has none."""
    held = dictionary_of(column)
    place_of = {label: place for place, label in enumerate(labels)}
    places = np.array([*(place_of.get(value_text(value), -1) for value in held.dictionary.to_pylist()), -1])
    indices = held.indices.fill_null(len(places) - 1)
    found: IntArray = places[indices.to_numpy(zero_copy_only=False)]
    return found


def _check_seen(column: ColumnEncoding, values: pa.ChunkedArray) -> None:
    """Checks columns that are released as they are; masked columns were checked when they were masked."""
    if isinstance(column, Numbers):
        gone = np.isnan(column.encoded(values, "codes")[:, 0])
    else:
        gone = _places(values, column.labels) < 0
    if gone.any():
        value = values[int(np.flatnonzero(gone)[0])].as_py()
        shown = "a missing value" if value is None or value != value else repr(value)
        raise TableError(f"column {column.name!r}: {shown} is not in this release; unseen='suppress' lets it pass.")
