"""The owner's raw table, read apart from the code that publishes it: plain rules, one after the other."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from unveil.errors import TableError, listed
from unveil.schema import Spec
from unveil.verify.columns import Column, Counts, encode, missing
from unveil.verify.data import LARGEST_WEIGHT, first_line

ENDINGS = frozenset({".csv", ".parquet"})
APART = (("enable_external_access", "false"), ("python_enable_replacements", "false"))
"""A query sees its database alone."""
COARSER = {pa.time64("ns"): pa.time64("us"), pa.duration("ns"): pa.duration("us")}
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Raw:
    """The raw rows that a release must stand for.

    Attributes:
        columns: All columns that a release may show, without the dropped rows.
        weights: How many records each row stands for.
        read: How many rows the table has.
        dropped: How many of them lack a value and fall away by the owner's policy.
    """

    columns: dict[str, Column]
    weights: Counts
    read: int
    dropped: int


def read_raw(spec: Spec) -> Raw:
    """Reads the raw table of a spec and drops the rows that the spec says to drop.

    Raises:
        TableError: The table cannot be read, or lacks a column that the spec describes.
    """
    path = spec.source_path
    table = _read_path(path) if spec.table.query is None else _read_query(path, spec.table.query)
    weight = spec.table.weight
    described = [name for name, attribute in spec.attributes.items() if attribute.role != "identifier"]
    needed = [*described, spec.table.class_, *([] if weight is None else [weight])]
    if absent := [name for name in needed if name not in table.column_names]:
        raise TableError(f"{path}: the table has no column {listed(absent)}.")
    names = needed
    if spec.table.others == "release":
        names = [*needed, *(name for name in table.column_names if name not in {*needed, *spec.attributes})]
    columns = {name: _encoded(name, table[name], path) for name in names}
    keep = np.ones(table.num_rows, dtype=np.bool_)
    if spec.table.missing.rows == "drop":
        for name in needed:
            keep &= ~_without_value(columns[name], spec.table.missing.values)
    columns = {name: Column(name, column.values, column.codes[keep]) for name, column in columns.items()}
    kept = int(keep.sum())
    weights = np.ones(kept, dtype=np.int64) if weight is None else _weights(columns[weight], path)
    return Raw(columns, weights, table.num_rows, table.num_rows - kept)


def plain(values: pa.Array) -> list[Any]:
    """Arrow values as Python values; as text where Python has no such value: a time exact to the nanosecond."""
    kind = values.type
    coarse = pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) else COARSER.get(kind, kind)
    try:
        return list(pc.cast(values, coarse).to_pylist())
    except pa.ArrowException:
        return list(pc.cast(values, pa.string()).to_pylist())


def text(value: Any) -> str | None:
    """A raw value as text; None if it is missing."""
    if value is None or value != value:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def number(value: Any) -> int | float | None:
    """A raw value as a finite number; None if it is none."""
    if isinstance(value, str):
        value = value.strip()
        if not NUMBER.fullmatch(value):
            return None
        value = int(value) if value.lstrip("+-").isdigit() else float(value)
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return value


def _without_value(column: Column, marks: tuple[str, ...]) -> NDArray[np.bool_]:
    marked = np.array([value in marks for value in plain(column.values)], dtype=np.bool_)
    rows: NDArray[np.bool_] = (marked | missing(column.values))[column.codes]
    return rows


def _weights(column: Column, path: Path) -> Counts:
    weights = np.zeros(len(column.values), dtype=np.int64)
    for code in np.unique(column.codes):
        value = number(column.values[int(code)].as_py())
        if value is None or not 1 <= value <= LARGEST_WEIGHT or value != int(value):
            raise TableError(f"{path}: {column.text(int(code))} is a weight, but not a whole number above 0.")
        weights[code] = int(value)
    rows: Counts = weights[column.codes]
    return rows


def _encoded(name: str, column: pa.ChunkedArray, path: Path) -> Column:
    try:
        return encode(name, column)
    except pa.ArrowException as error:
        message = f"{path}: the column {name!r} holds {column.type}, which cannot be compared."
        raise TableError(message) from error


def _read_path(path: Path) -> pa.Table:
    """A csv or parquet file, or a folder of them."""
    if path.is_dir():
        # Engines leave marks such as _SUCCESS in their folders.
        files = sorted(
            file
            for file in path.rglob("*")
            if ENDINGS & set(file.suffixes) and file.is_file() and not file.name.startswith(("_", "."))
        )
    else:
        files = [path]
    try:
        tables = [_read_file(file) for file in files]
        if not tables:
            raise TableError(f"{path}: the folder holds no .csv or .parquet file.")
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowException, OSError, ValueError, csv.Error) as error:
        raise TableError(f"{path}: the table cannot be read: {first_line(error)}.") from error


def _read_query(path: Path, query: str) -> pa.Table:
    """What a database gives for a query. It is opened to be read, and only a single SELECT is put to it."""
    try:
        import duckdb
    except ImportError as error:
        raise TableError(f"{path}: a query can only be put to a database where DuckDB is installed.") from error
    if not path.is_file():
        raise TableError(f"{path}: there is no such database file.")
    try:
        if [statement.type.name for statement in duckdb.extract_statements(query)] != ["SELECT"]:
            raise TableError(f"{path}: the query is not a single SELECT.")
        with duckdb.connect(str(path), read_only=True, config=dict(APART)) as database:
            database.execute("set TimeZone = 'UTC'")
            table = database.sql(query).to_arrow_table()
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise TableError(f"{path}: the query cannot be answered: {first_line(error)}.") from error
    return table.replace_schema_metadata(None)


def _read_file(path: Path) -> pa.Table:
    if ".csv" in path.suffixes:
        return _read_csv(path)
    with pq.ParquetFile(path) as file:
        table = file.read()
    return table.replace_schema_metadata(None)


def _read_csv(path: Path) -> pa.Table:
    """All columns as text without surrounding spaces."""
    with pa.input_stream(path, compression="detect") as stream:
        head = stream.read(1 << 16).decode("utf-8-sig", "replace")
    header = io.StringIO(head).readline().rstrip("\r\n")
    delimiter = next((mark for mark in ",;\t" if mark in header), ",")
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    table = pa_csv.read_csv(
        path,
        read_options=pa_csv.ReadOptions(column_names=names, skip_rows=1),
        parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )
    return pa.table([pc.utf8_trim_whitespace(column) for column in table.columns], names=names)
