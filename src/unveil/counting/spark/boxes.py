"""Distinct rows that stay on the cluster while the joint search splits them into boxes.

The rows are checkpointed once and never change. Every question of the search is one job: each partition computes
numbers from its rows and merges equal ones, and Spark adds up. The splits made so far travel with the job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from unveil.counting.distinct import DistinctRows, unpacked
from unveil.counting.far import FarMarked, Held, Tally
from unveil.counting.spark.session import told_plainly
from unveil.tables import Outline

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WEIGHT = "w"


def far_marked(frame: DataFrame, sizes: Sequence[int], columns: int, outline: Outline) -> FarMarked:
    """Checkpoints the distinct rows.

    Args:
        frame: Codes of the attributes, of the other marks and of the class, `k0, k1, …`, and the weight `w`.
        sizes: How many values each has.
        columns: How many attributes there are.
        outline: The table without its rows.
    """
    held = frame.localCheckpoint()
    rows = held.count()

    def gather(function: Callable[[Held], Tally], numbers: Sequence[int]) -> Tally:
        with told_plainly(outline.origin):
            return gathered(held, columns, function, numbers)

    return FarMarked(gather, list(sizes[:columns]), [sizes[-1], *sizes[columns:-1]], rows, outline.records)


def gathered(frame: DataFrame, columns: int, function: Callable[[Held], Tally], sizes: Sequence[int]) -> Tally:
    """What a function computes from all rows: the distinct numbers with the sums of their weights."""
    from pyspark.sql import functions

    words = [f"word{number}" for number in range(DistinctRows(sizes).sorted().keys.shape[1])]

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        distinct = DistinctRows(sizes)
        for batch in batches:
            *codes, weight = (column.to_numpy() for column in batch.columns)
            if len(weight):
                distinct.add(*function(Held(codes[:columns], [codes[-1], *codes[columns:-1]], weight)))
        rows = distinct.sorted()
        yield pa.RecordBatch.from_arrays([*map(pa.array, rows.keys.T), pa.array(rows.weight)], [*words, WEIGHT])

    schema = ", ".join(f"{name} bigint" for name in [*words, WEIGHT])
    found = frame.mapInArrow(run, schema).groupBy(*words).agg(functions.sum(WEIGHT).alias(WEIGHT)).toArrow()
    *keys, weight = (column.to_numpy() for column in found.columns)
    return Tally(unpacked(keys, sizes), weight)
