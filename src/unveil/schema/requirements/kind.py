"""A kind of requirement is one class: it is the section in a spec and defines everything about the kind.

A requirement consists of atoms, each with its own level: a set of sensitive values is one template per value, and
(α, k)-anonymity is k-anonymity and a template per value.

A level says how private a group is; higher is more private. A level must be anti-monotone: when a group is split, at
least one piece is at most as private as the group. Then the level of a table is the lowest level of its groups,
refinement can only lower it, and the search can rely on three facts:

1. A candidate that is invalid once is invalid for good.
2. After a candidate, the level is the lower of the level now and of the lowest piece that the candidate makes.
3. The lowest piece of a candidate never rises again, so a running minimum over the pieces counted so far is exact.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from pydantic import PrivateAttr

from unveil.arrays import BoolArray, FloatArray, IntArray
from unveil.errors import SpecError, count_text
from unveil.schema.attributes import number_text
from unveil.schema.keys import Names, Section

DECIMALS = 6
"""How many decimals a share may have, so that the shares of any table differ from it by more than rounding."""
ROUNDING = 1e-9
"""How far an entropy or a distance, sums of floats, may pass its bound."""
WHO = "Somebody who knows"
PERSONS = "persons"
"""What the entry of a requirement in a manifest says if it counts these."""
DIGITS = 4
"""How many digits of a share, a diversity or a distance a sentence shows."""


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
        ...

    @property
    def sensitive(self) -> str | None:
        """The attribute by whose values it counts a group, if any."""
        ...

    @property
    def bound(self) -> float:
        """The number that it asks for."""
        ...

    @property
    def scale(self) -> float:
        """The unit for distances from the bound, so that atoms of all kinds can be ranked."""
        ...

    def implies(self, other: Atom) -> bool:
        """Whether every table that satisfies this atom satisfies the other."""
        ...

    def level(self, values: tuple[str, ...], total: IntArray) -> Level:
        """Its level in a table with these counts in total, in the order of the values of the sensitive attribute."""
        ...

    def in_unit(self, level: float) -> float:
        """A level in the unit of the bound."""
        ...

    def break_sentence(self, worst: Worst) -> str:
        """Which group would break it, and how far."""
        ...


@dataclass(frozen=True)
class Domain:
    """What a requirement may ask about its sensitive attribute."""

    values: tuple[str, ...]
    held: tuple[str, ...]
    """The values that some record holds, in the order of the domain."""
    category: bool


@dataclass(frozen=True)
class Bound:
    """A number that a requirement asks for, and how an owner may relax it."""

    way: Literal["least", "most"]
    """Whether groups must have at least or at most this much."""
    steps: Callable[[Any], dict[float, str]]
    """The values to try instead, each with the reason if it is not the usual step."""
    symbol: str | None = None
    percent: bool = False

    def as_strict(self, one: float, other: float) -> bool:
        """Whether one number asks for at least as much as the other."""
        return one >= other if self.way == "least" else one <= other

    def text(self, number: float) -> str:
        """The number as a sentence shows it."""
        return f"{number_text(round(100 * number, DECIMALS - 2))}%" if self.percent else number_text(number)


@dataclass(frozen=True)
class Promise:
    """One requirement in words for a reader who is not a statistician."""

    kind: str
    headline: str
    promise: str
    cannot: str
    can: tuple[str, ...]


class Kind(Section):
    """One `[[require]]` section. A kind of requirement is a subclass, listed in `Requirement`."""

    kind: str
    role: ClassVar[Literal["quasi-identifier", "channel"]] = "quasi-identifier"
    """What the spec calls the attributes that it masks."""
    bounds: ClassVar[Mapping[str, Bound]]
    """The keys that are numbers to keep to."""
    sized: ClassVar[bool] = False
    """Whether it counts the size of a group: the persons in it, if the table says who they are.

    Distinct persons are anti-monotone: a piece of a group holds no person that the group does not hold. The share of
    the persons who hold a value is not: of two persons who each have one row with the value and one without, all hold
    it in a group of their four rows, but only half in each half. So shares and distances are over records.
    """
    _persons: bool = PrivateAttr(False)
    """Whether sizes are in persons."""

    @property
    @abstractmethod
    def attributes(self) -> tuple[str, ...]:
        """The attributes that are masked for this requirement."""

    def takes(self) -> tuple[str, ...]:
        """The kinds that its sensitive attribute may have."""
        return ("category",)

    @abstractmethod
    def atoms(self) -> tuple[Atom, ...]:
        """The atoms that it consists of."""

    @abstractmethod
    def sentence(self) -> str:
        """The guarantee as a reader of the release gets it."""

    @abstractmethod
    def promise(self) -> Promise:
        """The guarantee in plain words, with what a stranger can and cannot do."""

    @property
    def unit(self) -> Literal["record", "person"]:
        """What the size of a group counts."""
        return "person" if self._persons else "record"

    def of_persons(self) -> Self:
        """The requirement for a table that says whose row each is."""
        if not self.sized:
            return self
        counting = self.model_copy()
        counting._persons = True
        return counting

    def resolved(self, domain: Domain) -> Self:
        """The requirement with what depends on the values of its sensitive attribute filled in."""
        if "values" in type(self).model_fields and getattr(self, "values", None) is None:
            return self.model_copy(update={"values": domain.values})
        return self

    def describe(self) -> dict[str, object]:
        """The entry of this requirement in a manifest, in the words of the spec."""
        entry = self.model_dump(by_alias=True, mode="json")
        if "values" in entry:
            entry["values"] = entry["values"] or []
        return {**entry, "of": PERSONS} if self._persons else entry

    def steps(self) -> dict[str, dict[float, str]]:
        """For each number it asks for, the values to try instead, each with the reason if it is not the usual step."""
        return {key: bound.steps(getattr(self, key)) for key, bound in self.bounds.items()}

    def check(self, place: str) -> None:
        """Refuses numbers that the kind cannot work with; `place` begins the sentence."""
        for key, bound in self.bounds.items():
            number = getattr(self, key)
            if bound.percent and round(number, DECIMALS) != number:
                raise SpecError(f"{place} {key} is {number}, but it may have at most {DECIMALS} decimals.")


class OnQuasiIdentifier(Kind):
    """A requirement on the groups of a quasi-identifier."""

    quasi_identifier: Names

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that are masked for this requirement."""
        return self.quasi_identifier


