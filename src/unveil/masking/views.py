"""Views of masked columns: labels as the files hold them, intervals to compute with, and what labels cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from unveil.arrays import BoolArray, IntArray
from unveil.choices import INTERVALS, Intervals
from unveil.errors import TableError, listed
from unveil.masking.values import dictionary_of
from unveil.schema import SUPPRESSED, day_of

if TYPE_CHECKING:
    import pandas as pd

    from unveil.masking.entries import ColumnMasking, Discretization, Interval, Masked


@dataclass(frozen=True)
class View:
    """How masked values are shown.

    Attributes:
        intervals: `text` is the label; `bounds` a pair of `from` and `to`; `midpoint` one value; `interval` an interval
            of pandas, which no other frame has.
        suppressed: The text for a suppressed value; None for null. If intervals are not shown as text, a suppressed
            value is always null, and so is a missing number; a block with numbers and missing ones shows its numbers.
    """

    intervals: Intervals = "text"
    suppressed: str | None = SUPPRESSED

    def __post_init__(self) -> None:
        if self.intervals not in INTERVALS:
            raise TableError(f"intervals is {self.intervals!r}, but it must be one of {listed(INTERVALS)}.")

    def of(self, labels: pa.Table, entries: Mapping[str, ColumnMasking]) -> pa.Table:
        """A table of labels as this view shows it; columns without an entry, such as the class, stay as they are."""
        columns = {name: self._column(name, labels[name], entries.get(name)) for name in labels.column_names}
        return pa.table(columns)

    def of_pandas(self, labels: pa.Table, entries: Mapping[str, ColumnMasking]) -> pd.DataFrame:
        """The same as a pandas frame, which has a type for intervals."""
        own = self.intervals == "interval"
        shown = View("text", self.suppressed) if own else self
        frame: pd.DataFrame = shown.of(labels, entries).to_pandas(date_as_object=False)
        for name in labels.column_names if own else ():
            entry = entries.get(name)
            if entry is not None and entry.kind == "discretization":
                frame[name] = _pandas_intervals(labels[name], entry)
        return frame

    def _column(self, name: str, column: pa.ChunkedArray, entry: ColumnMasking | None) -> pa.ChunkedArray:
        if entry is None or entry.kind == "released":
            return column
        if entry.kind == "discretization" and self.intervals != "text":
            return self._interval_column(column, entry)
        marker = entry.marker if entry.kind == "suppression" else SUPPRESSED
        if self.suppressed == marker:
            return column
        if self.suppressed in entry.shown:
            raise TableError(f"column {name!r}: {self.suppressed!r} is a label, so it cannot mark hidden values.")
        encoded = dictionary_of(column)
        shown = [self.suppressed if label == marker else label for label in encoded.dictionary.to_pylist()]
        return _text_column(shown, encoded)

    def _interval_column(self, column: pa.ChunkedArray, entry: Discretization) -> pa.ChunkedArray:
        if self.intervals == "interval":
            raise TableError("intervals = 'interval' is for pandas; other tables have 'bounds', 'midpoint' and 'text'.")
        encoded = dictionary_of(column)
        held = _with_numbers(entry)
        blocks = [held.get(label) for label in encoded.dictionary.to_pylist()]
        shown = _bounds(blocks, entry) if self.intervals == "bounds" else _midpoints(blocks, entry)
        return pa.chunked_array([shown.take(encoded.indices)])


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The labels of an attribute that is refined group by group, each with the places in domain order that it covers.

    Labels overlap: who is a `Clerk` in one group is `Office` in another. A label alone says nothing about others; its
    places do. They are the leaves of a taxonomy, the numbers between neighbouring bounds, or the values that are
    disclosed somewhere and one place for all others. What is left of a node covers the places of the node, at most.
    """

    kind: Literal["generalization", "suppression", "discretization"]
    labels: tuple[str, ...]
    ends: IntArray
    """The first place of each label, and the one after its last."""
    coarse: IntArray
    """The taxonomy labels that others may lie below, apart from the root."""

    @classmethod
    def of(cls, entry: Masked) -> Vocabulary:
        """The vocabulary of an entry of the manifest."""
        coarse = np.zeros(0, dtype=np.int64)
        if entry.kind == "discretization":
            spans = np.array(list(entry.spans.values()))
            ends = np.searchsorted(np.unique(spans), spans)
        elif entry.kind == "suppression":
            shown = np.arange(len(entry.disclosed) + 1)
            ends = np.stack([shown, shown + 1], axis=1)
            ends[-1, 0] = 0
        else:
            place_of = {leaf: place for place, leaf in enumerate(entry.blocks[0].values)}
            first = np.array([place_of[block.values[0]] for block in entry.blocks])
            ends = np.stack([first, first + [len(block.values) for block in entry.blocks]], axis=1)
            inner = [len(block.values) > 1 and not block.rest for block in entry.blocks[1:]]
            coarse = np.flatnonzero(inner) + 1
        return cls(entry.kind, entry.shown, ends, coarse)

    def numbers(self, labels: Sequence[str]) -> IntArray:
        """Which label each text is; −1 for a text that is none."""
        number_of = {label: number for number, label in enumerate(self.labels)}
        return np.array([number_of.get(label, -1) for label in labels], dtype=np.int64)

    @property
    def above(self) -> BoolArray:
        """`[label, label]`: whether the second is the first, or a coarser one that covers it."""
        first, last = self.ends.T
        above: BoolArray = np.eye(len(self.labels), dtype=np.bool_)
        over = self.coarse
        above[:, over] |= (first[:, None] >= first[over]) & (last[:, None] <= last[over])
        return above


