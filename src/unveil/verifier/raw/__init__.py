"""The owner's raw table, read independently of the code that publishes it: csv and parquet files, and queries."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from unveil.errors import TableError, listed
from unveil.strangers import COUNT, paths_below
from unveil.verifier.claims import Derived, first_line
from unveil.verifier.cuts import derived_columns, missing_mark
from unveil.verifier.data import Column, Counts, encode
from unveil.verifier.files import BATCH
from unveil.verifier.values import is_text, number, plain, text

if TYPE_CHECKING:
    from unveil.schema import Spec

ENDINGS = frozenset({".csv", ".parquet"})
BLOCK = 1 << 25
"""How many bytes of a csv file are read at a time."""
LONGEST = 1 << 20
"""How many bytes a line may have if each line is a row."""
LARGEST_ALONE = 2**31
"""The largest weight if invalid rows are dropped."""
APART = (("enable_external_access", "false"), ("python_enable_replacements", "false"))
"""A query sees only its database."""


@dataclass(frozen=True)
class Raw:
    """Some of the raw rows that a release must represent."""

    columns: dict[str, Column]
    """All columns that a release may show, without the dropped rows."""
    weights: Counts
    """How many records each row represents."""
    read: int
    """How many rows were read."""
    dropped: int
    """How many of them lack a value and are dropped, as the spec says."""

    def where(self, chosen: NDArray[np.bool_]) -> Raw:
        """The chosen rows."""
        columns = {name: column.where(chosen) for name, column in self.columns.items()}
        return Raw(columns, self.weights[chosen], self.read, self.dropped)


def read_raw(spec: Spec) -> Iterator[Raw]:
    """Reads the raw table of a spec in batches, without the rows that the spec says to drop."""
    path = spec.source_path
    weight = spec.table.weight
    described = [name for name, attribute in spec.attributes.items() if attribute.role != "identifier"]
    needed = [*described, spec.table.class_, *([] if weight is None else [weight]), *spec.table.person]
    query = spec.table.query
    table = open_table(path, by_line=spec.table.drops_invalid) if query is None else open_query(path, query)
    derived = derived_of(spec)
    sources = [way.source for way in derived.values()]
    stored = [name for name in needed if name not in derived]
    if absent := [name for name in (*stored, *sources) if name not in table.schema.names]:
        raise TableError(f"{path}: the table has no column {listed(absent)}.")
    names = stored
    if spec.table.others == "release":
        used = {*needed, *spec.attributes, *sources}
        names = [*stored, *(name for name in table.schema.names if name not in used)]
    for batch in table.batches(list(dict.fromkeys((*names, *sources)))):
        columns = {name: _encoded(name, batch[name], path) for name in names}
        columns |= derived_columns(derived, batch, str(path), drops=spec.table.drops_invalid)
        keep = _kept([columns[name] for name in needed], batch.num_rows, spec)
        columns = {name: column.where(keep) for name, column in columns.items()}
        columns |= {name: _named(columns[name], spec) for name in needed if spec.missing_of(name).kinds}
        kept = int(keep.sum())
        weights = np.ones(kept, dtype=np.int64) if weight is None else _weights(columns[weight], path)
        yield Raw(columns, weights, batch.num_rows, batch.num_rows - kept)


def derived_of(spec: Spec) -> dict[str, Derived]:
    """The derivations of a spec, as a manifest would state them."""
    return {name: Derived.model_validate(item.describe()) for name, item in spec.derived.items()}


def _kept(needed: Sequence[Column], rows: int, spec: Spec) -> NDArray[np.bool_]:
    """Which rows the spec does not say to drop."""
    keep = np.ones(rows, dtype=np.bool_)
    for column in needed:
        policy = spec.missing_of(column.name)
        if policy.rows == "drop":
            keep &= ~_without_value(column, policy.values)
        if spec.table.drops_invalid and column.name == spec.table.weight:
            keep &= column.mapped(lambda value: _is_weight(value, LARGEST_ALONE), np.bool_)
    return keep


def _without_value(column: Column, marks: tuple[str, ...]) -> NDArray[np.bool_]:
    return column.mapped(lambda value: missing_mark(value, marks) is not None, np.bool_) | column.missing()


def _named(column: Column, spec: Spec) -> Column:
    """A column in which missing values have their labels; null for a number or a date that is released as it is."""
    policy, attribute = spec.missing_of(column.name), spec.attributes.get(column.name)
    marked = {mark: label for label, marks in policy.kinds for mark in marks}
    null = marked.get("", policy.kinds[0][0])
    bare = attribute is not None and attribute.kind != "category" and column.name not in spec.masked
    words = []
    for value in plain(column.values):
        mark = missing_mark(value, policy.values)
        label = null if text(value) is None else None if mark is None else marked[mark]
        words.append(text(value) if label is None else None if bare else label)
    return Column(column.name, pa.array(words, pa.string()), column.codes)


def _weights(column: Column, path: Path) -> Counts:
    weights = np.zeros(len(column.values), dtype=np.int64)
    for code in np.unique(column.codes):
        value = column.values[int(code)].as_py()
        if not _is_weight(value):
            raise TableError(f"{path}: {column.text(int(code))} is a weight, but not a whole number above 0.")
        weights[code] = int(number(value) or 0)
    rows: Counts = weights[column.codes]
    return rows


def _is_weight(value: Any, most: int = COUNT) -> bool:
    records = number(value)
    return records is not None and 1 <= records <= most and records == int(records)


def _encoded(name: str, column: pa.ChunkedArray, path: Path) -> Column:
    try:
        return encode(name, column)
    except pa.ArrowException as error:
        message = f"{path}: the column {name!r} holds {column.type}, which cannot be compared."
        raise TableError(message) from error


@dataclass(frozen=True)
class RawTable:
    """A csv or parquet file, or a folder of them, whose columns are the same."""

    path: Path
    files: list[Path]
    schema: pa.Schema
    """The columns, with types that hold the values of all files."""
    by_line: bool = False
    """Whether each line of a csv file is a row, and a line that is not one is skipped."""

    def batches(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """These columns in batches; the first is empty, so that the columns are known."""
        wanted = pa.schema([self.schema.field(name) for name in names])
        yield wanted.empty_table()
        for file in self.files:
            with _reading(self.path):
                for batch in self._batches(file, names):
                    yield pa.table({name: _fitted(batch[name], wanted.field(name).type) for name in names})

    def _batches(self, file: Path, names: Sequence[str]) -> Iterator[pa.Table]:
        if not _is_csv(file):
            return _parquet_batches(file, names)
        return _line_batches(file) if self.by_line else _csv_batches(file)


def open_table(path: Path, *, by_line: bool = False) -> RawTable:
    """Finds the files of a table and what their columns hold; refuses files that do not fit together."""
    files = _files_in(path) if path.is_dir() else [path]
    if not files:
        raise TableError(f"{path}: the folder holds no .csv or .parquet file.")
    with _reading(path):
        schemas = [_csv_schema(file, by_line) if _is_csv(file) else _parquet_schema(file) for file in files]
        return RawTable(path, files, pa.unify_schemas(schemas, promote_options="permissive"), by_line)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, csv.Error) as error:
        raise TableError(f"{path}: the table cannot be read: {first_line(error)}.") from error


def _files_in(folder: Path) -> list[Path]:
    """The files of a folder; engines leave marks such as _SUCCESS there."""
    try:
        return sorted(
            file
            for file in paths_below(folder)
            if ENDINGS & set(file.suffixes) and file.is_file() and not file.name.startswith(("_", "."))
        )
    except OSError as error:
        raise TableError(f"{error.filename}: the folder cannot be read: {first_line(error)}.") from error


def _is_csv(path: Path) -> bool:
    return ".csv" in path.suffixes


def _fitted(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column in the type that it has in all files; text may keep its dictionary."""
    return column if is_text(column.type) and is_text(kind) else column.cast(kind)


