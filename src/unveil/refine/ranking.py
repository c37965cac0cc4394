"""Candidates by score: a heap of scores, and for each score the candidates in the order that breaks ties.

Ties are common, and thousands of candidates may be tied, such as intervals of two records. So the heap holds scores,
not candidates: the first of all tied candidates is among the first candidates of a few scores.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple


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
