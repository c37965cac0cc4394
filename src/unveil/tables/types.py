"""Types of columns: which can be used, and with which type a value leaves that came with one."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa

from unveil.arrays import NumberArray
from unveil.errors import TableError
from unveil.schema import Attribute, number_text, value_text

TIMES = (pa.types.is_date, pa.types.is_time, pa.types.is_timestamp)
TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


def plain_type(type_: pa.DataType) -> pa.DataType:
    """The type of the values: what a dictionary lists, and the usual one where there are several for the same."""
    if pa.types.is_dictionary(type_):
        return plain_type(type_.value_type)
    if any(test(type_) for test in TEXTS):
        return pa.string()
    if pa.types.is_float16(type_):
        return pa.float32()
    return pa.date32() if pa.types.is_date(type_) else type_


def is_usable(type_: pa.DataType) -> bool:
    """Whether values of a type can be compared and written: numbers, truth values, times and text, or none at all."""
    plain = plain_type(type_)
    return bool(
        is_number(plain)
        or pa.types.is_boolean(plain)
        or pa.types.is_null(plain)
        or pa.types.is_string(plain)
        or any(test(plain) for test in TIMES)
    )


def is_number(type_: pa.DataType) -> bool:
    """Whether values of a type are numbers."""
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_))


def number_type(raw: pa.DataType, attribute: Attribute) -> pa.DataType:
    """The type that numbers and dates are released with: their own, where the raw column has one."""
    if attribute.unit == "date":
        return pa.date32()
    plain = plain_type(raw)
    if is_number(plain) and not (attribute.whole and pa.types.is_floating(plain)):
        return plain
    return pa.int64() if attribute.whole else pa.float64()


def number_array(values: NumberArray, type_: pa.DataType) -> pa.Array:
    """Numbers with a type; those of dates count days."""
    if pa.types.is_date32(type_):
        return pa.array(values.astype(np.int32)).cast(type_)
    if pa.types.is_decimal(type_):
        return pa.array([Decimal(number_text(value)) for value in values.tolist()]).cast(type_)
    return pa.array(values).cast(type_)


def label_type(raw: pa.DataType, labels: Sequence[str]) -> pa.DataType:
    """The type that class labels are released with: that of the raw column if each label reads back, else text."""
    plain = plain_type(raw)
    if not (is_number(plain) or pa.types.is_boolean(plain) or pa.types.is_date(plain)):
        return pa.string()
    return plain if _reads_back(labels, plain) else pa.string()


def declared_label_type(labels: Sequence[str]) -> pa.DataType:
    """The type of class labels by their declaration alone, which is public: whole numbers, truth values or text."""
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
        held = type_.value_type if pa.types.is_dictionary(type_) else type_
        columns[name] = table[name] if held == plain else table[name].cast(held).cast(plain)
    return pa.table(columns)


def _check_text(name: str, column: pa.ChunkedArray, origin: str) -> None:
    """A parquet file can hold bytes as text that are none, and nobody could read what is released."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid as error:
        raise TableError(f"{origin}: column {name!r}: a value is not UTF-8 text.") from error
