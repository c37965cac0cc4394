"""Levels: how private a group is. Higher is more private.

A level must be anti-monotone: of the pieces that a group falls into, one at least is no more private than the group.
Then the level of a table is the lowest of its groups, refinement can only lower it, and three things follow that the
search is built on:

1. A candidate that is invalid once is invalid for good.
2. After a candidate, the level is the lower of the level now and of the lowest piece that the candidate makes.
3. The lowest piece of a candidate never rises again, so a running minimum over the pieces counted so far is exact.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from unveil.arrays import BoolArray, FloatArray, IntArray
from unveil.errors import count_text
from unveil.schema import Atom, KAnonymity, LDiversity, TCloseness, Template

ROUNDING = 1e-9
"""How far an entropy or a distance, sums of floats, may pass its bound."""


class Level(Protocol):
    """The level of an atomic requirement."""

    def of(self, counts: IntArray) -> FloatArray:
        """The level of each group, from its counts (one row per group)."""
        ...

    def holds(self, level: FloatArray) -> BoolArray:
        """Whether the requirement is satisfied at a level."""
        ...

    def shortfall(self, total: IntArray) -> str:
        """Why the requirement cannot hold, from the counts of the whole table."""
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

    def shortfall(self, total: IntArray) -> str:
        """The table is too small."""
        return f"it has {count_text(int(total.sum()), 'record')}"


class Inference:
    """−Conf(IC → π): the largest share of a group that holds the sensitive value, negated.

    Anti-monotone because the share of a group is the mean of the shares of its pieces, weighted by their sizes: one
    piece has at least that share (PDA, Lemma 3.2).

    A share and the limit are compared as the floats nearest to them. With at most six decimals in the limit, which the
    spec asks for, two different ones differ by more than rounding does for any group of less than 10⁹ records.
    """

    def __init__(self, template: Template, place: int) -> None:
        self._place = place
        self._template = template

    def of(self, counts: IntArray) -> FloatArray:
        """−s(ic, π) / s(ic)."""
        shares: FloatArray = -counts[:, self._place] / counts.sum(axis=1)
        return shares

    def holds(self, level: FloatArray) -> BoolArray:
        """Conf(IC → π) ≤ h."""
        return -level <= self._template.limit

    def shortfall(self, total: IntArray) -> str:
        """Lemma 3.3: the fully masked table has the smallest confidence there is."""
        held, size = int(total[self._place]), int(total.sum())
        return (
            f"its smallest reachable confidence is {held / size:.2%}, "
            f"with everything masked ({held:,} of {count_text(size, 'record')})"
        )


class DistinctDiversity:
    """How many different sensitive values a group holds.

    Anti-monotone because a piece holds no value that the group does not hold.
    """

    def __init__(self, requirement: LDiversity) -> None:
        self._least = requirement.l

    def of(self, counts: IntArray) -> FloatArray:
        """The number of values held."""
        values: FloatArray = np.count_nonzero(counts, axis=1).astype(np.float64)
        return values

    def holds(self, level: FloatArray) -> BoolArray:
        """At least ℓ values."""
        return level >= self._least

    def shortfall(self, total: IntArray) -> str:
        """The table does not have so many values."""
        return f"the table holds {count_text(int(np.count_nonzero(total)), 'different value')}"


class EntropyDiversity:
    """The entropy of the sensitive values of a group.

    Anti-monotone because entropy is concave: that of a group is at least the mean entropy of its pieces, weighted by
    their sizes, so one piece has at most as much.
    """

    def __init__(self, requirement: LDiversity) -> None:
        self._least = math.log(requirement.l) - ROUNDING

    def of(self, counts: IntArray) -> FloatArray:
        """−Σ p ln p."""
        shares = counts / counts.sum(axis=1, keepdims=True)
        logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
        entropy: FloatArray = -(shares * logs).sum(axis=1)
        return entropy

    def holds(self, level: FloatArray) -> BoolArray:
        """At least log ℓ."""
        return level >= self._least

    def shortfall(self, total: IntArray) -> str:
        """The whole table is not diverse enough."""
        return f"the whole table is only {math.exp(self.of(total[None, :])[0]):.2f}-diverse"


class Closeness:
    """−D(P, Q): how far the sensitive values of a group are from those of the table, negated.

    Anti-monotone because both distances are convex in P: that of a group is at most the mean distance of its pieces,
    weighted by their sizes, so one piece is at least as far.
    """

    def __init__(self, requirement: TCloseness, total: IntArray) -> None:
        self._farthest = requirement.t + ROUNDING
        self._ordered = requirement.distance == "ordered"
        self._held = np.flatnonzero(total)
        self._table = total[self._held] / total.sum()

    def of(self, counts: IntArray) -> FloatArray:
        """Minus the distance; the values that the table holds count, in the order of the domain."""
        held = counts[:, self._held]
        apart = held / held.sum(axis=1, keepdims=True) - self._table
        if not self._ordered:
            equal: FloatArray = -np.abs(apart).sum(axis=1) / 2
            return equal
        ordered: FloatArray = -np.abs(np.cumsum(apart, axis=1)).sum(axis=1) / max(len(self._held) - 1, 1)
        return ordered

    def holds(self, level: FloatArray) -> BoolArray:
        """At most t apart."""
        return -level <= self._farthest

    def shortfall(self, total: IntArray) -> str:
        """It always can: with everything masked the distance is 0."""
        return "the distance of the fully masked table is 0"


def level_of(atom: Atom, values: tuple[str, ...], total: IntArray) -> Level:
    """The level of an atomic requirement.

    Args:
        atom: The requirement.
        values: The values of its sensitive attribute, in the order of the counts.
        total: The counts of the whole table.
    """
    match atom:
        case KAnonymity():
            return Anonymity(atom)
        case Template():
            return Inference(atom, values.index(atom.value))
        case LDiversity(variant="entropy"):
            return EntropyDiversity(atom)
        case LDiversity():
            return DistinctDiversity(atom)
        case TCloseness():
            return Closeness(atom, total)
