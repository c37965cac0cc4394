"""Levels: how private a group is. Higher is more private.

A level must be anti-monotone: of the pieces that a group falls into, one at least is no more private than the group.
Then the level of a table is the lowest of its groups, refinement can only lower it, and three things follow that the
search is built on:

1. A candidate that is invalid once is invalid for good.
2. After a candidate, the level is the lower of the level now and of the lowest piece that the candidate makes.
3. The lowest piece of a candidate never rises again, so a running minimum over the pieces counted so far is exact.
"""

from __future__ import annotations

from typing import Protocol

from unveil.arrays import BoolArray, FloatArray, IntArray
from unveil.schema import KAnonymity


class Level(Protocol):
    """The level of a requirement."""

    def of(self, counts: IntArray) -> FloatArray:
        """The level of each group, from its counts (one row per group)."""
        ...

    def holds(self, level: FloatArray) -> BoolArray:
        """Whether the requirement is satisfied at a level."""
        ...


class Anonymity:
    """A(QID): the size of the smallest group.

    Anti-monotone because every piece of a group is at most as large as the group.
    """

    def __init__(self, requirement: KAnonymity) -> None:
        self._k = requirement.k

    def of(self, counts: IntArray) -> FloatArray:
        """How many records a group has."""
        sizes: FloatArray = counts.sum(axis=1).astype(float)
        return sizes

    def holds(self, level: FloatArray) -> BoolArray:
        """a(qid) ≥ k."""
        return level >= self._k
