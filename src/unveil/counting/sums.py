"""Weighted sums per bin: rows are binned once, and weighed once per round of the additive method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from unveil.arrays import Array, IntArray
from unveil.counting.engine import Scoring
from unveil.tables import Chunk, Rows

HELD_BYTES = 1 << 29
"""Binned rows of more bytes than this are read again for every round."""


class BinnedChunk(NamedTuple):
    """Some rows by their bins."""

    bins: Array
    """One row per row, one column per attribute."""
    classes: Array
    records: IntArray


def binned_chunk(chunk: Chunk, bins: Sequence[Array]) -> BinnedChunk:
    """The bins of some rows."""
    found = np.empty((len(chunk), len(bins)), dtype=np.uint16)
    for place, of_codes in enumerate(bins):
        found[:, place] = of_codes[chunk.codes[place]]
    return BinnedChunk(found, chunk.classes.astype(np.uint16), chunk.records)


def weighed(chunks: Iterable[BinnedChunk], sizes: Sequence[int], scoring: Scoring) -> IntArray:
    """The sums of `Binned` over some rows."""
    sums = np.zeros((*scoring.scores.shape, 2), dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    for chunk in chunks:
        add_sums(
            chunk.bins,
            first,
            chunk.classes,
            chunk.records,
            scoring.base,
            scoring.scores,
            scoring.positive,
            scoring.weights,
            sums,
        )
    return sums


class BinnedRows:
    """The rows of a table by their bins: held if they are few enough, else read again for every round."""

    def __init__(self, rows: Rows, bins: Sequence[Array], sizes: Sequence[int]) -> None:
        self._rows = rows
        self._bins = bins
        self._sizes = sizes
        fits = rows.outline.read * 2 * len(bins) <= HELD_BYTES
        self._held = list(self._chunks()) if fits else None

    def sums(self, scoring: Scoring) -> IntArray:
        """The weights per bin, model and side."""
        return weighed(self._chunks() if self._held is None else self._held, self._sizes, scoring)

    def _chunks(self) -> Iterator[BinnedChunk]:
        for chunk in self._rows.chunks(range(len(self._bins))):
            yield binned_chunk(chunk, self._bins)


@njit(cache=True, nogil=True)
def add_sums(
    bins: Array,
    first: Array,
    classes: Array,
    records: Array,
    base: Array,
    scores: Array,
    positive: Array,
    weights: Array,
    sums: Array,
) -> None:
    """Adds the weights of rows to the sums of their bins, in whole numbers only.

    Args:
        bins: One row per row, one column per attribute: the number of the bin within the attribute.
        first: The number of the first bin of each attribute.
        classes: The class of each row.
        records: How many records each row represents.
        base: The model, as in `Scoring`; so are the next three.
        scores: What each bin adds.
        positive: The class of each model.
        weights: What a record weighs.
        sums: The sums per bin, model and side; changed in place.
    """
    reach = len(weights) // 2
    for row in range(len(bins)):
        for model in range(len(base)):
            odds = base[model]
            for column in range(bins.shape[1]):
                odds += scores[first[column] + bins[row, column], model]
            side = 1 if classes[row] == positive[model] else 0
            own = odds if side == 1 else -odds
            weight = weights[reach + min(max(own, -reach), reach)] * records[row]
            for column in range(bins.shape[1]):
                sums[first[column] + bins[row, column], model, side] += weight
