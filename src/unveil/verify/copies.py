"""Whether the csv file of a release, where there is one, is a copy of its parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from unveil.errors import listed, rows_text
from unveil.verify.batches import first_line, open_files
from unveil.verify.columns import Column, encode
from unveil.verify.data import Data
from unveil.verify.findings import Finding
from unveil.verify.parts import CSV, PARQUET, Claims

BLOCK = 1 << 22
"""How many bytes of the csv file are read at a time."""


@dataclass
class Difference:
    """How the copy of a column differs: the first row that does, and how many do."""

    text: str
    rows: int = 0


def check_copy(folder: Path, manifest: Claims, data: Data) -> Iterator[Finding]:
    """The csv file holds the same rows in the same order as the parquet files, compared some rows at a time."""
    path = folder / CSV
    if CSV not in manifest.files or not path.is_file():
        return
    names = manifest.names
    differences: dict[str, Difference] = {}
    rows = 0
    try:
        with _open_csv(path, data) as copy:
            if copy.schema.names != names:
                yield Finding("copy", f"{CSV} has the columns {listed(copy.schema.names)}, not {listed(names)}.")
                return
            files, _ = open_files(folder, manifest)
            for own, other in side_by_side(files.batches(), (pa.Table.from_batches([batch]) for batch in copy)):
                _compare(own, other, rows, differences)
                rows += other.num_rows
    except (pa.ArrowException, OSError, ValueError) as error:
        yield Finding("copy", f"{CSV} cannot be read as the values of {PARQUET}: {first_line(error)}.")
        return
    if rows != data.rows:
        yield Finding("copy", f"{CSV} has {rows_text(rows)}, but {PARQUET} has {data.rows:,}.")
        return
    for difference in differences.values():
        yield Finding("copy", f"{difference.text} (the column differs in {rows_text(difference.rows)}).")


def side_by_side(one: Iterator[pa.Table], other: Iterator[pa.Table]) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Rows of the same places from two streams; where the first is shorter, the rest of the second beside nothing."""
    left = next(one, None)
    for right in other:
        while right.num_rows:
            while left is not None and left.num_rows == 0:
                left = next(one, None)
            size = right.num_rows if left is None else min(left.num_rows, right.num_rows)
            yield right.slice(0, 0) if left is None else left.slice(0, size), right.slice(0, size)
            left, right = None if left is None else left.slice(size), right.slice(size)


def _open_csv(path: Path, data: Data) -> pa_csv.CSVStreamingReader:
    return pa_csv.open_csv(
        path,
        read_options=pa_csv.ReadOptions(block_size=BLOCK),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(
            column_types={name: column.values.type for name, column in data.columns.items()},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _compare(own: pa.Table, other: pa.Table, before: int, differences: dict[str, Difference]) -> None:
    """Enters how each column of the copy differs; rows that only the copy has are told by their number alone."""
    if own.num_rows < other.num_rows:
        return
    for name in own.column_names:
        column, copy = encode(name, own[name]), encode(name, other[name])
        differs = pc.not_equal(_texts(column), _texts(copy))
        count = pc.sum(differs).as_py()
        if not count:
            continue
        row = differs.index(True).as_py()
        text = f"row {before + row + 1:,} of {CSV} has {copy.text(copy.codes[row])}, but {PARQUET} has "
        difference = differences.setdefault(name, Difference(text + column.text(column.codes[row])))
        difference.rows += count


def _texts(column: Column) -> pa.Array:
    """One text per row. A missing value and an empty text look the same in a csv file."""
    return pc.fill_null(pc.cast(column.values, pa.string()), "").take(pa.array(column.codes))
