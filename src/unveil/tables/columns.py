"""Columns as they come: their types, and which distinct raw values they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import Array, BoolArray, IntArray, NumberArray
from unveil.errors import TableError, rows_text
from unveil.frames import is_number, value_type
from unveil.masking import dictionary_of, python_values, single_values
from unveil.schema import AFTER_ALL, Attribute, Missing, number_text, value_text

Codes = np.ndarray[Any, np.dtype[np.int32]]
MISSING = -1
TIMES = (pa.types.is_date, pa.types.is_time, pa.types.is_timestamp)
TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


@dataclass(frozen=True)
class RawColumn:
    """Distinct raw values and, per row, which of them it holds.

    A row holds an entry of Arrow's dictionary, and an entry a value. Whatever a value is to become is looked up for
    the entries, which are few, so that rows are gone through once.
    """

    name: str
    distinct: tuple[Any, ...]
    entries: Codes
    """The entry that each row holds."""
    place_of: Codes
    """The place of each entry's value among the distinct ones, or that it is missing."""
    type: pa.DataType

    @property
    def places(self) -> Codes:
        """The place of the value that each row holds, or that it is missing."""
        return self.place_of[self.entries]

    @property
    def missing(self) -> BoolArray:
        """Which rows hold no value."""
        gone: BoolArray = self.place_of == MISSING
        return gone[self.entries]

    def rows(self) -> IntArray:
        """How many rows hold each entry."""
        return np.bincount(self.entries, minlength=len(self.place_of))


def followed(places: Codes, numbers: Array) -> Array:
    """The number at each place; none at the place of what is missing."""
    # Where it is missing, the place is -1: the last.
    return np.append(numbers, np.int32(MISSING))[places]


Check = Callable[[RawColumn], list[int]]
"""The places of the distinct values that do not belong to a column."""


def raw_column(name: str, column: pa.ChunkedArray, missing: Missing, origin: str, *, alone: bool = False) -> RawColumn:
    """Finds the distinct values of a column and its missing ones: nulls, NaN and the owner's marks.

    If the owner keeps what is missing, it becomes its label here, and is a value like any other from here on. If each
    value is read `alone`, one that cannot be read is dropped.
    """
    if not is_usable(column.type) and not pa.types.is_duration(column.type):
        raise TableError(f"{origin}: column {name!r}: values of type {column.type} cannot be used.")
    encoded = dictionary_of(column)
    try:
        distinct = single_values(encoded.dictionary) if alone else python_values(encoded.dictionary)
    except TableError as error:
        raise TableError(f"{origin}: column {name!r}: {error}") from error
    entries = encoded.indices.cast(pa.int32())
    if entries.null_count:
        entries, distinct = entries.fill_null(len(distinct)), [*distinct, None]
    if not alone:
        _check_apart(name, missing, distinct, entries, origin)
    as_is = not pa.types.is_floating(encoded.dictionary.type) and missing.spares(distinct)
    read = distinct if as_is else list(map(missing.reader(), distinct))
    known = dict.fromkeys(read)
    values = tuple(known) if as_is else tuple(value for value in known if value is not None)
    place_of = np.arange(len(read), dtype=np.int32)
    if len(values) < len(read):  # some are missing, or two are read as the same
        number_of = {value: number for number, value in enumerate(values)}
        place_of = np.array([number_of.get(value, MISSING) for value in read], dtype=np.int32)
    return RawColumn(name, values, entries.to_numpy(), place_of, column.type)


def _check_apart(name: str, missing: Missing, distinct: Sequence[Any], entries: pa.Array, origin: str) -> None:
    """Refuses a value that is called like a missing one: a release could not tell them apart."""
    for label in missing.labels:
        if label not in missing.values and label in distinct:
            rows = rows_text(pc.sum(pc.equal(entries, distinct.index(label))).as_py() or 0)
            raise TableError(
                f"{origin}: column {name!r}: the value {label!r} ({rows}) is also the label of a missing value; list "
                "it as a text that means a missing value, or give missing values another label."
            )


