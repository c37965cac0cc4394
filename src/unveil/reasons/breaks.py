"""A requirement that a refinement would break: by which group, how far, and in which words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from unveil.schema import Atom, Worst


class Piece(NamedTuple):
    """The least private group that a refinement would make, by one requirement."""

    group: int
    child: int
    level: float
    """Higher is more private, as the search has it."""
    records: int
    broken: int
    """How many groups that it would make fall short."""
    pieces: int
    """How many groups it would make."""


@dataclass(frozen=True)
class Break:
    """A requirement that a refinement would break, and the group by which it would break most."""

    requirement: int
    """The number of the requirement in the spec, from 1."""
    atom: Atom
    group: dict[str, str]
    """The masked values of the group as it would be."""
    telling: tuple[str, ...]
    """Those of its attributes that are not fully masked."""
    records: int
    level: float
    """What the group would have, in the unit of the bound: records, a share, values, a distance."""
    bound: float
    broken: int
    pieces: int

    @property
    def short(self) -> float:
        """How far the group is from the bound, in its unit; always above 0."""
        return abs(self.bound - self.level)

    @property
    def share(self) -> float:
        """The same on a scale that all requirements share: 0 just valid, 1 as far as can be."""
        return self.short / self.atom.scale

    @property
    def who(self) -> str:
        """The group as a reader reads it."""
        return f"{{{', '.join(f'{name} {self.group[name]}' for name in self.telling)}}}"

    def sentence(self) -> str:
        """Which group would break it, and how far."""
        return self.atom.break_sentence(Worst(self.who, self.records, self.level, self.short))

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, for JSON."""
        return {
            "requirement": self.requirement,
            "asks": str(self.atom),
            "group": self.group,
            "records": self.records,
            "level": self.level,
            "bound": self.bound,
            "short": self.short,
            "groups-made": self.pieces,
            "groups-broken": self.broken,
            "sentence": self.sentence(),
        }


def break_of(number: int, atom: Atom, piece: Piece, group: dict[str, str], telling: tuple[str, ...]) -> Break:
    """A break, with the level of the search turned into the unit of the bound.

    Args:
        number: The number of the requirement in the spec.
        atom: The part of it that breaks.
        piece: The worst group.
        group: Its masked values.
        telling: Its attributes that are not fully masked.
    """
    level = atom.in_unit(piece.level)
    return Break(number, atom, group, telling, piece.records, level, atom.bound, piece.broken, piece.pieces)
