"""The released rows: masked values column by column, in an order that does not depend on the input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import BoolArray, CodeArray
from unveil.counting.distinct import DistinctRows, SortedRows
from unveil.errors import BrokenPromiseError
from unveil.masking import AsIs, Masking, dictionary_of
from unveil.release import CountedRows
from unveil.tables import Chunk, Domain, Outline, Rows

BATCH = 1 << 20
"""How many rows are ranked at a time."""
NUMBERED = 1 << 31
"""How many values a column may have that the spec does not describe; they are numbered as they appear."""


@dataclass(frozen=True)
class RankedValues:
    """Distinct released values in ascending order, and for each code the rank of its released value.

    Only values in some released row are kept: a dictionary must not contain what was masked or dropped.
    """

    name: str
    values: pa.Array
    rank_of: CodeArray

    def column(self, ranks: CodeArray) -> pa.Array:
        """A column of these values; text stays a dictionary of its few values."""
        if not pa.types.is_string(self.values.type):
            return self.values.take(pa.array(ranks))
        # A missing value has the last rank, and is not in the dictionary: parquet holds no dictionary with a null.
        texts = self.values.drop_null()
        return pa.DictionaryArray.from_arrays(pa.array(ranks.astype(np.int32), mask=ranks >= len(texts)), texts)


def ranked(name: str, released: pa.Array, held: BoolArray) -> RankedValues:
    """Ranks the released values that occur. Values with the same label share a rank; nulls come last."""
    values = pc.unique(released.filter(pa.array(held)))
    values = values.take(pc.sort_indices(values))
    rank_of = pc.index_in(released, values).fill_null(0).to_numpy(zero_copy_only=False)
    return RankedValues(name, values, rank_of.astype(np.int32))


class DescribedColumn:
    """A column that the spec describes: its released values are known before any row is read."""

    def __init__(self, released: RankedValues, place: int | None) -> None:
        """Stores the arguments.

        Args:
            released: What the codes are released as.
            place: The position of the attribute; None for the class.
        """
        self._released = released
        self._place = place
        self.room = len(released.values)

    def of(self, chunk: Chunk) -> CodeArray:
        """The released values of some rows, by their ranks."""
        codes: CodeArray = chunk.classes if self._place is None else chunk.codes[self._place]
        return self._released.rank_of[codes]

    def settled(self) -> RankedValues:
        """The values by their ranks."""
        return RankedValues(self._released.name, self._released.values, np.arange(self.room, dtype=np.int32))


class OtherColumn:
    """A column that the spec does not describe. Its values are numbered as they appear; nulls stay nulls."""

    room = NUMBERED

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen: pa.Array | None = None
        self._held: BoolArray = np.zeros(0, dtype=np.bool_)

    def of(self, chunk: Chunk) -> CodeArray:
        """The values of some rows, by their numbers."""
        encoded = dictionary_of(chunk.others[self._name])
        values = _single(encoded.dictionary)
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
        indices = encoded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)
        numbers: CodeArray = self._numbers(values)[indices]
        self._held[numbers] = True
        return numbers

    def _numbers(self, values: pa.Array) -> CodeArray:
        if self._seen is None:
            self._seen = values.slice(0, 0)
        fresh = values.filter(pc.is_null(pc.index_in(values, self._seen)))
        self._seen = pa.concat_arrays([self._seen, pc.unique(fresh)])
        self._held = np.pad(self._held, (0, len(self._seen) - len(self._held)))
        numbers: CodeArray = pc.index_in(values, self._seen).to_numpy(zero_copy_only=False).astype(np.int32)
        return numbers

    def settled(self) -> RankedValues:
        """The values that some row holds, and the ranks of their numbers."""
        return ranked(self._name, pa.nulls(0) if self._seen is None else self._seen, self._held)


def _single(values: pa.Array) -> pa.Array:
    """Floats with one zero and one NaN: others compare equal, so their order would reveal the order of the input."""
    if not pa.types.is_floating(values.type):
        return values
    added = pc.add(values, pa.scalar(0.0, values.type))  # turns -0.0 into 0.0
    return pc.if_else(pc.is_nan(added), pa.scalar(float("nan"), values.type), added)


class PackedTable:
    """Distinct rows of ranks that become values only when they are read."""

    def __init__(self, rows: SortedRows, columns: Sequence[RankedValues], weight: str | None) -> None:
        """Keeps what is given.

        Args:
            rows: The ranks.
            columns: Their values.
            weight: The name of a column for the weights, if any.
        """
        self._rows = rows
        self._columns = columns
        self._weight = weight
        self.num_rows = len(rows)
        self.schema: pa.Schema = self.slice(0, 0).schema

    def slice(self, offset: int = 0, length: int | None = None) -> pa.Table:
        """`length` rows from an offset on, or all from there, as a table."""
        stop = self.num_rows if length is None else offset + length
        ranks = zip(self._columns, self._rows.part(offset, stop), strict=True)
        values = {column.name: column.column(rank) for column, rank in ranks}
        weights = {self._weight: pa.array(self._rows.weight[offset:stop])} if self._weight else {}
        return pa.table({**values, **weights})


def released_rows(rows: Rows, masking: Masking, weight: str | None) -> CountedRows:
    """The rows of a release, sorted by their released values.

    Args:
        rows: The checked rows.
        masking: What their values are released as.
        weight: The weight column. If given, rows that masking made equal are merged, so that no weight identifies a raw
            row.
    """
    outline = rows.outline
    *attributes, class_ = released_columns(outline, masking)
    columns: list[DescribedColumn | OtherColumn] = [
        *(DescribedColumn(column, place) for place, column in enumerate(attributes)),
        *(OtherColumn(name) for name in outline.others.names),
        DescribedColumn(class_, None),
    ]
    distinct = DistinctRows([column.room for column in columns])
    for chunk in rows.chunks(range(len(attributes)), others=True):
        distinct.add([column.of(chunk) for column in columns], chunk.weight)
    settled = [column.settled() for column in columns]
    found = distinct.sorted()
    if outline.others.names:
        found = _by_rank(found, settled)
    return CountedRows(PackedTable(found, settled, weight), None if weight else found.weight)


def _by_rank(rows: SortedRows, columns: Sequence[RankedValues]) -> SortedRows:
    """Rows of numbers as rows of ranks, in the order of these."""
    distinct = DistinctRows([len(column.values) for column in columns])
    for start in range(0, len(rows), BATCH):
        numbers = zip(columns, rows.part(start, start + BATCH), strict=True)
        distinct.add([column.rank_of[codes] for column, codes in numbers], rows.weight[start : start + BATCH])
    return distinct.sorted()


def released_columns(outline: Outline, masking: Masking) -> list[RankedValues]:
    """What the codes of each attribute, and last of the class, are released as."""
    columns = [
        _released_column(domain, masking, histogram.sum(axis=1) > 0)
        for domain, histogram in zip(outline.columns, outline.histograms, strict=True)
    ]
    return [*columns, ranked(outline.classes.name, outline.classes.array, outline.histograms[0].sum(axis=0) > 0)]


def _released_column(domain: Domain, masking: Masking, held: BoolArray) -> RankedValues:
    """The released form of the values of the domain; a value without a label must not be released."""
    entry = masking[domain.name]
    if isinstance(entry, AsIs):
        return ranked(domain.name, domain.array, held)
    labels = pa.array(entry.labels(domain.array.to_pylist()), pa.string())
    column = ranked(domain.name, labels, held)
    if column.values.null_count:
        raise BrokenPromiseError(f"{domain.name!r} has a value without a block in its cut; nothing was released.")
    return column
