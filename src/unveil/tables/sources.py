"""Where rows come from: files, folders of files, queries to a database, and frames in memory.

A source can be read repeatedly, whole or batch by batch, because a search over more rows than fit in memory passes over
them more than once. Its `stamp` and its counts show that it has not changed in between.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pyarrow as pa

from unveil.arrays import FloatArray
from unveil.errors import TableError, UnveilError
from unveil.frames import arrow_table, first_line
from unveil.masking import Derivations, decoded
from unveil.schema import Query, Spec
from unveil.tables import files
from unveil.tables.files import CsvFile, ParquetFile, open_file, told_unreadable
from unveil.tables.queries import QuerySource

HELD = 20_000_000
"""A table of more rows than this is read in batches unless the memory engine is asked for by name."""
SAMPLE = 1_000_000
"""How many rows are drawn of a table that is too large to hold."""
FEW = 1 << 25
"""How many values are read at once where there is no need to hold them: some hundred megabytes."""
LIGHT = 1 << 28
"""How many bytes the files may have that are read so: the number of rows of a csv file is an estimate."""


def open_source(source: Any, spec: Spec | None = None) -> Source:
    """Rows from a path to a csv or parquet file or a folder of them, a query, or a pandas, polars or pyarrow table.

    The spec is what they are read for: they have the columns that it derives. A source that is already open is not
    opened again.
    """
    opened = raw_source(source, spec)
    if spec is None or not spec.derived or isinstance(opened, DerivedSource):
        return opened
    return DerivedSource(opened, derivations(spec, opened.origin))


def raw_source(source: Any, spec: Spec | None = None) -> Source:
    """The same without derived columns, so that the rows can be read for other specs too."""
    if isinstance(source, Source):
        return source
    alone = spec is not None and spec.table.drops_invalid
    if isinstance(source, Query):
        private = spec is not None and spec.plan is not None
        return QuerySource(replace(source, by_row=True) if private else source)
    if isinstance(source, str | Path):
        return FileSource(Path(source), by_line=alone)
    return FrameSource(arrow_table(source, alone=alone))


def at_hand(source: Source, columns: Sequence[str]) -> Source:
    """These columns, read once and on all cores if they hold few values; otherwise the source as it is."""
    if isinstance(source, FileSource) and source.bytes() <= LIGHT and source.rows() * len(columns) <= FEW:
        return FrameSource(source.table(columns), source.origin)
    return source


def derivations(spec: Spec, origin: str) -> Derivations:
    """How the rows of a spec get their derived columns."""
    return Derivations(spec.derived, spec.unread, spec.table.drops_invalid, place=f"{origin}: ")


def read_table(source: Any) -> tuple[pa.Table, str]:
    """Reads a table, the columns of a csv file as text without surrounding spaces, and says what messages call it."""
    opened = open_source(source)
    return opened.table(opened.schema.names), opened.origin


class FrameSource:
    """Rows that are in memory already."""

    def __init__(self, frame: pa.Table, origin: str = "table") -> None:
        self.origin = origin
        self.schema = frame.schema
        self.frame = frame

    def rows(self) -> int:
        """How many rows there are."""
        return int(self.frame.num_rows)

    def stamp(self) -> object:
        """An Arrow table never changes."""
        return None

    def table(self, columns: Sequence[str]) -> pa.Table:
        """These columns."""
        return self.frame.select(columns)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, as they are in memory."""
        for batch in self.frame.select(columns).to_batches(max_chunksize=files.BATCH):
            yield pa.Table.from_batches([batch])


class Part(NamedTuple):
    """A part of the rows: the number of a file, and which of its groups of rows; all if not said."""

    file: int
    groups: tuple[int, ...] | None = None


