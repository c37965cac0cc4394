"""The rows of a release as a verifier needs them: the distinct ones, counted batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.errors import listed
from unveil.limits import COUNT, RECORDS
from unveil.verifier.batches import DataFiles
from unveil.verifier.columns import Column, Counts, encode, is_number
from unveil.verifier.findings import BrokenClaimError, Finding
from unveil.verifier.parts import PARQUET, Claims
from unveil.verifier.refinement import RefinementManifest
from unveil.verifier.tallies import Tally, Vocabulary


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


def read_data(files: DataFiles, manifest: Claims) -> tuple[Data, list[Finding]]:
    """Reads the rows of a release.

    Returns:
        The rows, and findings about what the files carry next to them.

    Raises:
        BrokenClaimError: A file cannot be read.
    """
    reading = Reading(files)
    for batch in files.batches():
        reading.add(batch)
    return reading.data(manifest), reading.unused()


class Reading:
    """What is kept of the batches that went by: the distinct rows and how often each came, and the last row."""

    def __init__(self, files: DataFiles) -> None:
        self._vocabularies = [Vocabulary(name) for name in files.schema.names]
        self._tally = Tally()
        self._stored = StoredWords()
        self._last = pa.Table.from_batches([], schema=files.schema)
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
        for name, holds in manifest.columns:
            if holds == "counts":
                _check_counts(columns[name], counts)
        if isinstance(manifest, RefinementManifest) and manifest.weight is not None:
            weights = _weights(columns[manifest.weight], counts)
        return Data(columns, counts, weights, self._disorder)


class StoredWords:
    """The texts that the dictionaries of the files list, whether or not a row holds them."""

    def __init__(self) -> None:
        self._words: dict[str, pa.Array] = {}
        self._latest: dict[str, pa.Array] = {}

    def add(self, batch: pa.Table) -> None:
        """Takes the dictionaries of some rows. Those of one row group share one, which is looked at once."""
        for name, column in zip(batch.column_names, batch.columns, strict=True):
            for chunk in column.chunks if pa.types.is_dictionary(column.type) else ():
                if name not in self._latest or not chunk.dictionary.equals(self._latest[name]):
                    self._latest[name] = chunk.dictionary
                    words = pc.cast(chunk.dictionary, pa.string())
                    known = self._words.get(name, words.slice(0, 0))
                    self._words[name] = pc.unique(pa.concat_arrays([known, words]))

    def findings(self, held: Mapping[str, pa.Array]) -> Iterator[Finding]:
        """A dictionary may list values that no row holds: hidden ones, for all we know.

        Args:
            held: The values of each column that some row holds.
        """
        for name, words in self._words.items():
            unused = words.filter(pc.invert(pc.is_in(words, value_set=pc.cast(held[name], pa.string()))))
            if len(unused):
                values = listed(str(value) for value in unused.to_pylist())
                message = f"{PARQUET}: the dictionary of the column {name!r} lists {values}, which no row holds."
                yield Finding("dictionary", message)


def order_finding(columns: Sequence[Column], before: int) -> Finding | None:
    """The first row that is smaller than the one before it, column after column from the left.

    Any other order than that of the released values may follow the order of the input, which can tell who is who.

    Args:
        columns: The columns of some rows that follow each other.
        before: How many rows of the release come before these.
    """
    first, where = len(columns[0].codes), None
    undecided = np.ones(max(first - 1, 0), dtype=np.bool_)
    for column in columns:
        above, below = column.codes[:-1], column.codes[1:]
        wrong = np.flatnonzero(undecided & (below < above))
        if len(wrong) and wrong[0] + 1 < first:
            first, where = int(wrong[0]) + 1, column
        undecided &= below == above
    if where is None:
        return None
    return Finding(
        "order",
        f"{PARQUET}: row {before + first + 1:,} has {where.text(where.codes[first])} after "
        f"{where.text(where.codes[first - 1])}, so the rows are not sorted by their released values.",
    )


def _encoded(name: str, column: pa.ChunkedArray) -> Column:
    try:
        return encode(name, column)
    except pa.ArrowException as error:
        message = f"{PARQUET}: the column {name!r} holds {column.type}, which cannot be compared."
        raise BrokenClaimError([Finding("columns", message)]) from error


def _check_counts(column: Column, counts: Counts) -> None:
    """Noisy counts are numbers that every reader adds up alike; what else is wrong with them is found elsewhere."""
    largest = pc.max(column.values).as_py() or 0
    if largest > COUNT:
        message = f"the column {column.name!r} holds {largest:,}; a count is at most {COUNT:,}."
        raise BrokenClaimError([Finding("count", message)])
    _check_sum(column, column.values.fill_null(0).to_numpy()[column.codes], counts, "count")


def _check_sum(column: Column, amounts: Counts, counts: Counts, claim: str) -> None:
    """Sums are 64-bit whole numbers, and start again below zero where they are too large."""
    if (amounts.astype(np.float64) * counts).sum() > RECORDS:
        message = f"the column {column.name!r} adds up to more than {RECORDS:,}, which cannot be counted."
        raise BrokenClaimError([Finding(claim, message)])


def _weights(column: Column, counts: Counts) -> Counts:
    if not is_number(column.values.type):
        message = f"the weight column {column.name!r} holds {column.values.type}, not numbers."
        raise BrokenClaimError([Finding("weight", message)])
    for value in column.values.to_pylist():
        if value is None or not 1 <= value <= COUNT or value != int(value):
            message = f"the weight column {column.name!r} holds {value!r}, which is not a whole number above 0."
            raise BrokenClaimError([Finding("weight", message)])
    weights: Counts = pc.cast(column.values, pa.int64()).to_numpy()[column.codes]
    _check_sum(column, weights, counts, "weight")
    return weights * counts
