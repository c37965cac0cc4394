"""Candidates by score: a heap of scores, and for each score the candidates in the order that breaks ties.

Ties are common, and thousands may be tied, intervals of two records for instance. So the heap is one of scores and not
of candidates: to find the first of all that are tied takes a look at the first of each of a few scores.
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
    """Candidates whose scores may change. What is out of date is thrown away when it comes up."""

    def __init__(self) -> None:
        self._tied: dict[float, list[Ranked]] = {}
        self._falling: list[float] = []
        """The scores that there are, negated, as a heap."""
        self._score: dict[int, float] = {}

    def put(self, ranked: Ranked, score: float) -> None:
        """Enters a candidate, or moves it to another score."""
        if self._score.get(ranked.candidate) == score:
            return
        self._score[ranked.candidate] = score
        if score not in self._tied:
            self._tied[score] = []
            heapq.heappush(self._falling, -score)
        heapq.heappush(self._tied[score], ranked)

    def drop(self, candidate: int) -> None:
        """Takes a candidate out."""
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
        """A candidate of the highest score."""
        return self._tied[-self._falling[0]][0].candidate

    def settle(self, candidate: int) -> bool:
        """Whether the score of a candidate is right. It is, because a search puts again what a step changes."""
        return True

    def first(self, least: float) -> Ranked | None:
        """The first in order of those that score at least so much."""
        seen, firsts = [], []
        while (score := self.best()) is not None and score >= least:
            seen.append(heapq.heappop(self._falling))
            firsts += self._tied[score][:1]
        for falling in seen:
            heapq.heappush(self._falling, falling)
        return min(firsts, default=None)

    def _held(self, score: float) -> bool:
        """Whether a candidate has this score, after those in front that have it no longer are gone."""
        tied = self._tied[score]
        while tied and self._score.get(tied[0].candidate) != score:
            heapq.heappop(tied)
        return bool(tied)