class FileSource:
    """A file, or a folder of parquet or csv files in the order of their names.

    In a folder, markers such as `_SUCCESS` are ignored.
    """

    def __init__(self, path: Path, *, by_line: bool = False) -> None:
        with told_unreadable(path):  # a name that is too long, or a parent that cannot be read
            found = path.exists()
        if not found:
            raise TableError(f"{path}: there is no such file or folder.")
        self.origin = path.name
        self._path = path
        self._files = [open_file(file, by_line=by_line) for file in (_files_in(path) if path.is_dir() else [path])]
        self.schema = self._files[0].schema if len(self._files) == 1 else _common_schema(self._files, path)

    @property
    def is_text(self) -> bool:
        """Whether all files are csv, so that their first lines may not be names."""
        return all(isinstance(file, CsvFile) for file in self._files)

    def bytes(self) -> float:
        """How much there is to read; without limit where text is compressed, which may be any amount."""
        plain = all(file.path.suffix in (".csv", ".parquet") for file in self._files)
        return sum(file.path.stat().st_size for file in self._files) if plain else inf

    def rows(self) -> int:
        """How many rows the files have, or about how many."""
        return sum(file.rows() for file in self._files)

    def stamp(self) -> object:
        """Sizes and times of the files."""
        try:
            return [(file.path, file.path.stat().st_size, file.path.stat().st_mtime_ns) for file in self._files]
        except OSError:
            return None

    def table(self, columns: Sequence[str]) -> pa.Table:
        """These columns of all files."""
        tables = []
        for file in self._files:
            with told_unreadable(file.path):
                tables.append(file.table(columns))
        return tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")

    def batches(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, file by file."""
        for number in range(len(self._files)):
            yield from self.part(Part(number), columns)

    def parts(self) -> list[Part]:
        """Parts of about as many rows as are read at a time, each for one worker."""
        parts = [part for number, file in enumerate(self._files) for part in _parts(number, file.groups())]
        return parts or [Part(0)]

    def part(self, part: Part, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns of a part, some rows at a time."""
        file = self._files[part.file]
        wanted = pa.schema([self.schema.field(name) for name in columns])
        with told_unreadable(file.path):
            for batch in file.batches(columns, part.groups):
                yield batch if len(self._files) == 1 else batch.cast(wanted)


class DerivedSource:
    """Rows of another source with the columns that a spec derives; what only these are derived from is left out."""

    def __init__(self, source: FrameSource | FileSource | QuerySource, derived: Derivations) -> None:
        self.origin = source.origin
        self.schema = derived.schema(source.schema)
        self._source = source
        self._derived = derived

    def rows(self) -> int:
        """How many rows there are, or about how many."""
        return self._source.rows()

    def stamp(self) -> object:
        """What changes with the source."""
        return self._source.stamp()

    def table(self, columns: Sequence[str]) -> pa.Table:
        """These columns."""
        return self._derived.rows(self._source.table(self._derived.sources(columns)), columns)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, some rows at a time."""
        for batch in self._source.batches(self._derived.sources(columns)):
            yield self._derived.rows(batch, columns)


Source = FrameSource | FileSource | QuerySource | DerivedSource
"""Rows that can be read again: whole (`table`) or some at a time (`batches`), as long as `stamp` gives the same."""


def _parts(number: int, groups: Sequence[int]) -> Iterator[Part]:
    """The groups of rows of a file, as few parts as their sizes allow."""
    held: list[int] = []
    rows = 0
    for group, size in enumerate(groups):
        if held and rows + size > files.BATCH:
            yield Part(number, tuple(held))
            held, rows = [], 0
        held.append(group)
        rows += size
    if held:
        yield Part(number, tuple(held))


def _files_in(folder: Path) -> list[Path]:
    """The files of a table. If one cannot be read, the table is refused: without it the table would be different."""

    def refuse(error: OSError) -> NoReturn:
        raise TableError(f"{error.filename}: the folder cannot be read: {error.strerror}.") from error

    files = []
    for place, folders, names in os.walk(folder, onerror=refuse):
        for linked in (Path(place, name) for name in folders if Path(place, name).is_symlink()):
            raise TableError(f"{linked}: a folder that is a link is not followed; name the folder itself.")
        paths = [Path(place, name) for name in names if not name.startswith(("_", "."))]
        files += [path for path in paths if {".parquet", ".csv"} & set(path.suffixes)]
    files.sort()
    if not files:
        raise TableError(f"{folder}: the folder holds no .parquet or .csv file.")
    return files


def _common_schema(files: Sequence[ParquetFile | CsvFile], folder: Path) -> pa.Schema:
    first = files[0].schema
    for file in files:
        if odd := sorted(set(file.schema.names) ^ set(first.names)):
            raise TableError(f"{file.path}: the column {odd[0]!r} is not in every file of the folder.")
    try:
        return pa.unify_schemas([file.schema for file in files], promote_options="permissive")
    except pa.ArrowException as error:
        raise TableError(f"{folder}: the files do not fit together: {first_line(error)}.") from error


class Sample(NamedTuple):
    """Rows of a source, drawn without replacement, in their own order."""

    table: pa.Table
    rows: int
    """How many rows the source has."""


def draw_sample(source: Source, size: int, seed: int = 0) -> Sample:
    """Draws rows so that every set of `size` rows is equally likely; all rows if there are no more than that.

    Each row draws a number, and the rows with the lowest are kept. So the sample depends on the seed and on the order
    of the rows, but not on the batches that they come in, and no more than about twice as many rows are held.
    """
    generator = np.random.default_rng(seed)
    tables, numbers, highest, rows = [_plain(source.schema.empty_table())], np.zeros(0), 1.0, 0
    for batch in source.batches(source.schema.names):
        drawn = generator.random(batch.num_rows)
        low = drawn < highest
        # As plain values, so that a few rows do not keep the dictionary of all in memory.
        tables.append(_plain(batch.filter(pa.array(low))))
        numbers = np.concatenate([numbers, drawn[low]])
        rows += batch.num_rows
        if len(numbers) > 2 * size:
            tables, numbers = _lowest(tables, numbers, size)
            highest = float(numbers.max())
    [table], _ = _lowest(tables, numbers, size)
    columns = {
        field.name: table[field.name].dictionary_encode() if pa.types.is_dictionary(field.type) else table[field.name]
        for field in source.schema
    }
    return Sample(pa.table(columns), rows)


def _lowest(tables: list[pa.Table], numbers: FloatArray, size: int) -> tuple[list[pa.Table], FloatArray]:
    """One table of the rows with the lowest numbers, in their own order."""
    table = pa.concat_tables(tables)
    if len(numbers) > size:
        lowest = np.sort(np.argpartition(numbers, size)[:size])
        table, numbers = table.take(pa.array(lowest)), numbers[lowest]
    return [table], numbers


def _plain(table: pa.Table) -> pa.Table:
    return pa.table({name: decoded(table[name]) for name in table.column_names})


def held_rows(table: Any, sample: int | None = None, spec: Spec | None = None) -> tuple[FrameSource, tuple[str, ...]]:
    """Reads rows into memory under the name of their file, and says what a reader must know about them.

    This many as `sample` says are drawn if there are more; without it, `SAMPLE` of a table too large to hold.
    """
    if sample is not None and sample < 2:
        raise UnveilError(
            f"the sample has {sample} rows, but it takes at least 2 to learn from one and test on another."
        )
    source = raw_source(table, spec)
    if sample is None and source.rows() <= HELD:
        return FrameSource(source.table(source.schema.names), source.origin), ()
    size = SAMPLE if sample is None else sample
    drawn = draw_sample(source, size)
    rows = FrameSource(drawn.table, source.origin)
    return rows, (sample_note(source.origin, size, drawn.rows),) if drawn.rows > size else ()


def sample_note(origin: str, size: int, rows: int) -> str:
    """What figures of a sample say about the whole."""
    return (
        f"{origin} has {rows:,} rows; these figures are of a uniform random sample of {size:,} of them, and so are the "
        "releases behind them. With all rows, groups have more records and noise matters less, so a release of all "
        "rows is usually finer and loses less than these figures say."
    )
