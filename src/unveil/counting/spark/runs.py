"""Distinct rows on the cluster: sorted runs of packed keys, which Spark moves in blocks.

Spark takes longer to look at a row than compiled loops take to count it. So each task sorts and merges its own rows and
cuts them into parts. Spark brings the blocks of each part together, and another task merges them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from unveil.arrays import Array, IntArray
from unveil.cores import each
from unveil.counting.distinct import DistinctRows, SortedRows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BLOCK = 1 << 16
"""How many rows a block has at most."""
TASK_ROWS = 1 << 20
"""A task for this many rows of the table merges what may be much less, if the session has so many tasks."""
MOST_ROWS = 1 << 24
"""No task merges more rows than this on average, whatever the session says: Arrow holds 2 GB at a time."""
WEIGHT = "w"
SCHEMA = "part int, size bigint, total bigint, keys binary, weight binary"
Apply = Callable[[int, SortedRows], Iterable[pa.Table]]
"""What is done with the distinct rows of a part, given its number."""


def parts_of(rows: int, shuffles: int) -> int:
    """Into how many parts the distinct rows of a table are divided, in a session that shuffles into so many tasks."""
    return max(min(shuffles, rows // TASK_ROWS + 1), rows // MOST_ROWS + 1)


def blocks(rows: SortedRows, part: int = 0, least: int = 1) -> Iterator[pa.Table]:
    """Rows as Spark moves them, in at least so many blocks if there are enough."""
    step = max(min(BLOCK, len(rows) // least), 1)
    for start in range(0, len(rows), step):
        keys, weight = rows.keys[start : start + step], rows.weight[start : start + step]
        small = weight.astype(np.min_scalar_type(weight.max()))
        yield pa.table(
            {
                "part": pa.array([part], pa.int32()),
                "size": pa.array([len(weight)]),
                "total": pa.array([int(weight.sum())]),
                "keys": pa.array([keys.tobytes()], pa.binary()),
                "weight": pa.array([small.tobytes()], pa.binary()),
            }
        )


def hashed_blocks(rows: SortedRows, parts: int, words: int | None = None) -> Iterator[pa.Table]:
    """Rows by part: those with equal first words, or if no number is given with equal keys, are in the same."""
    if parts == 1:
        yield from blocks(rows)
        return
    number = np.zeros(len(rows), dtype=np.uint64)
    for word in rows.keys.T[:words]:
        number = (number ^ word.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        number ^= number >> np.uint64(32)
    # The upper half as a share of the parts.
    part = ((number >> np.uint64(32)) * np.uint64(parts) >> np.uint64(32)).astype(np.uint16)
    order = np.argsort(part, kind="stable")
    ends = np.cumsum(np.bincount(part, minlength=parts))
    for place, (start, stop) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        chosen = order[start:stop]
        yield from blocks(SortedRows(rows.sizes, rows.keys[chosen], rows.weight[chosen]), place)


def ranged_blocks(rows: SortedRows, bounds: IntArray) -> Iterator[pa.Table]:
    """Rows by part: each part but the first begins at a bound."""
    edges = [0, *(_place(rows.keys, bound) for bound in bounds), len(rows)]
    for part, (start, stop) in enumerate(pairwise(edges)):
        yield from blocks(SortedRows(rows.sizes, rows.keys[start:stop], rows.weight[start:stop]), part)


def _place(keys: IntArray, bound: IntArray) -> int:
    """How many of some ascending keys are below a bound."""
    start, stop = 0, len(keys)
    for word, value in enumerate(bound):
        first, last = np.searchsorted(keys[start:stop, word], [value, value + 1])
        start, stop = start + int(first), start + int(last)
    return start


def received(batch: pa.RecordBatch, sizes: Sequence[int]) -> Iterator[tuple[int, SortedRows]]:
    """The blocks of a batch with the numbers of their parts."""
    part, size, _, keys, weight = batch.columns
    for place, rows in enumerate(size.to_pylist()):
        # Copies, because compiled loops take arrays that they may write as another type.
        words = np.frombuffer(keys[place].as_buffer(), np.int64).reshape(rows, -1).copy()
        held = weight[place].as_buffer()
        counts = np.frombuffer(held, f"u{held.size // rows}").astype(np.int64)
        yield part[place].as_py(), SortedRows(tuple(sizes), words, counts)


@dataclass(frozen=True)
class Runs:
    """Blocks of distinct rows on the cluster. Once they are merged, no row is in two of them."""

    frame: DataFrame
    sizes: tuple[int, ...]
    """How many codes each column can have."""
    parts: int

    def merged(self) -> Runs:
        """The distinct rows of all runs."""
        return replace(self, frame=self.by_part(lambda part, rows: blocks(rows, part), SCHEMA))

    def by_part(self, apply: Apply, schema: str) -> DataFrame:
        """What is made of the distinct rows of each part."""
        sizes = self.sizes

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            held: dict[int, DistinctRows] = {}
            for batch in batches:
                for part, rows in received(batch, sizes):
                    held.setdefault(part, DistinctRows(sizes)).add_run(rows)
            for part in sorted(held):
                for table in apply(part, held.pop(part).sorted()):
                    yield from table.to_batches()

        # Before 4.1 Spark chooses tasks by a hash of the part, so that some get more parts than others.
        by_id = getattr(self.frame, "repartitionById", self.frame.repartition)
        moved: DataFrame = by_id(self.parts, "part")
        return moved.mapInArrow(run, schema)

    def totals(self) -> tuple[int, int]:
        """How many rows and records there are."""
        found = self.frame.select("size", "total").toArrow()
        return sum(found["size"].to_pylist()), sum(found["total"].to_pylist())

    def collected(self) -> SortedRows:
        """The distinct rows, in the driver."""
        distinct, last = DistinctRows(self.sizes), -1
        held: list[SortedRows] = []
        for batch in self.frame.toArrow().to_batches():
            for part, rows in received(batch, self.sizes):
                if part != last and held:
                    distinct.add_run(self._joined(held))
                    held = []
                held.append(rows)
                last = part
        if held:
            distinct.add_run(self._joined(held))
        return distinct.sorted()

    def _joined(self, held: Sequence[SortedRows]) -> SortedRows:
        keys, weight = [rows.keys for rows in held], [rows.weight for rows in held]
        return SortedRows(self.sizes, np.concatenate(keys), np.concatenate(weight))

    def unordered(self) -> tuple[list[Array], IntArray]:
        """The codes of the distinct rows, column by column, and their weights, in the driver."""
        batches = self.frame.toArrow().to_batches()
        sizes = [sum(batch["size"].to_pylist()) for batch in batches]
        weight = np.empty(sum(sizes), dtype=np.int64)
        columns = [np.empty(len(weight), codes.dtype) for codes in DistinctRows(self.sizes).sorted().columns()]

        def unpack(number: int) -> None:
            start = sum(sizes[:number])
            for _, rows in received(batches[number], self.sizes):
                place = slice(start, start + len(rows))
                weight[place] = rows.weight
                for column, codes in zip(columns, rows.columns(), strict=True):
                    column[place] = codes
                start = place.stop

        each(unpack, range(len(batches)), len(weight))
        return columns, weight

    def in_order(self) -> Runs:
        """The same rows in parts that follow each other."""
        if self.parts == 1:
            return self
        bounds, sizes = self._bounds(), self.sizes

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for _, rows in received(batch, sizes):
                    for table in ranged_blocks(rows, bounds):
                        yield from table.to_batches()

        return replace(self, frame=self.frame.mapInArrow(run, SCHEMA))

    def _bounds(self) -> IntArray:
        """Keys at which parts of about as many records each begin, as far as the first rows of blocks show."""
        from pyspark.sql import functions

        words = DistinctRows(self.sizes).sorted().keys.shape[1]
        first = functions.substring("keys", 1, 8 * words).alias("first")
        found = self.frame.select("total", first).toArrow()
        keys = np.frombuffer(b"".join(found["first"].to_pylist()), np.int64).reshape(-1, words)
        if not len(keys):
            return keys
        order = np.lexsort(keys.T[::-1])
        reached = np.cumsum(found["total"].to_numpy()[order])
        places = np.searchsorted(reached, [int(reached[-1]) * part // self.parts for part in range(1, self.parts)])
        bounds: IntArray = keys[order[np.unique(places)]]
        return bounds

    def columns(self) -> DataFrame:
        """The same rows for Spark to look at, with a column for each code, `k0, k1, …`."""
        sizes, names = self.sizes, [f"k{number}" for number in range(len(self.sizes))]

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for _, rows in received(batch, sizes):
                    columns = [pa.array(column.astype(np.int32)) for column in rows.columns()]
                    yield pa.RecordBatch.from_arrays([*columns, pa.array(rows.weight)], [*names, WEIGHT])

        return self.frame.mapInArrow(run, ", ".join([*(f"{name} int" for name in names), f"{WEIGHT} bigint"]))
