"""The rows of a release: distinct rows and the count of each, materialized only as far as they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from unveil.arrays import CodeArray, IntArray, grouped, packed_keys, run_starts
from unveil.errors import ReleaseError
from unveil.frames import value_type
from unveil.masking import dictionary_of, is_text
from unveil.progress import Watcher, unwatched
from unveil.strangers import GROUP_BYTES, GROUP_ROWS, opened

BATCH = GROUP_ROWS
"""How many rows are materialized at a time."""
Formulas = Literal["guarded", "kept"]
"""What a csv file does to text that a spreadsheet reads as a formula: puts an apostrophe before it, or keeps it."""
FORMULA = r"^'*[=+\-@\t\r\n＝＋－＠]"
NUMBER = r"^'*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


class Described(Protocol):
    """Rows of which the number and the columns are known."""

    @property
    def num_rows(self) -> int:
        """The number of rows."""

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""


class ReleasedRows(Described, Protocol):
    """Rows in their released order."""

    def table(self) -> pa.Table:
        """All rows."""

    def batches(self) -> Iterator[pa.Table]:
        """Some rows at a time."""

    def counted(self) -> tuple[pa.Table, IntArray]:
        """The distinct rows, in any order, and the number of each."""

    def write(self, path: Path, progress: Watcher = unwatched, formulas: Formulas = "guarded") -> None:
        """Writes all rows as csv or parquet, by the file extension, and reports progress."""


class DistinctTable(Described, Protocol):
    """Rows that become an Arrow table when they are sliced, such as an Arrow table itself."""

    def slice(self, offset: int = 0, length: int | None = None) -> pa.Table:
        """`length` rows from an offset on, or all from there."""


class CountedRows:
    """Distinct rows in order, each repeated by its count."""

    def __init__(self, distinct: DistinctTable, counts: IntArray | None = None) -> None:
        """Takes the rows, or what can be sliced into a table of them, and how often each appears; by default once."""
        self._distinct = distinct
        self._counts = counts

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return int(self._distinct.num_rows if self._counts is None else self._counts.sum())

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self._distinct.schema

    def table(self) -> pa.Table:
        """All rows."""
        distinct = self._distinct.slice()
        return distinct if self._counts is None else _repeated(distinct, self._counts)

    def batches(self) -> Iterator[pa.Table]:
        """Some rows at a time."""
        if self._counts is None:
            for start in range(0, max(self.num_rows, 1), BATCH):
                yield self._distinct.slice(start, BATCH)
            return
        ends = np.cumsum(self._counts)
        for start in range(0, max(self.num_rows, 1), BATCH):
            stop = min(start + BATCH, self.num_rows)
            first, last = np.searchsorted(ends, [start, stop - 1], side="right")
            inside = np.minimum(ends[first : last + 1], stop) - np.maximum(
                ends[first : last + 1] - self._counts[first : last + 1], start
            )
            yield _repeated(self._distinct.slice(int(first), int(last + 1 - first)), inside)

    def counted(self) -> tuple[pa.Table, IntArray]:
        """The distinct rows and the number of each."""
        distinct = self._distinct.slice()
        return distinct, np.ones(distinct.num_rows, dtype=np.int64) if self._counts is None else self._counts

    def write(self, path: Path, progress: Watcher = unwatched, formulas: Formulas = "guarded") -> None:
        """Writes all rows as csv or parquet, by the file extension, and reports progress."""
        write_rows(
            path, self.schema, watched(self.batches(), progress, f"writing {path.name}", self.num_rows), formulas
        )


def watched(batches: Iterable[pa.Table], progress: Watcher, what: str, total: int | None) -> Iterator[pa.Table]:
    """The same batches, reporting to a watcher how many rows have passed."""
    done = 0
    for batch in batches:
        yield batch
        done += batch.num_rows
        progress(what, done, total)


def _repeated(rows: pa.Table, counts: IntArray) -> pa.Table:
    if (counts == 1).all():
        return rows
    return rows.take(pa.array(np.repeat(np.arange(len(counts)), counts)))


def write_rows(path: Path, schema: pa.Schema, batches: Iterable[pa.Table], formulas: Formulas = "guarded") -> None:
    """Writes batches of rows as csv or parquet, by the file extension."""
    if path.suffix == ".csv":
        _write_csv(path, schema, batches, formulas)
        return
    with parquet_writer(path, schema) as writer:
        for batch in batches:
            write_group(writer, batch)


def parquet_writer(path: Path | pa.NativeFile, schema: pa.Schema) -> pa.parquet.ParquetWriter:
    """Writes rows in the only form that a release may use (`docs/release.md`).

    It writes no statistics, which a reader would have to trust, and dictionaries for text only, which a verifier reads.
    """
    texts = [field.name for field in schema if is_text(value_type(field.type))]
    return pa.parquet.ParquetWriter(
        path, schema, compression="zstd", store_schema=False, write_statistics=False, use_dictionary=texts or False
    )


def write_group(writer: pa.parquet.ParquetWriter, rows: pa.Table) -> None:
    """Writes rows in row groups that are small enough for any reader to unpack."""
    if rows.num_rows:
        fitting = rows.num_rows * (GROUP_BYTES // 4) // max(rows.nbytes, 1)
        writer.write_table(rows, row_group_size=max(1, min(fitting, GROUP_ROWS)))


def _write_csv(path: Path, schema: pa.Schema, batches: Iterable[pa.Table], formulas: Formulas) -> None:
    guard = guarded if formulas == "guarded" else lambda texts: texts
    names = guard(pa.array(schema.names, pa.string())).to_pylist()
    plain = pa.schema([pa.field(name, kind) for name, kind in zip(names, _stored_types(schema), strict=True)])
    with pa.csv.CSVWriter(path, plain) as writer:
        for batch in batches:
            columns = [_guarded_column(column, guard) for column in batch.columns]
            writer.write_table(pa.table(columns, names=names).cast(plain))


def _stored_types(schema: pa.Schema) -> list[pa.DataType]:
    """The types that the parquet files give back, so that both formats say the same: times with a zone are in UTC."""
    sink = pa.BufferOutputStream()
    parquet_writer(sink, schema).close()
    return list(pa.parquet.read_schema(pa.BufferReader(sink.getvalue())).types)


def guarded(texts: pa.Array) -> pa.Array:
    """Texts with an apostrophe before each one that a spreadsheet would read as a formula. Numbers are unchanged.

    This is reversible: a text of apostrophes followed by a formula gets one more apostrophe.
    """
    risky = pc.and_not(pc.match_substring_regex(texts, FORMULA), pc.match_substring_regex(texts, NUMBER))
    return pc.if_else(risky, pc.binary_join_element_wise("'", texts, ""), texts)


def _guarded_column(column: pa.ChunkedArray, guard: Callable[[pa.Array], pa.Array]) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        chunks = [pa.DictionaryArray.from_arrays(part.indices, guard(part.dictionary)) for part in column.chunks]
        return pa.chunked_array(chunks, column.type) if is_text(column.type.value_type) else column
    return guard(column) if is_text(column.type) else column


class StoredRows:
    """The rows of several parquet files in sequence."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        """Reads the metadata of some files of a release folder, in order."""
        self.folder = folder
        self._names = tuple(names)
        self._sizes = []
        for name in self._names:
            with self._opened(name) as file:
                self._sizes.append(file.metadata.num_rows)
                if name == self._names[0]:
                    self.schema = file.schema_arrow.remove_metadata()

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return sum(self._sizes)

    def table(self) -> pa.Table:
        """All rows."""
        return pa.concat_tables(self.batches())

    def batches(self) -> Iterator[pa.Table]:
        """Some rows at a time; one empty batch if there are none."""
        if self.num_rows == 0:
            yield self.schema.empty_table()
        yield from self._read(dictionaries=False)

    def counted(self) -> tuple[pa.Table, IntArray]:
        """The distinct rows in any order and the number of each.

        The rows of a release are sorted, so few are held in memory: the first of each run of equal ones.
        """
        columns = [_Values(type_) for type_ in self.schema.types]
        held: list[list[CodeArray]] = [[np.zeros(0, dtype=np.int32) for _ in columns]]
        sizes = [np.zeros(0, dtype=np.int64)]
        for batch in self._read(dictionaries=True):
            codes = [values.codes(column) for values, column in zip(columns, batch.columns, strict=True)]
            starts = run_starts(codes)
            held.append([column[starts] for column in codes])
            sizes.append(np.diff(starts, append=batch.num_rows))
        runs, counts = [np.concatenate(parts) for parts in zip(*held, strict=True)], np.concatenate(sizes)
        order, starts, _ = grouped(packed_keys(runs, [len(values) for values in columns]))
        first = order[starts]
        distinct = [values.column(codes[first]) for values, codes in zip(columns, runs, strict=True)]
        sums = np.add.reduceat(counts[order], starts) if len(starts) else counts
        return pa.table(distinct, names=self.schema.names), sums

    def write(self, path: Path, progress: Watcher = unwatched, formulas: Formulas = "guarded") -> None:
        """Writes all rows as csv or parquet, by the file extension, and reports progress."""
        write_rows(
            path, self.schema, watched(self.batches(), progress, f"writing {path.name}", self.num_rows), formulas
        )

    def _read(self, *, dictionaries: bool) -> Iterator[pa.Table]:
        texts = [field.name for field in self.schema if dictionaries and pa.types.is_string(field.type)]
        for name in self._names:
            with self._opened(name, texts) as file:
                for batch in file.iter_batches(BATCH):
                    yield pa.Table.from_batches([batch]).replace_schema_metadata(None)

    @contextmanager
    def _opened(self, name: str, texts: Sequence[str] = ()) -> Iterator[pa.parquet.ParquetFile]:
        """A file; some columns of text come with its dictionaries."""
        path = self.folder / name
        try:
            with opened(self.folder, name):  # refuses what is not a regular file
                pass
            with pa.parquet.ParquetFile(path, read_dictionary=list(texts)) as file:
                yield file
        except (pa.ArrowException, OSError) as error:
            reason = (isinstance(error, OSError) and error.strerror) or str(error).rstrip(".")
            raise ReleaseError(f"{path}: the data file cannot be read: {reason}.") from error


class _Values:
    """The values of a column that is read batch after batch, numbered as they first appear; 0 is a missing one."""

    def __init__(self, type_: pa.DataType) -> None:
        self._known = pa.nulls(1, type_)

    def __len__(self) -> int:
        return len(self._known)

    def codes(self, column: pa.ChunkedArray) -> CodeArray:
        """The number of the value in each row."""
        held = dictionary_of(column)
        words = pa.concat_arrays([self._known, held.dictionary.cast(self._known.type)])
        numbered = words.dictionary_encode(null_encoding="encode")
        places = np.append(numbered.indices.to_numpy()[len(self) :], np.int32(0))
        self._known = numbered.dictionary
        codes: CodeArray = places[held.indices.fill_null(len(places) - 1).to_numpy()]
        return codes

    def column(self, codes: CodeArray) -> pa.Array:
        """The values of such numbers; text with a dictionary."""
        if not is_text(self._known.type):
            return self._known.take(pa.array(codes))
        return pa.DictionaryArray.from_arrays(pa.array(codes - 1, mask=codes == 0), self._known.slice(1))
