"""Reading tables: csv and parquet, a file or a folder, and the frames people hold in memory."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from unveil.errors import TableError
from unveil.frames import arrow_table, check_names, first_line

TEXT = pa.dictionary(pa.int32(), pa.string())


def read_table(source: Any) -> tuple[pa.Table, str]:
    """Reads a table and says what error messages call it.

    Args:
        source: A path to a csv or parquet file or to a folder of them, or a pandas, polars or pyarrow table.

    Returns:
        The columns as Arrow reads them; those of a csv file are text without surrounding spaces.
    """
    if isinstance(source, str | Path):
        path = Path(source)
        return _read_path(path), path.name
    return arrow_table(source), "table"


def _read_path(path: Path) -> pa.Table:
    if not path.exists():
        raise TableError(f"{path}: there is no such file or folder.")
    if path.is_dir():
        return _read_folder(path)
    suffixes = path.suffixes
    try:
        if ".parquet" in suffixes:
            table = _read_parquet(path)
        elif ".csv" in suffixes:
            table = _read_csv(path)
        else:
            raise TableError(f"{path}: a table ends in .csv or .parquet, but this is {path.suffix or 'bare'!r}.")
    except (pa.ArrowException, OSError, UnicodeDecodeError, csv.Error) as error:
        raise TableError(f"{path}: the table cannot be read: {first_line(error)}.") from error
    check_names(table.column_names, path.name)
    return table.replace_schema_metadata(None)


def _read_folder(folder: Path) -> pa.Table:
    """A folder of parquet (or csv) files, in the order of their names; marks such as `_SUCCESS` are passed over."""
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(("_", ".")) and {".parquet", ".csv"} & set(path.suffixes)
    )
    if not files:
        raise TableError(f"{folder}: the folder holds no .parquet or .csv file.")
    tables = [_read_path(file) for file in files]
    for file, table in zip(files, tables, strict=True):
        if set(table.column_names) != set(tables[0].column_names):
            odd = sorted(set(table.column_names) ^ set(tables[0].column_names))[0]
            raise TableError(f"{file}: the column {odd!r} is not in every file of the folder.")
    try:
        return pa.concat_tables(
            [table.select(tables[0].column_names) for table in tables], promote_options="permissive"
        )
    except pa.ArrowException as error:
        raise TableError(f"{folder}: the files do not fit together: {first_line(error)}.") from error


def _read_parquet(path: Path) -> pa.Table:
    """Text comes as a dictionary, as it is stored, so that each distinct value is looked at once."""
    schema = pa.parquet.read_schema(path)
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    return pa.parquet.ParquetFile(path, read_dictionary=texts).read()


def _read_csv(path: Path) -> pa.Table:
    """Every column as text, so that a value means what it says and missing marks are the spec's business."""
    with pa.input_stream(path, compression="detect") as stream:
        head = io.TextIOWrapper(io.BytesIO(stream.read(1 << 16)), encoding="utf-8-sig", errors="replace")
        header = head.readline()
    if not header.strip():
        raise TableError(f"{path}: the file is empty.")
    delimiter = max(",;\t", key=header.count)
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter))]
    check_names(names, path.name)
    table = pa.csv.read_csv(
        path,
        read_options=pa.csv.ReadOptions(column_names=names, skip_rows=1, block_size=1 << 22),
        parse_options=pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(names, TEXT), strings_can_be_null=False, null_values=[]
        ),
    )
    return pa.table({name: _trimmed(table[name]) for name in names})


def _trimmed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    unified = column.unify_dictionaries()
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, pc.utf8_trim_whitespace(chunk.dictionary))
        for chunk in unified.chunks
    ]
    return pa.chunked_array(chunks, type=TEXT)
