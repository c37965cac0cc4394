"""Raw values from Arrow to Python, and dates from time stamps and text."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import TableError
from unveil.schema import number_of


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

    Raises:
        TableError: Python cannot hold a value: bytes that are not UTF-8 text, or a date beyond the year 9999.
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


def is_text(type_: pa.DataType) -> bool:
    """Whether a column of this type holds text, including the large type of pandas and polars."""
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def _microseconds(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(type_):
        return pa.timestamp("us", type_.tz)
    return pa.duration("us") if pa.types.is_duration(type_) else pa.time64("us")
