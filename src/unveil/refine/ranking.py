"""Candidates by score: a heap of scores, and for each score the candidates in the order that breaks ties; turns.

Ties are common, and thousands of candidates may be tied, such as intervals of two records. So the heap holds scores,
not candidates: the first of all tied candidates is among the first candidates of a few scores. Suppressed values of the
same kind and the same levels share a shelf: they have the same score, so the first one wins.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from unveil.arrays import FloatArray, Growing, IntArray
from unveil.counting.splits import Choices

NOWHERE = -1


class Ranked(NamedTuple):
    """A candidate in the order of attributes, then of the domain."""

    column: int
    place: int
    candidate: int


class Ranking:
    """Candidates whose scores may change. Stale entries are discarded when they reach the top."""

    def __init__(self) -> None:
        self._tied: dict[float, list[Ranked]] = {}
        self._falling: list[float] = []
        """The distinct scores, negated, as a heap."""
        self._score: dict[int, float] = {}

    def put(self, ranked: Ranked, score: float) -> None:
        """Adds a candidate, or moves it to another score."""
        if self._score.get(ranked.candidate) == score:
            return
        self._score[ranked.candidate] = score
        if score not in self._tied:
            self._tied[score] = []
            heapq.heappush(self._falling, -score)
        heapq.heappush(self._tied[score], ranked)

    def drop(self, candidate: int) -> None:
        """Removes a candidate."""
        self._score.pop(candidate, None)

    def best(self) -> float | None:
        """The highest score."""
        while self._falling:
            score = -self._falling[0]
            if self._held(score):
                return score
            heapq.heappop(self._falling)
            del self._tied[score]
        return None

    def leader(self) -> int:
        """A candidate with the highest score."""
        return self._tied[-self._falling[0]][0].candidate

    def settle(self, candidate: int) -> bool:
        """Whether the score of a candidate is current. It always is, because the search updates what a step changes."""
        return True

    def first(self, least: float) -> Ranked | None:
        """The first candidate in order with at least this score."""
        seen, firsts = [], []
        while (score := self.best()) is not None and score >= least:
            seen.append(heapq.heappop(self._falling))
            firsts += self._tied[score][:1]
        for falling in seen:
            heapq.heappush(self._falling, falling)
        return min(firsts, default=None)

    def _held(self, score: float) -> bool:
        """Whether a candidate has this score, after stale entries at the front are removed."""
        tied = self._tied[score]
        while tied and self._score.get(tied[0].candidate) != score:
            heapq.heappop(tied)
        return bool(tied)


class Shelves:
    """Numbered values on shelves. Empty shelves are reused."""

    def __init__(self, values: int, requirements: int) -> None:
        self.shelf_of: IntArray = np.full(values, NOWHERE)
        self.kind = Growing(np.int64)
        """The kind of the values on each shelf."""
        self.after = Growing(np.float64, requirements)
        """The levels after these values."""
        self.first = Growing(np.int64)
        """The first of them."""
        self.number = Growing(np.int64)
        """How many they are."""
        self._heaps: list[list[int]] = []
        self._shelf: dict[tuple[int, bytes], int] = {}
        self._empty: list[int] = []

    def members(self, shelf: int) -> IntArray:
        """The values on a shelf, ascending."""
        return np.flatnonzero(self.shelf_of == shelf)

    def put(self, values: IntArray, kinds: IntArray, after: FloatArray) -> None:
        """Puts values, in ascending order, on the shelves where they belong."""
        keys = np.column_stack([kinds, after])
        if np.all(keys == keys[0]):
            self._put(values, int(kinds[0]), after[0])
            return
        order = np.lexsort(keys.T)
        fresh = np.any(keys[order][1:] != keys[order][:-1], axis=1)
        for same in np.split(order, np.flatnonzero(fresh) + 1):
            self._put(values[same], int(kinds[same[0]]), after[same[0]])

    def take(self, values: IntArray) -> None:
        """Removes values from their shelves, if they are on any."""
        shelves, left = np.unique(self.shelf_of[values], return_counts=True)
        self.shelf_of[values] = NOWHERE
        for shelf, count in zip(shelves.tolist(), left.tolist(), strict=True):
            if shelf != NOWHERE:
                self.number.rows[shelf] -= count
                self._tidy(shelf)

    def _put(self, values: IntArray, kind: int, after: FloatArray) -> None:
        shelf = self._shelf.get((kind, after.tobytes()), NOWHERE)
        if shelf == NOWHERE and self._relabel(values, kind, after):
            return
        self.take(values)
        if shelf == NOWHERE:
            shelf = self._new(kind, after)
            self._heaps[shelf] = values.tolist()
        else:
            for value in values.tolist():
                heapq.heappush(self._heaps[shelf], value)
        self.shelf_of[values] = shelf
        self.number.rows[shelf] += len(values)
        self._tidy(shelf)

    def _relabel(self, values: IntArray, kind: int, after: FloatArray) -> bool:
        """Changes a shelf in place if all its values move together; says whether it did."""
        shelf = int(self.shelf_of[values[0]])
        if shelf == NOWHERE or self.number.rows[shelf] != len(values) or np.any(self.shelf_of[values] != shelf):
            return False
        del self._shelf[self._key(shelf)]
        self._label(shelf, kind, after)
        return True

    def _label(self, shelf: int, kind: int, after: FloatArray) -> None:
        self.kind.rows[shelf] = kind
        self.after.rows[shelf] = after
        self._shelf[self._key(shelf)] = shelf

    def _key(self, shelf: int) -> tuple[int, bytes]:
        return int(self.kind.rows[shelf]), self.after.rows[shelf].tobytes()

    def _new(self, kind: int, after: FloatArray) -> int:
        if not self._empty:
            for array in (self.kind, self.after, self.first, self.number):
                array.add(1)
            self._empty.append(len(self._heaps))
            self._heaps.append([])
        shelf = self._empty.pop()
        self._label(shelf, kind, after)
        return shelf

    def _tidy(self, shelf: int) -> None:
        """Finds the first value of a shelf, or frees a shelf without values."""
        if not self.number.rows[shelf]:
            del self._shelf[self._key(shelf)]
            self._heaps[shelf] = []
            self._empty.append(shelf)
            return
        heap = self._heaps[shelf]
        while self.shelf_of[heap[0]] != shelf:
            heapq.heappop(heap)
        self.first.rows[shelf] = heap[0]


class Best(NamedTuple):
    """The best valid candidate of each attribute in each box; its rank is −∞ where there is none."""

    rank: FloatArray
    way: IntArray
    cell: IntArray
    gain: FloatArray
    cost: IntArray
    records: IntArray
    """The records of each box."""

    def of(self, box: IntArray, column: IntArray) -> tuple[Choices, FloatArray, IntArray]:
        """The candidates of attributes in boxes, their gains and their costs."""
        at = box, column
        return Choices(column, self.way[at], self.cell[at]), self.gain[at], self.cost[at]


class Turn(NamedTuple):
    """When a refinement is next: the best rank first, then by attribute, domain and way."""

    minus_rank: float
    attribute: int
    place: int
    slot: int
