"""A guard tracks the requirements on one set of attributes: their levels now, and after each candidate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from unveil.arrays import BoolArray, FloatArray, Growing, IntArray
from unveil.counting import Index, Pieces
from unveil.masking import Offer, Refinement
from unveil.schema import Level


class Guard:
    """Requirements that share a partition index, during a search."""

    def __init__(self, levels: Sequence[Level], index: Index, columns: Sequence[int]) -> None:
        self._levels = levels
        self._index = index
        self.columns = frozenset(columns)
        self.now: FloatArray = np.array([level.of(index.totals()).min() for level in levels])
        self._lowest = Growing(np.float64, len(levels))
        """For each candidate, the lowest piece counted so far, by requirement."""

    def __len__(self) -> int:
        """The number of requirements."""
        return len(self._levels)

    def after(self, candidates: IntArray) -> FloatArray:
        """The levels after each candidate, from the pieces counted so far: one row per candidate."""
        return np.minimum(self.now, self._lowest.rows[candidates])

    def valid(self, after: FloatArray) -> BoolArray:
        """Where all requirements are satisfied."""
        held = [level.holds(column) for level, column in zip(self._levels, after.T, strict=True)]
        every: BoolArray = np.logical_and.reduce(held)
        return every

    @property
    def holds(self) -> bool:
        """Whether all requirements are satisfied now."""
        return bool(self.valid(self.now[None, :])[0])

    def loss(self, after: FloatArray) -> FloatArray:
        """The loss of levels, summed over the requirements."""
        lost = np.zeros(len(after))
        for now, column in zip(self.now, after.T, strict=True):
            lower = column < now  # both are infinite where no rows are left
            lost[lower] += now - column[lower]
        return lost

    def start(self, offers: Sequence[Offer], alive: BoolArray) -> None:
        """Counts what the first candidates would do."""
        self._make_room(alive)
        mine = [offer for offer in offers if offer.column in self.columns]
        for pieces in self._index.watch(mine, alive):
            self._lower(pieces)

    def perform(
        self, winner: int, refinement: Refinement, offers: Sequence[Offer], column: int, alive: BoolArray
    ) -> IntArray:
        """Performs a refinement, in the groups that hold the block; returns the candidates whose pieces it counted."""
        self._make_room(alive)
        if column not in self.columns:
            return np.zeros(0, dtype=np.int64)
        self.now = self.after(np.array([winner]))[0]
        counted = [np.zeros(0, dtype=np.int64)]
        for pieces in self._index.refine(refinement, column, offers, alive):
            self._lower(pieces)
            counted.append(_distinct(pieces.owner, len(alive)))
        return _distinct(np.concatenate(counted), len(alive))

    def recount(self, offer: Offer, candidates: IntArray) -> None:
        """Updates candidates of an offer whose pieces the index has not all counted."""
        for pieces in self._index.recount(offer, candidates):
            self._lower(pieces)

    def _make_room(self, alive: BoolArray) -> None:
        self._lowest.add(len(alive) - len(self._lowest), np.inf)

    def _lower(self, pieces: Pieces) -> None:
        for level, lowest in zip(self._levels, self._lowest.rows.T, strict=True):
            np.minimum.at(lowest, pieces.owner, level.of(pieces.counts))


def _distinct(owner: IntArray, candidates: int) -> IntArray:
    """The distinct candidates of these pieces, often few."""
    if len(owner) < candidates:
        return np.unique(owner)
    owns = np.zeros(candidates, dtype=np.bool_)
    owns[owner] = True
    return np.flatnonzero(owns)


class Watch:
    """All guards with requirements on an attribute."""

    def __init__(self, guards: Sequence[Guard]) -> None:
        self._guards = guards
        self._ends = np.cumsum([len(guard) for guard in self._guards])[:-1]
        self.requirements = sum(len(guard) for guard in self._guards)

    def now(self) -> FloatArray:
        """The levels now, of all guards side by side."""
        return np.concatenate([np.zeros(0), *(guard.now for guard in self._guards)])

    def after(self, candidates: IntArray) -> FloatArray:
        """The levels after candidates, of all guards side by side."""
        held = [guard.after(candidates) for guard in self._guards]
        return np.hstack(held) if held else np.zeros((len(candidates), 0))

    def valid(self, after: FloatArray) -> BoolArray:
        """Where all requirements are satisfied."""
        every = np.ones(len(after), dtype=np.bool_)
        for guard, levels in self._apart(after):
            every &= guard.valid(levels)
        return every

    def loss(self, after: FloatArray) -> FloatArray:
        """The loss of levels, as the mean over the requirements."""
        lost = np.zeros(len(after))
        for guard, levels in self._apart(after):
            lost += guard.loss(levels)
        return lost / max(self.requirements, 1)

    def recount(self, offer: Offer, candidates: IntArray) -> None:
        """Updates candidates of an offer in all guards."""
        for guard in self._guards:
            guard.recount(offer, candidates)

    def _apart(self, after: FloatArray) -> Iterable[tuple[Guard, FloatArray]]:
        return zip(self._guards, np.split(after, self._ends, axis=1), strict=True) if self._guards else ()


def watches(guards: Sequence[Guard], columns: Iterable[int]) -> dict[int, Watch]:
    """The watch of each attribute. Attributes in the same requirements share one, and are rated together."""
    held = {column: tuple(guard for guard in guards if column in guard.columns) for column in columns}
    shared = {mine: Watch(mine) for mine in held.values()}
    return {column: shared[mine] for column, mine in held.items()}