def _parquet_schema(path: Path) -> pa.Schema:
    with pq.ParquetFile(path) as file:
        return pa.schema([pa.field(field.name, _value_type(field.type)) for field in file.schema_arrow])


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _parquet_batches(path: Path, names: Sequence[str]) -> Iterator[pa.Table]:
    texts = [field.name for field in _parquet_schema(path) if is_text(field.type)]
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(BATCH, columns=list(names)):
            yield pa.Table.from_batches([batch])


def _csv_schema(path: Path, by_line: bool) -> pa.Schema:
    if by_line:
        return pa.schema([(name, pa.string()) for name in _header(path)[0]])
    with _open_csv(path) as reader:
        return reader.schema


def _csv_batches(path: Path) -> Iterator[pa.Table]:
    """All columns as text without surrounding spaces."""
    with _open_csv(path) as reader:
        for batch in reader:
            yield pa.table([pc.utf8_trim_whitespace(column) for column in batch.columns], names=batch.schema.names)


def _line_batches(path: Path) -> Iterator[pa.Table]:
    """The same, line by line."""
    names, delimiter = _header(path)
    with pa.input_stream(path, compression="detect") as stream:
        lines = (line for ended in io.BufferedReader(stream) for line in ended.splitlines())
        next(lines, None)
        rows = (row for line in lines if (row := _row(line, delimiter)) and len(row) == len(names))
        while some := list(islice(rows, BATCH)):
            yield pa.table([pa.array(column, pa.string()) for column in zip(*some, strict=True)], names=names)


