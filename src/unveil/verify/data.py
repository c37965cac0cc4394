"""The rows of a release as a verifier needs them: the distinct ones, counted batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.verify.batches import DataFiles, open_files
from unveil.verify.columns import Column, Counts, encode, is_number
from unveil.verify.dictionaries import StoredWords
from unveil.verify.findings import BrokenClaimError, Finding
from unveil.verify.order import order_finding
from unveil.verify.parts import PARQUET, Claims
from unveil.verify.refinement import RefinementManifest
from unveil.verify.tallies import Tally, Vocabulary

LARGEST_WEIGHT = 2**53
LARGEST_SUM = 2**62  # sums of weights are 64-bit whole numbers, and would start again below zero


@dataclass(frozen=True)
class Data:
    """The rows of a release, equal ones told once.

    Attributes:
        columns: All columns, in order; their codes are those of the distinct rows.
        counts: How often each distinct row stands in the release.
        weights: How many records these rows stand for together: as many as there are where there is no weight column.
        disorder: The first place where the rows are not sorted, if there is one.
    """

    columns: dict[str, Column]
    counts: Counts
    weights: Counts
    disorder: Finding | None

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.counts.sum())

    def rows_of(self, chosen: NDArray[np.bool_]) -> int:
        """How many rows the chosen ones of the distinct rows stand for."""
        return int(self.counts[chosen].sum())


def read_data(folder: Path, manifest: Claims) -> tuple[Data, list[Finding]]:
    """Reads the rows of a release.

    Returns:
        The rows, and findings about what the files carry beside them.

    Raises:
        BrokenClaimError: A file cannot be read, or its columns are not those of the manifest.
    """
    files, beside = open_files(folder, manifest)
    reading = Reading(files)
    for batch in files.batches():
        reading.add(batch)
    beside += reading.unused()
    return reading.data(manifest), beside


class Reading:
    """What is kept of the batches that went by: the distinct rows and how often each came, and the last row."""

    def __init__(self, files: DataFiles) -> None:
        self._vocabularies = [Vocabulary(name) for name in files.schema.names]
        self._tally = Tally()
        self._stored = StoredWords()
        self._last = files.schema.empty_table()
        self._disorder: Finding | None = None
        self._rows = 0
        self.add(self._last)  # without a row, the columns have their types

    def add(self, batch: pa.Table) -> None:
        """Takes the next rows. The row before them comes along, since it must not be larger than the first."""
        rows = pa.concat_tables([self._last, batch])
        carried = self._last.num_rows
        columns = [_encoded(name, rows[name]) for name in rows.column_names]
        self._disorder = self._disorder or order_finding(columns, self._rows - carried)
        self._stored.add(batch)
        pairs = zip(self._vocabularies, columns, strict=True)
        codes = [vocabulary.numbers(column.values)[column.codes[carried:]] for vocabulary, column in pairs]
        self._tally.add(codes, np.ones(batch.num_rows, dtype=np.int64))
        self._rows += batch.num_rows
        self._last = rows.slice(max(rows.num_rows - 1, 0))

    def unused(self) -> list[Finding]:
        """Findings about values that a file lists and no row holds."""
        return list(self._stored.findings({item.name: item.values for item in self._vocabularies}))

    def data(self, manifest: Claims) -> Data:
        """The rows, all of them being read."""
        keys, counts = self._tally.result()
        columns = {item.name: item.column(key) for item, key in zip(self._vocabularies, keys, strict=True)}
        weights = counts
        if isinstance(manifest, RefinementManifest) and manifest.weight is not None:
            weights = _weights(columns[manifest.weight], counts)
        return Data(columns, counts, weights, self._disorder)


def _encoded(name: str, column: pa.ChunkedArray) -> Column:
    try:
        return encode(name, column)
    except pa.ArrowException as error:
        message = f"{PARQUET}: the column {name!r} holds {column.type}, which cannot be compared."
        raise BrokenClaimError([Finding("columns", message)]) from error


def _weights(column: Column, counts: Counts) -> Counts:
    if not is_number(column.values.type):
        message = f"the weight column {column.name!r} holds {column.values.type}, not numbers."
        raise BrokenClaimError([Finding("weight", message)])
    for value in column.values.to_pylist():
        if value is None or not 1 <= value <= LARGEST_WEIGHT or value != int(value):
            message = f"the weight column {column.name!r} holds {value!r}, which is not a whole number above 0."
            raise BrokenClaimError([Finding("weight", message)])
    weights: Counts = pc.cast(column.values, pa.int64()).to_numpy()[column.codes]
    if (weights.astype(np.float64) * counts).sum() > LARGEST_SUM:
        message = f"the weight column {column.name!r} adds up to more than {LARGEST_SUM:,}, which cannot be counted."
        raise BrokenClaimError([Finding("weight", message)])
    return weights * counts
