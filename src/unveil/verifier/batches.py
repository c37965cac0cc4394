"""The data files of a release: one, or parts in the order of their names, read some rows at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from unveil.errors import listed
from unveil.verifier.columns import is_number, is_text
from unveil.verifier.findings import BrokenClaimError, Finding, first_line
from unveil.verifier.parquet import check_parquet
from unveil.verifier.parts import MANIFEST, PARQUET, Claims, Holds

BATCH = 1 << 18
"""How many rows are looked at at a time. Memory grows with it, and not with the rows of the release."""
TYPES: dict[Holds, tuple[Callable[[pa.DataType], bool], str]] = {
    "labels": (is_text, "text"),
    "text": (is_text, "text"),
    "integers": (pa.types.is_integer, "whole numbers"),
    "booleans": (pa.types.is_boolean, "truth values"),
    "dates": (pa.types.is_date32, "dates"),
    "numbers": (is_number, "numbers"),
    "counts": (pa.types.is_int64, "64-bit whole numbers"),
    "anything": (lambda _: True, "anything"),
}
"""Which types hold what a column is said to hold."""


@dataclass(frozen=True)
class DataFiles:
    """The files that hold the rows.

    Attributes:
        folder: The release folder.
        names: The files in order, as the manifest lists them.
        schema: The columns of all of them. Text comes with the dictionaries of the files, to see whether they hold
            more than the rows do.
    """

    folder: Path
    names: tuple[str, ...]
    schema: pa.Schema

    def batches(self) -> Iterator[pa.Table]:
        """The rows in order, some at a time.

        Raises:
            BrokenClaimError: A file cannot be read.
        """
        for name in self.names:
            try:
                yield from _batches(self.folder / name, self.schema)
            except (pa.ArrowException, OSError, ValueError) as error:
                raise _unreadable(name, error) from error


def open_files(folder: Path, manifest: Claims) -> tuple[DataFiles, list[Finding]]:
    """Walks over the files, and looks at what they say of themselves.

    Returns:
        The files, and findings about parts that are not needed.

    Raises:
        BrokenClaimError: A file cannot be read or has another form than that of a release, or the columns are not
            those of the manifest.
    """
    if twice := next((name for name, count in Counter(manifest.names).items() if count > 1), None):
        raise BrokenClaimError([Finding("columns", f"{MANIFEST} has the column {twice!r} in two roles.")])
    names = tuple(sorted(manifest.part_names)) or (PARQUET,)
    beside: list[Finding] = []
    schemas = []
    for name in names:
        check_parquet(folder, name)
        try:
            schema, rows = _described(folder / name)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _unreadable(name, error) from error
        schemas.append(schema)
        if rows == 0 and manifest.part_names:
            beside.append(Finding("parts", f"{name} holds no rows, but a part without rows is not written."))
    for name, schema in zip(names, schemas, strict=True):
        if wrong := list(_column_findings(name, schema, schemas[0], manifest)):
            raise BrokenClaimError([*beside, *wrong])
    return DataFiles(folder, names, schemas[0]), beside


def _unreadable(name: str, error: BaseException) -> BrokenClaimError:
    return BrokenClaimError([Finding("data-file", f"{name} cannot be read: {first_line(error)}.")])


def _described(path: Path) -> tuple[pa.Schema, int]:
    """The columns of a file, and how many rows it says it has."""
    with pq.ParquetFile(path) as file:
        texts = [field.name for field in file.schema_arrow if is_text(field.type)]
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        return file.schema_arrow.remove_metadata(), file.metadata.num_rows


def _batches(path: Path, schema: pa.Schema) -> Iterator[pa.Table]:
    texts = [field.name for field in schema if is_text(field.type)]
    # Not by way of a data set, which would make columns of folder names such as k=5.
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(BATCH):
            table = pa.Table.from_batches([batch]).replace_schema_metadata(None)
            table.validate(full=True)
            yield table.cast(schema)


def _column_findings(file: str, schema: pa.Schema, first: pa.Schema, manifest: Claims) -> Iterator[Finding]:
    """The columns stand as the manifest says, hold text where they hold labels, and are the same in all parts."""
    names = manifest.names
    if schema.names != names:
        yield Finding("columns", f"{file} has the columns {listed(schema.names)}; {MANIFEST} says {listed(names)}.")
    else:
        for name, holds in manifest.columns:
            found, expected = schema.field(name).type, first.field(name).type
            fits, noun = TYPES[holds]
            if not fits(found):
                yield Finding("columns", f"{file}: the column {name!r} holds {found}, not {noun}.")
            elif found != expected:
                yield Finding("columns", f"{file}: the column {name!r} holds {found}, but the first part {expected}.")
