"""Weighted sums per bin on Spark: each partition weighs its rows, and the driver adds up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from unveil.arrays import Array, IntArray
from unveil.counting.engine import Scoring
from unveil.counting.spark.source import SparkSource
from unveil.counting.sums import BinnedChunk, binned_chunk, weighed
from unveil.tables import Coder, Outline, Recount, changed


class SparkBinned:
    """Rows that are read and binned in every round, where they lie."""

    def __init__(
        self, source: SparkSource, coder: Coder, outline: Outline, bins: Sequence[Array], sizes: Sequence[int]
    ) -> None:
        self._source = source
        self._coder = coder
        self._outline = outline
        self._bins = bins
        self._sizes = sizes

    def sums(self, scoring: Scoring) -> IntArray:
        """The weights per bin, model and side."""
        coder, bins, sizes = self._coder, self._bins, self._sizes
        places = range(len(bins))

        def weigh(batches: Iterator[pa.Table]) -> Iterator[pa.Table]:
            recount, seen = Recount(coder, places), 0

            def chunks() -> Iterator[BinnedChunk]:
                nonlocal seen
                for batch in batches:
                    chunk = binned_chunk(recount.chunk(batch), bins)
                    seen += int(chunk.records.sum())
                    yield chunk

            sums = weighed(chunks(), sizes, scoring)
            yield pa.table({"sums": pa.array([sums.tobytes()], pa.binary()), "records": pa.array([seen])})

        frame = self._source.partitions(weigh, Recount(coder, places).names, "sums binary, records bigint")
        with self._source.watched():
            found = frame.toArrow()
        if sum(found["records"].to_pylist()) != self._outline.records:
            raise changed(self._outline.origin)
        total = np.zeros((*scoring.scores.shape, 2), dtype=np.int64)
        for part in found["sums"]:
            total += np.frombuffer(part.as_py(), dtype=np.int64).reshape(total.shape)
        return total
