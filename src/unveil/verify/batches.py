"""The data files of a release: one, or parts in the order of their names, read some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from unveil.errors import listed
from unveil.verify.columns import is_number, is_text
from unveil.verify.findings import BrokenClaimError, Finding
from unveil.verify.parts import MANIFEST, PARQUET, Claims, Holds

ARROW_SCHEMA = b"ARROW:schema"
FIELD_NUMBER = b"PARQUET:field_id"
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
    """Looks at what the files say of themselves, without their rows.

    Returns:
        The files, and findings about what they carry beside their rows.

    Raises:
        BrokenClaimError: A file cannot be read, or the columns are not those of the manifest.
    """
    names = tuple(sorted(manifest.part_names)) or (PARQUET,)
    beside: list[Finding] = []
    schemas = []
    for name in names:
        try:
            schema, keys, rows = _described(folder / name)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _unreadable(name, error) from error
        schemas.append(schema)
        beside += _metadata_findings(name, keys)
        if rows == 0 and manifest.part_names:
            beside.append(Finding("parts", f"{name} holds no rows, but a part without rows is not written."))
    for name, schema in zip(names, schemas, strict=True):
        if wrong := list(_column_findings(name, schema, schemas[0], manifest)):
            raise BrokenClaimError([*beside, *wrong])
    return DataFiles(folder, names, schemas[0]), beside


def first_line(error: BaseException) -> str:
    """What a reader says went wrong, as a clause of a sentence."""
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__


def _unreadable(name: str, error: BaseException) -> BrokenClaimError:
    return BrokenClaimError([Finding("data-file", f"{name} cannot be read: {first_line(error)}.")])


def _described(path: Path) -> tuple[pa.Schema, set[bytes], int]:
    """The columns of a file, the keys of its metadata, and how many rows it says it has."""
    with pq.ParquetFile(path) as file:
        texts = [field.name for field in file.schema_arrow if is_text(field.type)]
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        schema = file.schema_arrow
        keys = {*(schema.metadata or {}), *(file.metadata.metadata or {})}
        for field in schema:
            keys |= set(field.metadata or {})
        return _bare(schema), keys - {ARROW_SCHEMA, FIELD_NUMBER}, file.metadata.num_rows


def _batches(path: Path, schema: pa.Schema) -> Iterator[pa.Table]:
    texts = [field.name for field in schema if is_text(field.type)]
    # Not by way of a data set, which would make columns of folder names such as k=5.
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(BATCH):
            table = pa.Table.from_batches([batch]).replace_schema_metadata(None)
            table.validate(full=True)
            yield table.cast(schema)


def _bare(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(field.name, field.type) for field in schema])


def _metadata_findings(name: str, keys: set[bytes]) -> Iterator[Finding]:
    """Writers slip in metadata, such as the index of a frame, that no claim covers."""
    if keys:
        names = listed(sorted(key.decode("utf-8", "replace") for key in keys))
        yield Finding("metadata", f"{name} carries the metadata {names} beside its rows.")


def _column_findings(file: str, schema: pa.Schema, first: pa.Schema, manifest: Claims) -> Iterator[Finding]:
    """The columns stand as the manifest says, hold text where they hold labels, and are the same in all parts."""
    names = manifest.names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        yield Finding("columns", f"{MANIFEST} has the column {twice!r} in two roles.")
    elif schema.names != names:
        yield Finding("columns", f"{file} has the columns {listed(schema.names)}; {MANIFEST} says {listed(names)}.")
    else:
        for name, holds in manifest.columns:
            found, expected = schema.field(name).type, first.field(name).type
            fits, noun = TYPES[holds]
            if not fits(found):
                yield Finding("columns", f"{file}: the column {name!r} holds {found}, not {noun}.")
            elif found != expected:
                yield Finding("columns", f"{file}: the column {name!r} holds {found}, but the first part {expected}.")
