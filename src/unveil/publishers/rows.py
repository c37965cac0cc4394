"""The released rows: masked values column by column, in an order that owes nothing to the input's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import CodeArray, IntArray, packed_keys, run_starts, sorted_order
from unveil.masking import AsIs, Masking, dictionary_of
from unveil.schema import Spec
from unveil.tables import Column, Table


@dataclass(frozen=True)
class RankedColumn:
    """Distinct released values in ascending order and, per row, the rank of its value.

    Only values that some released row holds are kept: a dictionary must not carry what was masked or dropped.
    """

    name: str
    values: pa.Array
    ranks: CodeArray

    def take(self, rows: IntArray) -> pa.Array:
        """The column in the order of the given rows; text stays a dictionary of its few values."""
        ranks = pa.array(self.ranks[rows])
        if pa.types.is_string(self.values.type):
            return pa.DictionaryArray.from_arrays(ranks, self.values)
        return self.values.take(ranks)


def released_rows(table: Table, masking: Masking, spec: Spec) -> pa.Table:
    """The rows of a release, sorted by their released values.

    With a weight column, rows that masking has made equal become one row, so that no weight points at a raw row.
    """
    columns = [ranked(column.name, _released_values(column, masking), column.codes) for column in table.columns]
    columns += [ranked_as_is(name, table.others[name]) for name in table.others.column_names]
    columns.append(ranked(table.classes.name, table.classes.array, table.classes.codes))
    keys = packed_keys([column.ranks for column in columns], [len(column.values) for column in columns])
    order = sorted_order(keys)
    if table.weight is None:
        return pa.table({column.name: column.take(order) for column in columns})
    starts = run_starts(keys, order)
    released = {column.name: column.take(order[starts]) for column in columns}
    released[str(spec.table.weight)] = pa.array(np.add.reduceat(table.weight[order], starts))
    return pa.table(released)


def _released_values(column: Column, masking: Masking) -> pa.Array:
    """What each value of the domain is released as."""
    entry = masking[column.name]
    if isinstance(entry, AsIs):
        return column.array
    return pa.array(entry.labels(column.array.to_pylist()), pa.string())


def ranked(name: str, released: pa.Array, codes: CodeArray) -> RankedColumn:
    """Ranks the released values that occur. Values that share a label share a rank."""
    held = np.bincount(codes, minlength=len(released)) > 0
    values = pc.unique(released.filter(pa.array(held)))
    values = values.take(pc.sort_indices(values))
    rank_of = pc.index_in(released, values).fill_null(0).to_numpy(zero_copy_only=False)
    return RankedColumn(name, values, rank_of.astype(np.int32)[codes])


def ranked_as_is(name: str, column: pa.ChunkedArray) -> RankedColumn:
    """A column that the spec does not describe. Its nulls stay nulls and come last."""
    encoded = dictionary_of(column)
    indices = encoded.indices
    values = encoded.dictionary
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # minus zero is zero, and sorts like it
    if indices.null_count:
        indices = indices.fill_null(len(values))
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return ranked(name, values, indices.to_numpy(zero_copy_only=False))
