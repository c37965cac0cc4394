"""The rows of a release, read from its parquet file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from unveil.errors import listed
from unveil.verify.columns import Column, Counts, encode, is_number, is_text
from unveil.verify.findings import BrokenClaimError, Finding
from unveil.verify.parts import MANIFEST, Claims, Holds
from unveil.verify.refinement import RefinementManifest

PARQUET = "data.parquet"
ARROW_SCHEMA = b"ARROW:schema"
LARGEST_WEIGHT = 2**53
LARGEST_SUM = 2**62  # sums of weights are 64-bit whole numbers, and would start again below zero
FIELD_NUMBER = b"PARQUET:field_id"
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
class Data:
    """The rows of a release.

    Attributes:
        columns: All columns, in order.
        weights: How many records each row stands for: one where there is no weight column.
    """

    columns: dict[str, Column]
    weights: Counts

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.weights)


def read_data(folder: Path, manifest: Claims) -> tuple[Data, list[Finding]]:
    """Reads the rows of a release.

    Returns:
        The rows, and findings about what the file carries beside them.

    Raises:
        BrokenClaimError: The file cannot be read, or its columns are not those of the manifest.
    """
    table = _read_parquet(folder / PARQUET)
    beside = [*_metadata_findings(table), *_dictionary_findings(table)]
    if wrong := list(_column_findings(table, manifest)):
        raise BrokenClaimError([*beside, *wrong])
    columns = {name: _encoded(name, table[name]) for name in manifest.names}
    weights = np.ones(table.num_rows, dtype=np.int64)
    if isinstance(manifest, RefinementManifest) and manifest.weight is not None:
        weights = _weights(columns[manifest.weight])
    return Data(columns, weights), beside


def first_line(error: BaseException) -> str:
    """What a reader says went wrong, as a clause of a sentence."""
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__


def _read_parquet(path: Path) -> pa.Table:
    """Text comes with the dictionaries of the file, to see whether they hold more than the rows do."""
    try:
        # Not by way of a data set, which would make columns of folder names such as k=5.
        with pq.ParquetFile(path) as file:
            texts = [field.name for field in file.schema_arrow if is_text(field.type)]
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            table = file.read()
            table = table.replace_schema_metadata({**(table.schema.metadata or {}), **_extras(file)})
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        finding = Finding("data-file", f"{PARQUET} cannot be read: {first_line(error)}.")
        raise BrokenClaimError([finding]) from error
    return table


def _extras(file: pq.ParquetFile) -> dict[bytes, bytes]:
    metadata: dict[bytes, bytes] = file.metadata.metadata or {}
    return {key: value for key, value in metadata.items() if key != ARROW_SCHEMA}


def _metadata_findings(table: pa.Table) -> Iterator[Finding]:
    """Writers slip in metadata, such as the index of a frame, that no claim covers."""
    keys = set(table.schema.metadata or {})
    for field in table.schema:
        keys |= set(field.metadata or {}) - {FIELD_NUMBER}
    if keys:
        names = listed(sorted(key.decode("utf-8", "replace") for key in keys))
        yield Finding("metadata", f"{PARQUET} carries the metadata {names} beside its rows.")


def _dictionary_findings(table: pa.Table) -> Iterator[Finding]:
    """A parquet file may list values in a dictionary that no row holds: hidden ones, for all we know."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not pa.types.is_dictionary(column.type):
            continue
        listed_there = pa.chunked_array([chunk.dictionary for chunk in column.chunks], column.type.value_type).unique()
        held = pc.cast(column, column.type.value_type).unique()
        unused = listed_there.filter(pc.invert(pc.is_in(listed_there, value_set=held)))
        if len(unused):
            values = listed(str(value) for value in unused.to_pylist())
            message = f"{PARQUET}: the dictionary of the column {name!r} lists {values}, which no row holds."
            yield Finding("dictionary", message)


def _column_findings(table: pa.Table, manifest: Claims) -> Iterator[Finding]:
    """The columns stand as the manifest says, and hold text where they hold labels."""
    names = manifest.names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        yield Finding("columns", f"{MANIFEST} has the column {twice!r} in two roles.")
    elif table.column_names != names:
        found = listed(table.column_names)
        yield Finding("columns", f"{PARQUET} has the columns {found}; {MANIFEST} says {listed(names)}.")
    else:
        for name, holds in manifest.columns:
            found = table.schema.field(name).type
            fits, noun = TYPES[holds]
            if not fits(found):
                yield Finding("columns", f"{PARQUET}: the column {name!r} holds {found}, not {noun}.")


def _encoded(name: str, column: pa.ChunkedArray) -> Column:
    try:
        return encode(name, column)
    except pa.ArrowException as error:
        message = f"{PARQUET}: the column {name!r} holds {column.type}, which cannot be compared."
        raise BrokenClaimError([Finding("columns", message)]) from error


def _weights(column: Column) -> Counts:
    if not is_number(column.values.type):
        message = f"the weight column {column.name!r} holds {column.values.type}, not numbers."
        raise BrokenClaimError([Finding("weight", message)])
    for value in column.values.to_pylist():
        if value is None or not 1 <= value <= LARGEST_WEIGHT or value != int(value):
            message = f"the weight column {column.name!r} holds {value!r}, which is not a whole number above 0."
            raise BrokenClaimError([Finding("weight", message)])
    weights: Counts = pc.cast(column.values, pa.int64()).to_numpy()[column.codes]
    if weights.sum(dtype=np.float64) > LARGEST_SUM:
        message = f"the weight column {column.name!r} adds up to more than {LARGEST_SUM:,}, which cannot be counted."
        raise BrokenClaimError([Finding("weight", message)])
    return weights