def checked_column(
    name: str, column: pa.ChunkedArray, missing: Missing, origin: str, checks: Mapping[str, Check]
) -> RawColumn:
    """The distinct values of a column; those that its check finds are missing."""
    if name not in checks:
        return raw_column(name, column, missing, origin)
    raw = raw_column(name, column, missing, origin, alone=True)
    wrong = checks[name](raw)
    if not wrong:
        return raw
    held = np.delete(np.arange(len(raw.distinct)), wrong)
    numbers = np.full(len(raw.distinct), MISSING, dtype=np.int32)
    numbers[held] = np.arange(len(held))
    return replace(raw, distinct=tuple(raw.distinct[place] for place in held), place_of=followed(raw.place_of, numbers))


def plain_type(type_: pa.DataType) -> pa.DataType:
    """The type of the values: that of a dictionary's values, and the usual one of several equivalent types."""
    if pa.types.is_dictionary(type_):
        return plain_type(type_.value_type)
    if any(test(type_) for test in TEXTS):
        return pa.string()
    if pa.types.is_float16(type_):
        return pa.float32()
    return pa.date32() if pa.types.is_date(type_) else type_


def is_usable(type_: pa.DataType) -> bool:
    """Whether values of a type can be compared and written: numbers, booleans, times, text, or only nulls."""
    plain = plain_type(type_)
    return any(test(plain) for test in (is_number, pa.types.is_boolean, pa.types.is_null, pa.types.is_string, *TIMES))


def number_type(raw: pa.DataType, attribute: Attribute) -> pa.DataType:
    """The type in which numbers and dates are released: that of the raw column if it has one."""
    if attribute.unit == "date":
        return pa.date32()
    plain = plain_type(raw)
    if is_number(plain) and not (attribute.whole and pa.types.is_floating(plain)):
        return plain
    return pa.int64() if attribute.whole else pa.float64()


def number_array(values: NumberArray, type_: pa.DataType) -> pa.Array:
    """Numbers in a type; dates come as days, and what is missing becomes null."""
    gone = values >= AFTER_ALL
    held = np.where(gone, 0, values)
    if pa.types.is_date32(type_):
        return pa.array(held.astype(np.int32), mask=gone).cast(type_)
    if pa.types.is_decimal(type_):
        numbers = zip(held.tolist(), gone.tolist(), strict=True)
        return pa.array([None if none else Decimal(number_text(number)) for number, none in numbers]).cast(type_)
    return pa.array(held, mask=gone).cast(type_)


def label_type(raw: pa.DataType, labels: Sequence[str]) -> pa.DataType:
    """The type in which class labels are released: that of the raw column if each label reads back, else text."""
    plain = plain_type(raw)
    if not (is_number(plain) or pa.types.is_boolean(plain) or pa.types.is_date(plain)):
        return pa.string()
    return plain if _reads_back(labels, plain) else pa.string()


def declared_label_type(labels: Sequence[str]) -> pa.DataType:
    """The type of class labels by their declaration alone, which is public: whole numbers, booleans or text."""
    return next((type_ for type_ in (pa.int64(), pa.bool_()) if _reads_back(labels, type_)), pa.string())


def _reads_back(labels: Sequence[str], type_: pa.DataType) -> bool:
    """Whether every label is the text of one value of the type, and no other label is."""
    try:
        values = pa.array(labels, pa.string()).cast(type_).to_pylist()
    except pa.ArrowException:
        return False
    return len(set(values)) == len(labels) and [value_text(value) for value in values] == list(labels)


def other_columns(table: pa.Table, origin: str) -> pa.Table:
    """Columns that are released as they are, each with a type that a file can hold."""
    columns = {}
    for name in table.column_names:
        type_ = table.schema.field(name).type
        if not is_usable(type_):
            raise TableError(
                f"{origin}: column {name!r}: values of type {type_} cannot be released as they are; describe it as "
                "an identifier, or set [table] others to 'drop'."
            )
        plain = plain_type(type_)
        if pa.types.is_string(plain):
            _check_text(name, table[name], origin)
        held = value_type(type_)
        columns[name] = table[name] if held == plain else table[name].cast(held).cast(plain)
    return pa.table(columns)


def _check_text(name: str, column: pa.ChunkedArray, origin: str) -> None:
    """Refuses text in a parquet file that is not UTF-8, which no reader of the release could read."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid as error:
        raise TableError(f"{origin}: column {name!r}: a value is not UTF-8 text.") from error