class OneLevel(OnQuasiIdentifier):
    """A requirement with one level, which is its own atom; the level is in the unit of its first bound."""

    @property
    def bound(self) -> float:
        """The number that it asks for."""
        number: float = getattr(self, next(iter(self.bounds)))
        return number

    @property
    def way(self) -> Literal["least", "most"]:
        """Whether groups must have at least or at most the bound."""
        return next(iter(self.bounds.values())).way

    @property
    def scale(self) -> float:
        """Counts are relative to their bound; shares and distances already range up to 1."""
        return self.bound if self.way == "least" else max(self.bound, 1.0)

    def atoms(self) -> tuple[Atom, ...]:
        """The requirement itself."""
        return (self,)  # type: ignore[return-value]

    def implies(self, other: Atom) -> bool:
        """Whether the other has a subset of the attributes, bounds that are not stricter, and is otherwise the same.

        A group on a subset of the attributes is a union of groups on all of them. For every level, a union is at least
        as private as its least private part.
        """
        if not isinstance(other, type(self)) or not covers(self, other):
            return False
        pairs = {key: (getattr(self, key), getattr(other, key)) for key in type(self).model_fields}
        del pairs["quasi_identifier"]
        return all(
            mine == theirs if key not in self.bounds else self.bounds[key].as_strict(mine, theirs)
            for key, (mine, theirs) in pairs.items()
        )

    def in_unit(self, level: float) -> float:
        """A level in the unit of the bound; the level of an upper bound is negated."""
        return level if self.way == "least" else -level


def covers(one: Atom | OneLevel, other: Atom) -> bool:
    """Whether the groups on the attributes of one are pieces of the groups on those of the other."""
    return set(other.attributes) <= set(one.attributes)


def percent(share: float) -> str:
    """A share in percent, exact, so that sentences say what is checked."""
    return f"{Decimal(str(share)).scaleb(2).normalize():f}%"


def figure(value: float) -> str:
    """A measured number, rounded for a sentence."""
    return number_text(float(f"{value:.{DIGITS}g}"))


def each(values: Sequence[str] | None) -> str:
    """Values in a sentence; a promise about several values is about each of them."""
    words = [repr(value) for value in values or ()]
    if len(words) == 1:
        return f"the value {words[0]}"
    return f"each of the values {', '.join(words)}" if words else "each value"
