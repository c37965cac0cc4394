"""The rows of a release: read from its data files in batches, and kept as distinct rows with their counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from unveil.errors import listed
from unveil.strangers import COUNT, RECORDS
from unveil.verifier.claims import MANIFEST, PARQUET, Claims, Holds
from unveil.verifier.columns import Column, Counts, Tally, Vocabulary, encode, is_number, is_text, missing
from unveil.verifier.findings import BrokenClaimError, Finding, first_line, repeated
from unveil.verifier.manifests import RefinementManifest
from unveil.verifier.parquet import check_parquet

BATCH = 1 << 18
"""How many rows are read at a time. Memory grows with it, and not with the rows of the release."""
TYPES: dict[Holds, tuple[Callable[[pa.DataType], bool], str]] = {
    "labels": (is_text, "text"),
    "text": (is_text, "text"),
    "integers": (pa.types.is_integer, "whole numbers"),
    "booleans": (pa.types.is_boolean, "booleans"),
    "dates": (pa.types.is_date32, "dates"),
    "numbers": (is_number, "numbers"),
    "counts": (pa.types.is_int64, "64-bit whole numbers"),
    "weights": (pa.types.is_float64, "64-bit numbers"),
    "anything": (lambda _: True, "anything"),
}
"""Which Arrow types a column may have, by what the manifest says it holds."""


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
    """Walks over the bytes of the files, compares their columns with the manifest, and finds parts that are not needed.

    Raises:
        BrokenClaimError: A file cannot be read or has another form than that of a release, or the columns are not
            those of the manifest.
    """
    if twice := repeated(manifest.names):
        raise BrokenClaimError([Finding("columns", f"{MANIFEST} has the column {twice[0]!r} in two roles.")])
    names = tuple(sorted(manifest.part_names)) or (PARQUET,)
    needless: list[Finding] = []
    schemas = []
    for name in names:
        try:
            check_parquet(folder, name)
            schema, rows = _described(folder / name)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _unreadable(name, error) from error
        schemas.append(schema)
        if rows == 0 and manifest.part_names:
            needless.append(Finding("parts", f"{name} holds no rows, but a part without rows is not written."))
    for name, schema in zip(names, schemas, strict=True):
        if wrong := list(_column_findings(name, schema, schemas[0], manifest)):
            raise BrokenClaimError([*needless, *wrong])
    return DataFiles(folder, names, schemas[0]), needless


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
    # A data set would make columns of folder names such as k=5.
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(BATCH):
            table = pa.Table.from_batches([batch]).replace_schema_metadata(None)
            table.validate(full=True)
            yield table.cast(schema)


def _column_findings(file: str, schema: pa.Schema, first: pa.Schema, manifest: Claims) -> Iterator[Finding]:
    """The columns are those of the manifest, in order and type, and the same in all parts."""
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


@dataclass(frozen=True)
class Data:
    """The rows of a release, equal ones counted.

    Attributes:
        columns: All columns, in order; their codes are those of the distinct rows.
        counts: How often each distinct row appears in the release.
        weights: How many records these rows represent together: their count if there is no weight column.
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
        """How many rows the chosen distinct rows represent."""
        return int(self.counts[chosen].sum())

    def gaps(self, name: str) -> int:
        """How many rows have no value in a column."""
        column = self.columns[name]
        return self.rows_of(missing(column.values)[column.codes])


def read_data(files: DataFiles, manifest: Claims) -> tuple[Data, list[Finding]]:
    """The rows of a release, and findings about what the files carry next to them.

    Raises:
        BrokenClaimError: A file cannot be read.
    """
    reading = Reading(files)
    for batch in files.batches():
        reading.add(batch)
    return reading.data(manifest), reading.unused()


class Reading:
    """What is kept of the batches read so far: the distinct rows with their counts, and the last row."""

    def __init__(self, files: DataFiles) -> None:
        self._vocabularies = [Vocabulary(name) for name in files.schema.names]
        self._tally = Tally()
        self._stored = StoredWords()
        self._last = pa.Table.from_batches([], schema=files.schema)
        self._disorder: Finding | None = None
        self._rows = 0
        self.add(self._last)  # an empty batch gives the columns their types

    def add(self, batch: pa.Table) -> None:
        """Takes the next rows, with the row before them, which must not be larger than the first."""
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
        """The rows, once all batches were added."""
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
        """Takes the dictionaries of some rows; a row group has one, which is read once."""
        for name, column in zip(batch.column_names, batch.columns, strict=True):
            for chunk in column.chunks if pa.types.is_dictionary(column.type) else ():
                if name not in self._latest or not chunk.dictionary.equals(self._latest[name]):
                    self._latest[name] = chunk.dictionary
                    words = pc.cast(chunk.dictionary, pa.string())
                    known = self._words.get(name, words.slice(0, 0))
                    self._words[name] = pc.unique(pa.concat_arrays([known, words]))

    def findings(self, held: Mapping[str, pa.Array]) -> Iterator[Finding]:
        """A dictionary may list values that no row holds, and so disclose what was masked."""
        for name, words in self._words.items():
            unused = words.filter(pc.invert(pc.is_in(words, value_set=pc.cast(held[name], pa.string()))))
            if len(unused):
                values = listed(str(value) for value in unused.to_pylist())
                message = f"{PARQUET}: the dictionary of the column {name!r} lists {values}, which no row holds."
                yield Finding("dictionary", message)


def order_finding(columns: Sequence[Column], before: int) -> Finding | None:
    """The first row that is smaller than the one before it, column after column from the left.

    Any other order may be that of the input, which can identify people.
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
    """Every reader can add up noisy counts exactly. `check_cells` checks the rest."""
    largest = pc.max(column.values).as_py() or 0
    if largest > COUNT:
        message = f"the column {column.name!r} holds {largest:,}; a count is at most {COUNT:,}."
        raise BrokenClaimError([Finding("count", message)])
    _check_sum(column, column.values.fill_null(0).to_numpy()[column.codes], counts, "count")


def _check_sum(column: Column, amounts: Counts, counts: Counts, claim: str) -> None:
    """Sums are 64-bit whole numbers, and would overflow."""
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
