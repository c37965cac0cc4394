"""Raw values from Arrow to Python: dates from time stamps and text, the type of the class, and derived columns.

Derived columns are computed value by value, so that rows are gone through once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import TableError, did_you_mean, rows_text
from unveil.frames import value_type
from unveil.schema import Derivation, UnfitError, number_of, value_text


def dictionary_of(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """The column as codes into its distinct values, in one piece."""
    if pa.types.is_null(column.type):
        column = pa.chunked_array([pa.nulls(len(column))])  # Arrow cannot unify the dictionaries of several chunks
    try:
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    except (pa.ArrowException, AttributeError) as error:
        raise TableError(f"values of type {column.type} cannot be masked.") from error
    unified = encoded.unify_dictionaries()
    if unified.num_chunks == 1:
        return unified.chunk(0)
    if unified.num_chunks:
        return unified.combine_chunks()
    return pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), pa.array([], unified.type.value_type))


def python_values(values: pa.Array) -> list[Any]:
    """The values as Python objects. Times with nanoseconds become text, because Python has no such type.

    Refuses what Python cannot hold: bytes that are not UTF-8 text, or a date beyond the year 9999.
    """
    type_ = values.type
    if pa.types.is_temporal(type_) and getattr(type_, "unit", None) == "ns":
        try:
            values = values.cast(_microseconds(type_))
        except pa.ArrowInvalid:
            values = values.cast(pa.string())
    try:
        held: list[Any] = values.to_pylist()
    except (ValueError, OverflowError) as error:
        raise TableError(f"a value of type {type_} cannot be read: {error}.") from error
    return held


def single_values(values: pa.Array) -> list[Any]:
    """The same, but each value on its own; None for a value that Python cannot hold."""
    exact = pa.types.is_temporal(values.type) and getattr(values.type, "unit", None) == "ns"
    if len(values) == 1 or not exact:
        try:
            return python_values(values)
        except TableError:
            if len(values) == 1:
                return [None]
    return [single_values(values.slice(place, 1))[0] for place in range(len(values))]


def days(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Time stamps as the days they show, in their own time zone; any other column unchanged."""
    plain = decoded(column)
    if not pa.types.is_timestamp(plain.type):
        return column
    return pc.cast(plain if plain.type.tz is None else pc.local_timestamp(plain), pa.date32())


