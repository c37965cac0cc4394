"""The released rows: masked values column by column, in an order that owes nothing to the input's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import BoolArray, CodeArray, packed_keys, sorted_order
from unveil.counting.distinct import DistinctRows
from unveil.masking import AsIs, Masking, dictionary_of
from unveil.release import CountedRows
from unveil.tables import Chunk, Domain, Outline, Rows

NUMBERED = 1 << 31
"""Room for the values of a column that the spec does not describe: they are numbered as they come."""


@dataclass(frozen=True)
class RankedValues:
    """Distinct released values in ascending order, and the rank of the value that each code is released as.

    Only values that some released row holds are kept: a dictionary must not carry what was masked or dropped.
    """

    name: str
    values: pa.Array
    rank_of: CodeArray

    def column(self, ranks: CodeArray) -> pa.Array:
        """A column of these values; text stays a dictionary of its few values."""
        places = pa.array(ranks.astype(np.int32))
        if pa.types.is_string(self.values.type):
            return pa.DictionaryArray.from_arrays(places, self.values)
        return self.values.take(places)


def ranked(name: str, released: pa.Array, held: BoolArray) -> RankedValues:
    """Ranks the released values that are held. Values that share a label share a rank; nulls come last."""
    values = pc.unique(released.filter(pa.array(held)))
    values = values.take(pc.sort_indices(values))
    rank_of = pc.index_in(released, values).fill_null(0).to_numpy(zero_copy_only=False)
    return RankedValues(name, values, rank_of.astype(np.int32))


class DescribedColumn:
    """A column that the spec describes: what its codes are released as is known before any row is read."""

    def __init__(self, released: RankedValues, place: int | None) -> None:
        """Knows where the codes stand.

        Args:
            released: What the codes are released as.
            place: The place of the attribute; the class if there is none.
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
    """A column that the spec does not describe. Its values are numbered as they come; nulls stay nulls."""

    room = NUMBERED

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen: pa.Array | None = None

    def of(self, chunk: Chunk) -> CodeArray:
        """The values of some rows, by their numbers."""
        encoded = dictionary_of(chunk.others[self._name])
        values = encoded.dictionary
        if pa.types.is_floating(values.type):
            values = pc.add(values, pa.scalar(0.0, values.type))  # minus zero is zero, and sorts like it
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
        indices = encoded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)
        numbers: CodeArray = self._numbers(values)[indices]
        return numbers

    def _numbers(self, values: pa.Array) -> CodeArray:
        if self._seen is None:
            self._seen = values.slice(0, 0)
        fresh = values.filter(pc.is_null(pc.index_in(values, self._seen)))
        self._seen = pa.concat_arrays([self._seen, pc.unique(fresh)])
        numbers: CodeArray = pc.index_in(values, self._seen).to_numpy(zero_copy_only=False).astype(np.int32)
        return numbers

    def settled(self, numbers: CodeArray) -> RankedValues:
        """The values that some row holds, and the ranks of their numbers."""
        seen = pa.nulls(0) if self._seen is None else self._seen
        held = np.zeros(len(seen), dtype=np.bool_)
        held[numbers] = True
        return ranked(self._name, seen, held)


def released_rows(rows: Rows, masking: Masking, weight: str | None) -> CountedRows:
    """The rows of a release, sorted by their released values.

    Args:
        rows: The checked rows.
        masking: What their values are released as.
        weight: The weight column. With one, rows that masking has made equal become one row, so that no weight points
            at a raw row.
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
        distinct.add([column.of(chunk) for column in columns], chunk.records)
    codes, counts = distinct.sorted()
    settled = [
        column.settled(numbers) if isinstance(column, OtherColumn) else column.settled()
        for column, numbers in zip(columns, codes, strict=True)
    ]
    ranks = [column.rank_of[numbers] for column, numbers in zip(settled, codes, strict=True)]
    order = sorted_order(packed_keys(ranks, [len(column.values) for column in settled]))
    released = {column.name: column.column(rank[order]) for column, rank in zip(settled, ranks, strict=True)}
    if weight is None:
        return CountedRows(pa.table(released), counts[order])
    return CountedRows(pa.table({**released, weight: pa.array(counts[order])}))


def released_columns(outline: Outline, masking: Masking) -> list[RankedValues]:
    """What the codes of each attribute, and last of the class, are released as."""
    columns = [
        ranked(domain.name, _released_values(domain, masking), histogram.sum(axis=1) > 0)
        for domain, histogram in zip(outline.columns, outline.histograms, strict=True)
    ]
    return [*columns, ranked(outline.classes.name, outline.classes.array, outline.histograms[0].sum(axis=0) > 0)]


def _released_values(domain: Domain, masking: Masking) -> pa.Array:
    """What each value of the domain is released as."""
    entry = masking[domain.name]
    if isinstance(entry, AsIs):
        return domain.array
    return pa.array(entry.labels(domain.array.to_pylist()), pa.string())
