"""A requirement that a refinement would break: by which group, how far, and in which words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from unveil.errors import count_text
from unveil.schema import Atom, KAnonymity, LDiversity, TCloseness, Template, number_text

DIGITS = 4
"""How many digits of a share, a diversity or a distance are told."""


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
        return self.short / self.bound if isinstance(self.atom, KAnonymity | LDiversity) else self.short

    @property
    def who(self) -> str:
        """The group as a reader reads it."""
        return f"{{{', '.join(f'{name} {self.group[name]}' for name in self.telling)}}}"

    @property
    def size(self) -> str:
        """Its records as they read in a sentence."""
        return count_text(self.records, "record")

    def sentence(self) -> str:
        """Which group would break it, and how far."""
        match self.atom:
            case KAnonymity(k=k):
                return f"the group {self.who} would have {self.size}; k asks for {k:,}: {int(self.short):,} short"
            case Template(sensitive=sensitive, value=value, limit=limit):
                held = round(self.level * self.records)
                return (
                    f"in the group {self.who}, {held:,} of {self.size} would hold {sensitive} = {value}: "
                    f"{_number(100 * self.level)}%, {_points(self.short)} above {number_text(round(100 * limit, 6))}%"
                )
            case LDiversity(sensitive=sensitive, l=least, variant=variant):
                has = "different values" if variant == "distinct" else "well represented values (entropy)"
                return (
                    f"the group {self.who} would have {_number(self.level)} {has} of {sensitive}; "
                    f"l asks for {number_text(least)}: {_number(self.short)} short"
                )
            case TCloseness(sensitive=sensitive, t=t):
                return (
                    f"in the group {self.who}, {sensitive} would be {_number(self.level)} away from the whole table; "
                    f"t allows {number_text(t)}: {_number(self.short)} too far"
                )

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
    level, bound = _in_unit(atom, piece.level)
    return Break(number, atom, group, telling, piece.records, level, bound, piece.broken, piece.pieces)


def _in_unit(atom: Atom, level: float) -> tuple[float, float]:
    match atom:
        case KAnonymity(k=k):
            return int(level), k
        case Template(limit=limit):
            return -level, limit
        case LDiversity(l=least, variant="distinct"):
            return int(level), least
        case LDiversity(l=least):
            return math.exp(level), least
        case TCloseness(t=t):
            return -level, t


def _number(value: float) -> str:
    return number_text(float(f"{value:.{DIGITS}g}"))


def _points(share: float) -> str:
    points = _number(100 * share)
    return "1 point" if points == "1" else f"{points} points"
