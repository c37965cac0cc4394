"""The type of the class: its name in a manifest, and the conversion of later rows to it."""

from __future__ import annotations

from typing import Literal

import pyarrow as pa

from unveil.masking.values import decoded, is_text

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
    plain = decoded(column)
    if type_ not in TYPES or not is_text(plain.type):
        return plain
    try:
        return plain.cast(TYPES[type_])
    except pa.ArrowInvalid:
        return plain
