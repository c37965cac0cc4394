"""The released rows: masked values column by column, in an order that does not depend on the input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import BoolArray, CodeArray, IntArray
from unveil.cores import each
from unveil.counting.distinct import Aside, DistinctRows, GroupMeans, Placement, SortedRows
from unveil.errors import BrokenPromiseError
from unveil.masking import AsIs, LeftOut, Masking, dictionary_of
from unveil.masking.walk import Walk
from unveil.release import CountedRows, Link
from unveil.tables import Chunk, Domain, Outline, Rows, Table

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
    settled: bool = True
    """Whether each value is in some released row; if not, a column is a dictionary of those that it holds."""

    def column(self, ranks: CodeArray) -> pa.Array:
        """A column of these values; text stays a dictionary of its few values."""
        if not pa.types.is_string(self.values.type):
            return self.values.take(pa.array(ranks))
        if not self.settled:
            held = np.bincount(ranks, minlength=len(self.values)) > 0
            fresh = ranked(self.name, self.values, held)
            return fresh.column(fresh.rank_of[ranks])
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

    def __init__(self, released: RankedValues, place: int | None, aside: int | None = None) -> None:
        """Takes the place of the attribute, None for the class; `aside` is the code of rows left out but released."""
        self._released = released
        self._place = place
        self._aside = aside
        self._held: BoolArray = np.zeros(len(released.values), dtype=np.bool_)
        self.room = len(released.values)

    def of(self, rows: PlacedRows) -> CodeArray:
        """The released values of some rows, by their ranks."""
        codes: CodeArray = rows.chunk.classes if self._place is None else rows.chunk.codes[self._place]
        if self._aside is not None and rows.aside is not None:
            codes = np.where(rows.aside, self._aside, codes)
        return self._noted(self._released.rank_of[codes])

    def _noted(self, ranks: CodeArray) -> CodeArray:
        if not self._released.settled:
            self._held[ranks] = True
        return ranks

    def settled(self) -> RankedValues:
        """The values by their ranks."""
        released = self._released
        if not released.settled:
            return ranked(released.name, released.values, self._held)
        return RankedValues(released.name, released.values, np.arange(self.room, dtype=np.int32))


class LocalColumn(DescribedColumn):
    """A column that is refined group by group: the node of a row says its label."""

    def __init__(self, released: RankedValues, tree: int) -> None:
        """Takes what the nodes of a tree are released as, by their numbers, and the place of the tree."""
        super().__init__(released, None)
        self._tree = tree

    def of(self, rows: PlacedRows) -> CodeArray:
        """The labels of some rows, by their ranks. Those that are left out have the labels of the root."""
        nodes = rows.nodes[self._tree]
        return self._noted(self._released.rank_of[nodes if rows.aside is None else np.where(rows.aside, 0, nodes)])


class OtherColumn:
    """A column that the spec does not describe. Its values are numbered as they appear; nulls stay nulls."""

    room = NUMBERED

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen: pa.Array | None = None
        self._held: BoolArray = np.zeros(0, dtype=np.bool_)

    def of(self, rows: PlacedRows) -> CodeArray:
        """The values of some rows, by their numbers."""
        encoded = dictionary_of(rows.chunk.others[self._name])
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
    """Distinct rows of ranks, or of numbers in the order of ranks, that become values only when they are read."""

    def __init__(
        self, rows: SortedRows, columns: Sequence[RankedValues], weight: str | None, *, ranked: bool = True
    ) -> None:
        """Takes the rows, the values of their ranks, and the name of a column for the weights, if any."""
        self._rows = rows
        self._columns = columns
        self._weight = weight
        self._ranked = ranked
        self.num_rows = len(rows)
        self.schema: pa.Schema = self._part(0, 0).schema

    def slice(self, offset: int = 0, length: int | None = None) -> pa.Table:
        """`length` rows from an offset on, or all from there, as a table."""
        stop = self.num_rows if length is None else min(offset + length, self.num_rows)
        return self._part(offset, stop) if stop - offset < self.num_rows or self.num_rows > BATCH else self._all

    @cached_property
    def _all(self) -> pa.Table:
        """Few rows are kept: they are written, and then counted."""
        return self._part(0, self.num_rows)

    def _part(self, start: int, stop: int) -> pa.Table:
        def column(values: RankedValues, codes: CodeArray) -> pa.Array:
            return values.column(codes if self._ranked else values.rank_of[codes])

        held = zip(self._columns, self._rows.part(start, stop), strict=True)
        arrays = each(lambda pair: column(*pair), held, stop - start)
        weights = [pa.array(self._rows.weight[start:stop])] if self._weight else []
        names = [*(values.name for values in self._columns), *([self._weight] if self._weight else [])]
        return pa.table([*arrays, *weights], names=names)


class PlacedRows(NamedTuple):
    """Some rows to release."""

    chunk: Chunk
    nodes: Sequence[CodeArray]
    """For each tree of boxes the leaf of each row, by its node."""
    aside: BoolArray | None
    """Which of them are left out, and so fully masked."""

    def codes(self, columns: Sequence[DescribedColumn | OtherColumn]) -> list[CodeArray]:
        """Their released values in each column."""
        return each(lambda column: column.of(self), columns, len(self.chunk))


class Masker:
    """What becomes of the rows of a table. It is plain data, to be sent to workers."""

    def __init__(self, outline: Outline, masking: Masking, left_out: LeftOut | None = None) -> None:
        """Looks up what the values of the domains are released as; the search may have left rows out."""
        self._placement = Placement(outline, masking.columns, masking.boxes)
        self._aside = None if left_out is None else Aside(outline, masking, left_out)
        labels = {} if left_out is None or left_out.labels is None else left_out.labels
        self.released: tuple[RankedValues, ...] = tuple(released_columns(outline, masking, left_out))
        """What the codes of each attribute, and last of the class, are released as."""
        self._asides = [len(domain) if domain.name in labels else None for domain in outline.columns]
        tree_of = {name: tree for tree, walk in enumerate(self._placement.walks) for name in walk.local}
        self._trees = [tree_of.get(domain.name) for domain in outline.columns]

    def columns(self) -> list[DescribedColumn]:
        """The columns that the spec describes, the class last."""
        *attributes, class_ = self.released
        found = [
            DescribedColumn(column, place, self._asides[place]) if tree is None else LocalColumn(column, tree)
            for place, (column, tree) in enumerate(zip(attributes, self._trees, strict=True))
        ]
        return [*found, DescribedColumn(class_, None)]

    def placed(self, chunk: Chunk) -> tuple[PlacedRows, int]:
        """The rows that are released, and how many records are left out."""
        if self._aside is None:
            return PlacedRows(chunk, self._placement.nodes(chunk), None), 0
        aside = self._aside.of(chunk)
        records = int(chunk.records[aside].sum())
        if not self._aside.dropped:
            return PlacedRows(chunk, self._placement.nodes(chunk), aside), records
        kept = chunk.filter(~aside)
        return PlacedRows(kept, self._placement.nodes(kept), None), records


def linked(rows: Rows, masking: Masking, left_out: LeftOut | None = None) -> Link:
    """Whom a release of these rows shows, and what it says about each attribute."""
    outline = rows.outline
    masker = Masker(outline, masking, left_out)
    columns = masker.columns()[:-1]
    people: list[IntArray] = []
    ranks: list[list[CodeArray]] = [[] for _ in columns]
    for chunk in rows.chunks(range(len(columns)), persons=True):
        placed, _ = masker.placed(chunk)
        people.append(np.stack(placed.chunk.persons, axis=1))
        for held, column in zip(ranks, columns, strict=True):
            held.append(column.of(placed))
    labels = {
        domain.name: _label_column(domain, masking, released, held)
        for domain, released, held in zip(outline.columns, masker.released[:-1], ranks, strict=True)
    }
    return Link(np.concatenate(people), labels)


def _label_column(
    domain: Domain, masking: Masking, released: RankedValues, ranks: Sequence[CodeArray]
) -> pa.DictionaryArray:
    """What a release says about an attribute, as text that is the same in every release."""
    values = released.values
    if isinstance(masking[domain.name], AsIs):
        text_of = dict(zip(domain.array.to_pylist(), domain.texts, strict=True))
        values = pa.array([text_of[value] for value in values.to_pylist()], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(np.concatenate(ranks)), values)


def released_rows(rows: Rows, masking: Masking, weight: str | None, left_out: LeftOut | None = None) -> CountedRows:
    """The rows of a release, sorted by their released values, without those that the search left out.

    With a weight column, rows that masking made equal are merged, so that no weight identifies a raw row. Refuses rows
    without a label, and to leave out others than the search counted.
    """
    outline = rows.outline
    masker = Masker(outline, masking, left_out)
    *attributes, class_ = masker.columns()
    columns: list[DescribedColumn | OtherColumn] = [
        *attributes,
        *(OtherColumn(name) for name in outline.others.names),
        class_,
    ]
    distinct = DistinctRows([column.room for column in columns])
    means, totals = GroupMeans.of(outline, masking), DistinctRows([column.room for column in columns])
    found_aside = 0
    for chunk in rows.chunks(range(len(attributes)), others=True):
        placed, aside = masker.placed(chunk)
        codes = placed.codes(columns)
        distinct.add(codes, placed.chunk.weight)
        if means is not None:
            totals.add(codes, means.totals(placed.chunk))
        found_aside += aside
    if left_out is not None and found_aside != left_out.records:
        raise BrokenPromiseError(
            f"{found_aside:,} records are left out, but the search left out {left_out.records:,}; nothing was released."
        )
    settled = [column.settled() for column in columns]
    found = distinct.sorted()
    # Values of other columns are numbered as they appear; all other numbers are in the order of ranks.
    by_rank = means is not None or bool(outline.others.names)
    if by_rank:
        found = _by_rank(found, settled)
    if means is not None:
        found, settled = _with_means(found, _by_rank(totals.sorted(), settled).weight, means, settled)
    return CountedRows(PackedTable(found, settled, weight, ranked=by_rank), None if weight else found.weight)


def _with_means(
    rows: SortedRows, totals: IntArray, means: GroupMeans, columns: Sequence[RankedValues]
) -> tuple[SortedRows, list[RankedValues]]:
    """Distinct rows with the mean survey weight of their groups, where they had the same value each."""
    codes, shown = rows.columns(), list(columns)
    values, codes[means.place] = means.ranked([codes[place] for place in means.groups], totals, rows.weight)
    shown[means.place] = ranked(columns[means.place].name, values, np.ones(len(values), dtype=np.bool_))
    distinct = DistinctRows([len(column.values) for column in shown])
    distinct.add(codes, rows.weight)
    return distinct.sorted(), shown


def _by_rank(rows: SortedRows, columns: Sequence[RankedValues]) -> SortedRows:
    """Rows of numbers as rows of ranks, in the order of these."""
    distinct = DistinctRows([len(column.values) for column in columns])
    for start in range(0, len(rows), BATCH):
        numbers = zip(columns, rows.part(start, start + BATCH), strict=True)
        distinct.add([column.rank_of[codes] for column, codes in numbers], rows.weight[start : start + BATCH])
    return distinct.sorted()


def released_columns(outline: Outline, masking: Masking, left_out: LeftOut | None = None) -> list[RankedValues]:
    """What the codes of each attribute, and last of the class, are released as.

    For an attribute that is refined group by group: what the nodes of its tree are released as.
    """
    labels = {} if left_out is None or left_out.labels is None else left_out.labels
    walk_of = {name: walk for walk in masking.walks for name in walk.local}
    columns = [
        _local_column(domain.name, walk_of[domain.name])
        if domain.name in walk_of
        else _released_column(domain, masking, histogram.sum(axis=1) > 0, labels.get(domain.name))
        for domain, histogram in zip(outline.columns, outline.histograms, strict=True)
    ]
    classes = ranked(outline.classes.name, outline.classes.array, outline.histograms[0].sum(axis=0) > 0)
    if left_out is None:
        return [*columns, classes]
    # A value may be in no other rows than those left out.
    return [replace(column, settled=False) for column in (*columns, classes)]


def _local_column(name: str, walk: Walk) -> RankedValues:
    """The labels of a tree. Which of them some row has is only known when all rows are masked."""
    labels, label_at = walk.labels(name)
    column = ranked(name, pa.array(labels, pa.string()), np.ones(len(labels), dtype=np.bool_))
    return RankedValues(name, column.values, column.rank_of[label_at], settled=False)


def _released_column(domain: Domain, masking: Masking, held: BoolArray, aside: str | None) -> RankedValues:
    """The released form of the values of the domain; a value that some row holds must have a label.

    If the mean survey weight of a group is released, all values are the same until the groups are counted. The label of
    rows that are left out, if they are released, gets one more code.
    """
    entry = masking[domain.name]
    if isinstance(entry, AsIs):
        if entry.survey_weight is not None and not entry.survey_weight.by_row:
            return RankedValues(domain.name, pa.array([0.0]), np.zeros(len(domain), dtype=np.int32))
        return ranked(domain.name, domain.array, held)
    labels = entry.labels(domain.plain())
    if aside is not None:
        labels, held = [*labels, aside], np.append(held, True)
    column = ranked(domain.name, pa.array(labels, pa.string()), held)
    if column.values.null_count:
        raise BrokenPromiseError(f"{domain.name!r} has a value without a block in its cut; nothing was released.")
    return column


def masked_values(table: Table, masking: Masking) -> dict[str, tuple[list[str], CodeArray]]:
    """For every masked column its labels, and for each row of a table the place of its label among them."""
    masker = Masker(table, masking)
    (chunk,) = table.chunks(range(len(table.columns)))
    placed, _ = masker.placed(chunk)
    columns = zip(masker.released[:-1], masker.columns()[:-1], strict=True)
    return {
        released.name: (released.values.to_pylist(), column.of(placed))
        for released, column in columns
        if not isinstance(masking[released.name], AsIs)
    }
