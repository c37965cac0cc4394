"""A guard keeps the requirements on one set of attributes: their levels now, and after each candidate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from unveil.arrays import BoolArray, FloatArray, IntArray
from unveil.counting import Index, Pieces
from unveil.masking import Offer, Refinement
from unveil.schema import Level


class Guard:
    """Requirements that share a partition index, during a search."""

    def __init__(self, levels: Sequence[Level], index: Index, columns: Sequence[int]) -> None:
        self._levels = levels
        self._index = index
        self.columns = frozenset(columns)
        self.now: FloatArray = np.array([level.of(index.totals())[0] for level in levels])
        self._lowest: FloatArray = np.zeros((len(levels), 0))

    def __len__(self) -> int:
        """How many requirements it keeps."""
        return len(self._levels)

    def after(self) -> FloatArray:
        """The levels after each candidate, one row per requirement."""
        return np.minimum(self.now[:, None], self._lowest)

    def valid(self) -> BoolArray:
        """Which candidates leave all requirements satisfied."""
        held = [level.holds(row) for level, row in zip(self._levels, self.after(), strict=True)]
        every: BoolArray = np.logical_and.reduce(held)
        return every

    def loss(self) -> FloatArray:
        """How much each candidate would take away, summed over the requirements."""
        lost: FloatArray = (self.now[:, None] - self.after()).sum(axis=0)
        return lost

    def concerns(self, columns: IntArray) -> BoolArray:
        """Which candidates are on attributes of these requirements."""
        return np.isin(columns, list(self.columns))

    def start(self, offers: Sequence[Offer], alive: BoolArray) -> None:
        """Counts what the first candidates would do."""
        self._make_room(alive)
        mine = [offer for offer in offers if offer.column in self.columns]
        self._take(self._index.watch(mine, alive))

    def perform(
        self, winner: int, refinement: Refinement, offers: Sequence[Offer], column: int, alive: BoolArray
    ) -> None:
        """Takes over a refinement; only the groups that hold the refined block are touched."""
        self._make_room(alive)
        if column in self.columns:
            self.now = self.after()[:, winner]
            self._take(self._index.refine(refinement, column, offers, alive))

    def _make_room(self, alive: BoolArray) -> None:
        fresh = len(alive) - self._lowest.shape[1]
        self._lowest = np.hstack([self._lowest, np.full((len(self._levels), fresh), np.inf)])

    def _take(self, batches: Iterable[Pieces]) -> None:
        for owner, counts in batches:
            for level, lowest in zip(self._levels, self._lowest, strict=True):
                np.minimum.at(lowest, owner, level.of(counts))
