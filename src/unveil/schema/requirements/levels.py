"""How private a group is, as a number: the level of an atom. A requirement consists of atoms, each with its own level.

A level says how private a group is; higher is more private. A level must be anti-monotone: when a group is split, at
least one piece is at most as private as the group. Then the level of a table is the lowest level of its groups,
refinement can only lower it, and the search can rely on three facts:

1. A candidate that is invalid once is invalid for good.
2. After a candidate, the level is the lower of the level now and of the lowest piece that the candidate makes.
3. The lowest piece of a candidate never rises again, so a running minimum over the pieces counted so far is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unveil.arrays import BoolArray, FloatArray, IntArray
from unveil.errors import count_text

ROUNDING = 1e-9
"""How far an entropy or a distance, sums of floats, may pass its bound."""


@dataclass(frozen=True)
class Level:
    """The level of an atom in a table: how private each group is, and how private it must be."""

    of: Callable[[IntArray], FloatArray]
    """The level of each group, from its counts (one row per group)."""
    least: float
    shortfall: Callable[[], str]
    """Why the requirement cannot hold, where not even the whole table reaches the least level."""

    def holds(self, level: FloatArray) -> BoolArray:
        """Whether the requirement is satisfied at a level."""
        return level >= self.least


def hold_alone(levels: Iterable[tuple[Level, slice]], counts: IntArray) -> bool:
    """Whether a group of one record, with some value that the table has, can hold all levels.

    `counts` are those of the whole table.
    """
    held: dict[int, BoolArray] = {}
    for level, section in levels:
        ones = np.eye(len(counts[section]), dtype=np.int64)[counts[section] > 0]
        alone = level.holds(level.of(ones))
        held[section.start] = held.get(section.start, np.ones_like(alone)) & alone
    return all(bool(alone.any()) for alone in held.values())


@dataclass(frozen=True)
class Worst:
    """The group in which a refinement would break an atom most, as a sentence names it."""

    who: str
    records: int
    level: float
    """What the group would have, in the unit of the bound: records, a share, values, a distance."""
    short: float
    """How far that is from the bound."""

    @property
    def size(self) -> str:
        """Its records in words."""
        return count_text(self.records, "record")


class Atom(Protocol):
    """A requirement with one level."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that are masked for it."""

    @property
    def sensitive(self) -> str | None:
        """The attribute by whose values it counts a group, if any."""

    @property
    def bound(self) -> float:
        """The number that it asks for."""

    @property
    def scale(self) -> float:
        """The unit for distances from the bound, so that atoms of all kinds can be ranked."""

    def implies(self, other: Atom) -> bool:
        """Whether every table that satisfies this atom satisfies the other."""

    def level(self, values: tuple[str, ...], total: IntArray) -> Level:
        """Its level in a table with these counts in total, in the order of the values of the sensitive attribute."""

    def in_unit(self, level: float) -> float:
        """A level in the unit of the bound."""

    def break_sentence(self, worst: Worst) -> str:
        """Which group would break it, and how far."""


def without_redundant(atoms: Sequence[Atom]) -> tuple[Atom, ...]:
    """The atoms that no other one implies; of two equal ones the first."""
    kept: list[Atom] = []
    for place, atom in enumerate(atoms):
        stronger = any(
            other.implies(atom) and (index < place or not atom.implies(other))
            for index, other in enumerate(atoms)
            if index != place
        )
        if not stronger:
            kept.append(atom)
    return tuple(kept)
