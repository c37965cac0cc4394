"""A uniform random sample of the rows of a source, drawn as they go by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from unveil.arrays import FloatArray
from unveil.masking import decoded
from unveil.tables.sources import Source


class Sample(NamedTuple):
    """Rows of a source, drawn without replacement, in their own order."""

    table: pa.Table
    rows: int
    """How many rows the source has."""


def draw_sample(source: Source, size: int, seed: int = 0) -> Sample:
    """Draws rows so that every set of so many is as likely as any other; all rows if there are no more.

    Each row draws a number, and the rows with the lowest are kept. So the sample depends on the seed and on the order
    of the rows, but not on the batches that they come in, and no more than about twice as many rows are held.

    Args:
        source: The rows.
        size: How many to draw.
        seed: Where the draws start.
    """
    generator = np.random.default_rng(seed)
    held = _Held(size, source.schema)
    rows = 0
    for batch in source.batches(source.schema.names):
        held.add(batch, generator.random(batch.num_rows))
        rows += batch.num_rows
    return Sample(held.table(), rows)


class _Held:
    """The rows with the lowest numbers so far."""

    def __init__(self, size: int, schema: pa.Schema) -> None:
        self._size = size
        self._schema = schema
        self._tables = [_plain(schema.empty_table())]
        self._numbers: FloatArray = np.zeros(0)
        self._highest = 1.0

    def add(self, batch: pa.Table, numbers: FloatArray) -> None:
        """Keeps what may be among the lowest, and makes room when there are twice as many."""
        low = numbers < self._highest
        # As plain values: rows that are few must not hold on to the dictionary of all.
        self._tables.append(_plain(batch.filter(pa.array(low))))
        self._numbers = np.concatenate([self._numbers, numbers[low]])
        if len(self._numbers) > 2 * self._size:
            self._shrink()

    def table(self) -> pa.Table:
        """The sample, with columns of the types that the source has."""
        self._shrink()
        [table] = self._tables
        columns = {
            field.name: table[field.name].dictionary_encode() if pa.types.is_dictionary(field.type) else column
            for field, column in zip(self._schema, table.columns, strict=True)
        }
        return pa.table(columns)

    def _shrink(self) -> None:
        table = pa.concat_tables(self._tables)
        if len(self._numbers) > self._size:
            lowest = np.sort(np.argpartition(self._numbers, self._size)[: self._size])
            table, self._numbers = table.take(pa.array(lowest)), self._numbers[lowest]
            self._highest = float(self._numbers.max())
        self._tables = [table]


def _plain(table: pa.Table) -> pa.Table:
    return pa.table({name: decoded(table[name]) for name in table.column_names})