def _row(line: bytes, delimiter: str) -> list[str]:
    """The values of a line; empty if it is too long, is not text, or has quotes that do not enclose whole values."""
    try:
        written = line.decode() if len(line) < LONGEST else ""
        mark = re.escape(delimiter)
        if '"' in re.sub(rf'(?<![^{mark}])"(?:[^"]|"")*+"(?![^{mark}])', "", written):
            return []
        return [value.strip() for value in next(csv.reader([written], delimiter=delimiter), [])]
    except (UnicodeDecodeError, csv.Error):
        return []


def _header(path: Path) -> tuple[list[str], str]:
    """The names of the columns of a csv file, and its delimiter."""
    with pa.input_stream(path, compression="detect") as stream:
        head = stream.read(1 << 16).decode("utf-8-sig", "replace")
    header = io.StringIO(head, newline=None).readline().rstrip("\n")  # a line may end in CR alone
    delimiter = max(",;\t", key=header.count)
    return [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])], delimiter


def _open_csv(path: Path) -> pa_csv.CSVStreamingReader:
    names, delimiter = _header(path)
    return pa_csv.open_csv(
        _Ended(path),
        read_options=pa_csv.ReadOptions(column_names=names, skip_rows=1, block_size=BLOCK),
        parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )


class _Ended(io.RawIOBase):
    """A file in blocks that end where a line does: Arrow loses the second half of a line break between two blocks."""

    def __init__(self, path: Path) -> None:
        self._file = io.BufferedReader(pa.input_stream(path, compression="detect"))

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size // 2) + self._file.readline(size // 2)

    def close(self) -> None:
        self._file.close()
        super().close()


@dataclass(frozen=True)
class RawQuery:
    """The result of a query. The database is opened read-only, and the query must be a single SELECT."""

    path: Path
    query: str
    schema: pa.Schema
    """The columns of the result."""

    def batches(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """These columns in batches; the first is empty, so that the columns are known."""
        yield pa.schema([self.schema.field(name) for name in names]).empty_table()
        with _answer(self.path, self.query) as answer:
            for batch in answer:
                yield pa.Table.from_batches([batch]).select(names).replace_schema_metadata(None)


def open_query(path: Path, query: str) -> RawQuery:
    """Finds the columns of a query."""
    with _answer(path, query) as answer:
        return RawQuery(path, query, answer.schema.remove_metadata())


@contextmanager
def _answer(path: Path, query: str) -> Iterator[Any]:
    try:
        import duckdb
    except ImportError as error:
        raise TableError(f"{path}: a query needs DuckDB, which is not installed.") from error
    if not path.is_file():
        raise TableError(f"{path}: there is no such database file.")
    try:
        if [statement.type.name for statement in duckdb.extract_statements(query)] != ["SELECT"]:
            raise TableError(f"{path}: the query is not a single SELECT.")
        with duckdb.connect(str(path), read_only=True, config=dict(APART)) as database:
            database.execute("set TimeZone = 'UTC'")
            yield database.sql(query).to_arrow_reader(BATCH)
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise TableError(f"{path}: the query cannot be answered: {first_line(error)}.") from error
