"""Rows by the public bins of attributes, and the sums of what they weigh under an additive model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from unveil.arrays import Array, IntArray
from unveil.cores import each, shares
from unveil.counting.engine import Scoring
from unveil.counting.loops import Loop
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
    for chunk in chunks:
        sums += _weighed(chunk, first_odds(chunk, scoring), sizes, scoring.scores, scoring)
    return sums


def first_odds(chunk: BinnedChunk, scoring: Scoring) -> IntArray:
    """The log-odds of rows by each model, before any attribute is known."""
    return np.tile(scoring.base, (len(chunk.bins), 1))


def _weighed(chunk: BinnedChunk, odds: IntArray, sizes: Sequence[int], added: IntArray, scoring: Scoring) -> IntArray:
    """The sums of some rows, on all cores; `added` are the scores that their odds do not have yet, and get here."""
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    changed = np.flatnonzero(np.logical_or.reduceat(added.any(axis=1), first))

    def sums_of(part: range) -> IntArray:
        here, sums = slice(part.start, part.stop), np.zeros((*added.shape, 2), dtype=np.int64)
        rows = chunk.bins[here], first, chunk.classes[here], chunk.records[here], odds[here]
        add_sums(*rows, changed, added, scoring.positive, scoring.weights, sums)
        return sums

    sums: IntArray = sum(
        each(sums_of, shares(np.ones(len(odds), dtype=np.int64))), np.zeros((*added.shape, 2), np.int64)
    )
    return sums


class BinnedRows:
    """The rows of a table by their bins: held if they are few enough, else read again for every round.

    The odds of rows that are held are kept too, if they fit: a round changes the scores of one attribute, so that the
    next one looks up this attribute alone.
    """

    def __init__(self, rows: Rows, bins: Sequence[Array], sizes: Sequence[int]) -> None:
        self._rows = rows
        self._bins = bins
        self._sizes = sizes
        fits = rows.outline.read * 2 * len(bins) <= HELD_BYTES
        self._held = list(self._chunks()) if fits else None
        self._odds: list[IntArray] = []
        self._known: IntArray | None = None
        """The scores that the odds have; None if they are not kept."""

    def sums(self, scoring: Scoring) -> IntArray:
        """The weights per bin, model and side."""
        if self._held is None or self._rows.outline.read * scoring.base.nbytes > HELD_BYTES:
            return weighed(self._chunks() if self._held is None else self._held, self._sizes, scoring)
        if self._known is None:
            self._odds = [first_odds(chunk, scoring) for chunk in self._held]
        added = scoring.scores if self._known is None else scoring.scores - self._known
        self._known = scoring.scores.copy()
        found = (_weighed(*pair, self._sizes, added, scoring) for pair in zip(self._held, self._odds, strict=True))
        sums: IntArray = sum(found, np.zeros((*added.shape, 2), dtype=np.int64))
        return sums

    def _chunks(self) -> Iterator[BinnedChunk]:
        for chunk in self._rows.chunks(range(len(self._bins))):
            yield binned_chunk(chunk, self._bins)


@Loop
def add_sums(
    bins: Array,
    first: Array,
    classes: Array,
    records: Array,
    odds: Array,
    changed: Array,
    added: Array,
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
        odds: The log-odds of each row by each model; changed in place.
        changed: The attributes whose bins have scores to add to them.
        added: These scores, by bin and model.
        positive: The class of each model.
        weights: What a record weighs, as in `Scoring`.
        sums: The sums per bin, model and side; changed in place.
    """
    reach = len(weights) // 2
    for row in range(len(bins)):
        for model in range(len(positive)):
            now = odds[row, model]
            for column in changed:
                now += added[first[column] + bins[row, column], model]
            odds[row, model] = now
            side = 1 if classes[row] == positive[model] else 0
            own = now if side == 1 else -now
            weight = weights[reach + min(max(own, -reach), reach)] * records[row]
            for column in range(bins.shape[1]):
                sums[first[column] + bins[row, column], model, side] += weight
