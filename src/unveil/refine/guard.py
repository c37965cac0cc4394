"""A guard keeps one requirement: its level now, and what each candidate would make of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from unveil.arrays import BoolArray, FloatArray, IntArray
from unveil.counting import Index, Pieces
from unveil.masking import Offer, Refinement
from unveil.refine.levels import Level


class Guard:
    """One requirement during a search."""

    def __init__(self, level: Level, index: Index, columns: Sequence[int]) -> None:
        self._level = level
        self._index = index
        self.columns = frozenset(columns)
        self.now = float(level.of(index.totals())[0])
        self._lowest: FloatArray = np.zeros(0)

    def after(self) -> FloatArray:
        """The level after each candidate."""
        return np.minimum(self.now, self._lowest)

    def valid(self) -> BoolArray:
        """Which candidates leave the requirement satisfied."""
        return self._level.holds(self.after())

    def concerns(self, columns: IntArray) -> BoolArray:
        """Which candidates are on attributes of this requirement."""
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
            self.now = float(min(self.now, self._lowest[winner]))
            self._take(self._index.refine(refinement, column, offers, alive))

    def _make_room(self, alive: BoolArray) -> None:
        fresh = len(alive) - len(self._lowest)
        self._lowest = np.concatenate([self._lowest, np.full(fresh, np.inf)])

    def _take(self, batches: Iterable[Pieces]) -> None:
        for owner, counts in batches:
            np.minimum.at(self._lowest, owner, self._level.of(counts))
