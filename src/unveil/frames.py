"""Tables that people hold in memory: pandas, polars and pyarrow, to Arrow and back."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from unveil.errors import TableError


def arrow_table(frame: Any) -> pa.Table:
    """A frame as an Arrow table. The index of a pandas frame is no column and plays no part."""
    try:
        table = _converted(frame)
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


class Mixed(pa.ExtensionType):  # type: ignore[misc]
    """The type of a pandas column that Arrow cannot hold. It stands in for the values until somebody asks for them."""

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
            raise TableError(f"{origin}: the column {name!r} stands twice.")
        seen.add(name)


def first_line(error: BaseException) -> str:
    """What a library said, as a clause of a sentence."""
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__


def is_pandas(frame: Any) -> bool:
    """Whether a frame is one of pandas."""
    return type(frame).__module__.startswith("pandas")


def _pandas_table(frame: Any) -> pa.Table:
    """A column that Arrow cannot hold need not matter: it is refused where it is used, and not here."""
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError):
        columns = [_pandas_column(frame.iloc[:, place]) for place in range(frame.shape[1])]
        return pa.table(columns, names=list(frame.columns))


def _pandas_column(series: Any) -> pa.Array:
    dense = series.sparse.to_dense() if hasattr(series, "sparse") else series
    try:
        return pa.Array.from_pandas(dense)
    except (pa.ArrowException, TypeError, ValueError):
        return pa.ExtensionArray.from_storage(Mixed(), pa.nulls(len(dense)))


def _converted(frame: Any) -> pa.Table:
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if is_pandas(frame) and hasattr(frame, "columns"):
        check_names(list(frame.columns), "table")
        return _pandas_table(frame)
    if hasattr(frame, "to_arrow"):
        return frame.to_arrow()
    raise TableError(f"table: {type(frame).__name__} is no table; give a path, or a pandas, polars or pyarrow table.")