def date_column(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of dates, from dates, time stamps or text."""
    shown = decoded(days(column))
    if pa.types.is_date(shown.type) or pa.types.is_null(shown.type):
        return shown.cast(pa.date32())
    encoded = dictionary_of(shown)
    values = python_values(encoded.dictionary)
    numbers = [number_of(value, "date") for value in values]
    for value, number in zip(values, numbers, strict=True):
        if number is None:
            raise TableError(f"column {name!r}: {value!r} is not a date.")
    dates = pa.array([int(number or 0) for number in numbers], pa.int32()).cast(pa.date32())
    return pa.chunked_array([dates.take(encoded.indices)])


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values of a dictionary-encoded column; any other column unchanged."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def as_type(column: pa.ChunkedArray, type_: pa.DataType) -> pa.ChunkedArray:
    """The values of a column in another type, those of a dictionary one by one where all of them fit."""
    if not pa.types.is_dictionary(column.type):
        return column.cast(type_)
    try:
        chunks = [part.dictionary.cast(type_).take(part.indices) for part in column.chunks]
    except pa.ArrowInvalid:  # perhaps a value that no row has
        return decoded(column).cast(type_)
    return pa.chunked_array(chunks, type_)


def is_text(type_: pa.DataType) -> bool:
    """Whether a column of this type holds text, including the large type of pandas and polars."""
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def _microseconds(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(type_):
        return pa.timestamp("us", type_.tz)
    return pa.duration("us") if pa.types.is_duration(type_) else pa.time64("us")


ClassType = Literal["text", "integer", "number", "boolean", "date"]
TYPES: dict[ClassType, pa.DataType] = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
}


def class_type(type_: pa.DataType) -> ClassType:
    """What a manifest calls the type of the class."""
    if pa.types.is_boolean(type_):
        return "boolean"
    if pa.types.is_date(type_):
        return "date"
    if pa.types.is_integer(type_):
        return "integer"
    return "number" if pa.types.is_floating(type_) or pa.types.is_decimal(type_) else "text"


def typed_labels(column: pa.ChunkedArray, type_: ClassType) -> pa.ChunkedArray:
    """Class labels of later rows in the type of the release; as text if one of them does not fit."""
    if type_ in TYPES and is_text(value_type(column.type)):
        with suppress(pa.ArrowInvalid):
            return as_type(column, TYPES[type_])
    return decoded(column)


TYPE = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class Derivations:
    """The derived columns of a table, and how rows get them."""

    by_name: Mapping[str, Derivation]
    unread: Collection[str] = ()
    """Columns that are there to derive others from, and that nobody else reads."""
    alone: bool = False
    """Whether a value that nothing can be derived from is missing, instead of an error."""
    place: str = field(default="", kw_only=True)
    """What messages call the rows, followed by a colon and a space."""

    def schema(self, given: pa.Schema) -> pa.Schema:
        """The columns of rows after derivation; refuses rows without a source, or with a derived column already."""
        for name, derivation in self.by_name.items():
            if name in given.names and derivation.from_ != name:
                raise TableError(f"{self.place}the table has a column {name!r} already, so it cannot be derived.")
            if derivation.from_ not in given.names:
                hint = did_you_mean(derivation.from_, given.names) or "."
                raise TableError(
                    f"{self.place}the column {derivation.from_!r}, from which {name!r} is derived, is not in the "
                    f"table{hint}"
                )
        kept = [column for column in given if column.name not in {*self.unread, *self.by_name}]
        return pa.schema([*kept, *(pa.field(name, TYPE) for name in self.by_name)])

    def sources(self, names: Sequence[str]) -> list[str]:
        """The columns to read for some columns."""
        return list(dict.fromkeys(self.by_name[name].from_ if name in self.by_name else name for name in names))

    def rows(self, table: pa.Table, names: Sequence[str]) -> pa.Table:
        """Some columns of rows, derived where the rows do not have them."""
        return pa.table({name: self._column(name, table) for name in names})

    def _column(self, name: str, table: pa.Table) -> pa.ChunkedArray:
        if name not in self.by_name:
            return table[name]
        derivation = self.by_name[name]
        column = days(table[derivation.from_]) if derivation.unit == "date" else table[derivation.from_]
        encoded = dictionary_of(column)
        values = (single_values if self.alone else python_values)(encoded.dictionary)
        texts = (*derivation.values, *(derivation.kept if derivation.names is None else derivation.missing))
        numbers = {text: number for number, text in enumerate(texts)}
        found_texts = (self._of(value, name, column) for value in values)
        places = [None if text is None else numbers[text] for text in found_texts]
        # A null takes a null from the places.
        found = pa.array(places, pa.int32()).take(encoded.indices)
        return pa.chunked_array([pa.DictionaryArray.from_arrays(found, pa.array(texts, pa.string()))])

    def _of(self, value: object, name: str, column: pa.ChunkedArray) -> str | None:
        derivation = self.by_name[name]
        try:
            return derivation.of(value)
        except UnfitError as error:
            if self.alone:
                return None
            encoded = dictionary_of(column)
            held = [entry == value for entry in python_values(encoded.dictionary)]
            rows = int(np.bincount(encoded.indices.drop_null().to_numpy(), minlength=len(held))[held].sum())
            held_by = f"the value {value_text(value)!r} ({rows_text(rows)})"
            raise TableError(
                f"{self.place}column {derivation.from_!r}: {held_by} {error}, so {name!r} cannot be derived from it."
            ) from error
