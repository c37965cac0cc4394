"""Tables in memory: pandas, polars and pyarrow, to Arrow and back."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa

from unveil.errors import TableError


def arrow_table(frame: Any, *, alone: bool = False) -> pa.Table:
    """A pandas, polars or pyarrow frame as an Arrow table. The index of a pandas frame is ignored.

    If each value is read `alone`, pandas objects are converted to text one by one.
    """
    try:
        table = _converted(frame, alone)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise TableError(f"table: a column cannot be read: {first_line(error)}.") from error
    check_names(table.column_names, "table")
    return table.replace_schema_metadata(None)


def like(frame: Any, table: pa.Table) -> Any:
    """An Arrow table as a polars frame if one was given."""
    if type(frame).__module__.startswith("polars"):
        import polars

        return polars.from_arrow(table)
    return table


NUMBERS: dict[str, Callable[[Any], Any]] = {"i": int, "u": int, "f": float, "b": bool, "c": complex}
"""Converters from NumPy numbers to Python numbers, by kind."""


class Mixed(pa.ExtensionType):  # type: ignore[misc]
    """The type of a pandas column that Arrow cannot hold: a placeholder without values."""

    def __init__(self) -> None:
        super().__init__(pa.null(), "unveil.mixed")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> Mixed:
        return cls()

    def __str__(self) -> str:
        return "mixed or unknown objects"


def check_names(names: list[str], origin: str) -> None:
    """Column names must be distinct texts."""
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            raise TableError(f"{origin}: the column name {name!r} is not text.")
        if name in seen:
            raise TableError(f"{origin}: the column {name!r} appears twice.")
        seen.add(name)


def value_type(type_: pa.DataType) -> pa.DataType:
    """The type of the values of a column, which may be a dictionary."""
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def is_number(type_: pa.DataType) -> bool:
    """Whether values of a type are numbers."""
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_))


def first_line(error: BaseException) -> str:
    """The first line of a library's message, as part of a sentence."""
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__


def is_pandas(frame: Any) -> bool:
    """Whether a frame is a pandas frame."""
    return type(frame).__module__.startswith("pandas")


def _pandas_table(frame: Any, alone: bool) -> pa.Table:
    """Accepts columns that Arrow cannot hold: they are refused only if they are used."""
    if not alone:
        try:
            return pa.Table.from_pandas(frame, preserve_index=False)
        except (pa.ArrowException, TypeError, ValueError):
            pass
    columns = [_pandas_column(frame.iloc[:, place], alone) for place in range(frame.shape[1])]
    return pa.table(columns, names=list(frame.columns))


def _pandas_column(series: Any, alone: bool) -> pa.Array:
    dense = series.sparse.to_dense() if hasattr(series, "sparse") else series
    if not alone or dense.dtype.kind != "O":
        try:
            return pa.Array.from_pandas(dense)
        except (pa.ArrowException, TypeError, ValueError):
            if not alone:
                return pa.ExtensionArray.from_storage(Mixed(), pa.nulls(len(dense)))
    return pa.array([_object_text(value) for value in dense], pa.string())


def _object_text(value: object) -> str | None:
    """An object as text, like `value_text`, whole numbers without a decimal point; None if it is not a raw value."""
    value = _python_number(value)
    if isinstance(value, float):
        return None if value != value else str(int(value)) if value.is_integer() else repr(float(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | Decimal | datetime.date | datetime.time):
        return None
    try:
        return str(value).encode().decode()
    except ValueError:  # a lone surrogate, or more digits than Python converts
        return None


def _python_number(value: Any) -> Any:
    """A NumPy number, or a complex one that is real, as a Python number; anything else unchanged."""
    kind = value.dtype.kind if getattr(value, "ndim", None) == 0 else ""
    plain = NUMBERS[kind](value) if kind in NUMBERS else value
    return plain.real if isinstance(plain, complex) and plain.imag == 0 else plain


def _converted(frame: Any, alone: bool) -> pa.Table:
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if is_pandas(frame) and hasattr(frame, "columns"):
        check_names(list(frame.columns), "table")
        return _pandas_table(frame, alone)
    if hasattr(frame, "to_arrow"):
        return frame.to_arrow()
    raise TableError(
        f"table: {type(frame).__name__} is not a table; give a path, or a pandas, polars or pyarrow table."
    )
