"""The rows of a release in a folder: read on demand, and only as much as is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from unveil.arrays import IntArray
from unveil.errors import ReleaseError
from unveil.progress import Watcher, unwatched
from unveil.regular import opened
from unveil.release import rows
from unveil.release.rows import Formulas, watched, write_rows

ROWS = "rows"


class StoredRows:
    """The rows of several parquet files in sequence."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        """Reads the metadata of the files.

        Args:
            folder: The release folder.
            names: The files in order, relative to the folder.
        """
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
        """The distinct rows in any order and the number of each. All rows are read, few are held in memory."""
        held = [_counts(self.schema.empty_table())]
        waiting = 0
        for batch in self._read(dictionaries=True):
            counts = _counts(batch)
            # Few rows are left; rows of different batches can only be compared by value.
            held.append(counts.cast(held[0].schema))
            waiting += counts.num_rows
            if waiting > max(held[0].num_rows, rows.BATCH):
                held, waiting = [_merged(held)], 0
        found = _merged(held)
        return found.drop_columns([ROWS]).rename_columns(self.schema.names), found[ROWS].to_numpy()

    def write(self, path: Path, progress: Watcher = unwatched, formulas: Formulas = "guarded") -> None:
        """Writes all rows as csv or parquet, by the file extension, and reports progress."""
        write_rows(
            path, self.schema, watched(self.batches(), progress, f"writing {path.name}", self.num_rows), formulas
        )

    def _read(self, *, dictionaries: bool) -> Iterator[pa.Table]:
        texts = [field.name for field in self.schema if dictionaries and pa.types.is_string(field.type)]
        for name in self._names:
            with self._opened(name, texts) as file:
                for batch in file.iter_batches(rows.BATCH):
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


def _counts(batch: pa.Table) -> pa.Table:
    """The distinct rows of a batch. Columns are named by position, so that none clashes with the counts."""
    keys = batch.rename_columns([str(place) for place in range(batch.num_columns)])
    return _summed(keys.append_column(ROWS, pa.array(np.ones(batch.num_rows, dtype=np.int64))))


def _merged(parts: Sequence[pa.Table]) -> pa.Table:
    return _summed(pa.concat_tables(parts))


def _summed(counts: pa.Table) -> pa.Table:
    """Merges equal rows."""
    names = [name for name in counts.column_names if name != ROWS]
    sums = counts.group_by(names).aggregate([(ROWS, "sum")])
    return sums.rename_columns([*names, ROWS])