def bound_type(entry: Discretization) -> pa.DataType:
    """The type of the bounds of a cut."""
    if entry.unit == "date":
        return pa.date32()
    return pa.int64() if entry.whole else pa.float64()


def _with_numbers(entry: Discretization) -> dict[str, Interval]:
    """The blocks by their labels, without those of missing values only."""
    return {label: block for label, block in entry.intervals.items() if block.numbers is not None}


def _bounds(blocks: list[Interval | None], entry: Discretization) -> pa.Array:
    type_ = pa.struct([("from", bound_type(entry)), ("to", bound_type(entry))])
    # Arrow does not convert an int to a float if the float would not be exact.
    whole = entry.whole
    ends = [None if block is None else (block.from_, block.to) if whole else (block.lo, block.hi) for block in blocks]
    return pa.array([None if pair is None else dict(zip(("from", "to"), pair, strict=True)) for pair in ends], type_)


def _midpoints(blocks: list[Interval | None], entry: Discretization) -> pa.Array:
    middles = [None if block is None else entry.middle(block) for block in blocks]
    if entry.unit == "date":
        return pa.array([None if middle is None else day_of(middle) for middle in middles], pa.date32())
    return pa.array(middles, pa.float64())


def _text_column(shown: list[str | None], encoded: pa.DictionaryArray) -> pa.ChunkedArray:
    """A dictionary of the remaining texts, with null for the others."""
    texts = [text for text in shown if text is not None]
    places = pa.array([None if text is None else texts.index(text) for text in shown], pa.int32())
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(places.take(encoded.indices), pa.array(texts, pa.string()))]
    )


def _pandas_intervals(column: pa.ChunkedArray, entry: Discretization) -> Any:
    """Intervals closed at the left, as the blocks are."""
    import pandas as pd

    encoded = dictionary_of(column)
    blocks = _with_numbers(entry).values()
    place_of = {block.label: place for place, block in enumerate(blocks)}
    places = np.array([place_of.get(label, -1) for label in [*encoded.dictionary.to_pylist(), None]], dtype=np.int64)
    ends = ([block.from_ for block in blocks], [block.to for block in blocks])
    dtype = {"date": "datetime64[us]"}.get(entry.unit, "int64" if entry.whole else "float64")
    left, right = (pd.Index(np.array(bounds, dtype=dtype)) for bounds in ends)
    intervals = pd.arrays.IntervalArray.from_arrays(left, right, closed="left")
    codes = places[encoded.indices.fill_null(len(places) - 1).to_numpy(zero_copy_only=False)]
    return intervals.take(codes, allow_fill=True)
