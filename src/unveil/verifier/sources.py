"""The files of a raw table, read some rows at a time."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from unveil.errors import TableError
from unveil.verifier import batches
from unveil.verifier.columns import is_text
from unveil.verifier.findings import first_line

ENDINGS = frozenset({".csv", ".parquet"})
BLOCK = 1 << 22
"""How many bytes of a csv file are read at a time."""
LONGEST = 1 << 20
"""How many bytes a line may have where each is a row."""


@dataclass(frozen=True)
class RawTable:
    """A csv or parquet file, or a folder of them, whose columns are the same.

    Attributes:
        path: The file or folder.
        files: The files.
        schema: The columns, with types that hold the values of all files.
        by_line: Whether a row of a csv file is a line, and a line that is no row is passed over.
    """

    path: Path
    files: list[Path]
    schema: pa.Schema
    by_line: bool = False

    def batches(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, some rows at a time; first without a row, so that the columns are known.

        Raises:
            TableError: A file cannot be read.
        """
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
    """Finds the files of a table and what their columns hold.

    Raises:
        TableError: The files cannot be read, or do not fit together.
    """
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
    """Engines leave marks such as _SUCCESS in their folders."""
    return sorted(
        file
        for file in folder.rglob("*")
        if ENDINGS & set(file.suffixes) and file.is_file() and not file.name.startswith(("_", "."))
    )


def _is_csv(path: Path) -> bool:
    return ".csv" in path.suffixes


def _fitted(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column in the type that it has in all files; text may come with a dictionary."""
    return column if is_text(column.type) and is_text(kind) else column.cast(kind)


def _parquet_schema(path: Path) -> pa.Schema:
    with pq.ParquetFile(path) as file:
        return pa.schema([pa.field(field.name, _plain(field.type)) for field in file.schema_arrow])


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _parquet_batches(path: Path, names: Sequence[str]) -> Iterator[pa.Table]:
    texts = [field.name for field in _parquet_schema(path) if is_text(field.type)]
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(batches.BATCH, columns=list(names)):
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
    """The same, each line by itself."""
    names, delimiter = _header(path)
    with pa.input_stream(path, compression="detect") as stream:
        lines = (line for ended in io.BufferedReader(stream) for line in ended.splitlines())
        next(lines, None)
        rows = (row for line in lines if (row := _row(line, delimiter)) and len(row) == len(names))
        while some := list(islice(rows, batches.BATCH)):
            yield pa.table([pa.array(column, pa.string()) for column in zip(*some, strict=True)], names=names)


def _row(line: bytes, delimiter: str) -> list[str]:
    """The values of a line; none if it is too long, is not text, or has quotes that do not enclose whole values."""
    try:
        written = line.decode() if len(line) < LONGEST else ""
        mark = re.escape(delimiter)
        if '"' in re.sub(rf'(?<![^{mark}])"(?:[^"]|"")*+"(?![^{mark}])', "", written):
            return []
        return [value.strip() for value in next(csv.reader([written], delimiter=delimiter), [])]
    except (UnicodeDecodeError, csv.Error):
        return []


def _header(path: Path) -> tuple[list[str], str]:
    """The names of the columns of a csv file, and what is between them."""
    with pa.input_stream(path, compression="detect") as stream:
        head = stream.read(1 << 16).decode("utf-8-sig", "replace")
    header = io.StringIO(head, newline=None).readline().rstrip("\n")  # a line may end in CR alone
    delimiter = max(",;\t", key=header.count)
    return [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])], delimiter


def _open_csv(path: Path) -> pa_csv.CSVStreamingReader:
    names, delimiter = _header(path)
    return pa_csv.open_csv(
        path,
        read_options=pa_csv.ReadOptions(column_names=names, skip_rows=1, block_size=BLOCK),
        parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )
