"""A kind of requirement is one class: it is the section in a spec and defines everything about the kind.

A requirement consists of atoms, each with its own level: a set of sensitive values is one template per value, and
(α, k)-anonymity is k-anonymity and a template per value.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import PrivateAttr

from unveil.arrays import FloatArray, IntArray
from unveil.errors import SpecError, braced, named, quoted
from unveil.schema.attributes import number_text
from unveil.schema.keys import Names, Section
from unveil.schema.requirements.levels import ROUNDING, Atom, Level

DECIMALS = 6
"""How many decimals a share may have, so that the shares of any table differ from it by more than rounding."""
PERSONS = "persons"
"""What the entry of a requirement in a manifest says if it counts these."""
DIGITS = 4
"""How many digits of a share, a diversity or a distance a sentence shows."""


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
    kinds: ClassVar[tuple[str, ...]] = ("category",)
    """The kinds that its sensitive attribute may have, whatever else it asks for."""
    of_whole: ClassVar[bool] = False
    """Whether it compares a group with the whole table, which rows left out would change."""
    _persons: bool = PrivateAttr(False)
    """Whether sizes are in persons."""

    @property
    @abstractmethod
    def attributes(self) -> tuple[str, ...]:
        """The attributes that are masked for this requirement."""

    @property
    def sharing(self) -> str:
        """The records of a group, as a sentence names them."""
        return f"the records that share a combination of released values of {braced(self.attributes)}"

    def takes(self) -> tuple[str, ...]:
        """The kinds that its sensitive attribute may have."""
        return self.kinds

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
        if not isinstance(other, type(self)) or not set(other.attributes) <= set(self.attributes):
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


class OnSensitive(OneLevel):
    """A requirement with one level, about the sensitive values that the records of a group hold."""

    title: ClassVar[str]
    """What it is called, with keys of the section in braces."""
    guarantee: ClassVar[str]
    """The guarantee as a reader of the release gets it, with keys in braces and `{records}` for those of a group."""
    sensitive: str

    def sentence(self) -> str:
        """The guarantee as a reader of the release gets it."""
        sentence = self._filled(self.guarantee)
        return sentence[0].upper() + sentence[1:]

    def about_matches(self, *, kind: str, headline: str, promise: str, cannot: str, can: tuple[str, ...]) -> Promise:
        """The promise to somebody who finds the records that match a person."""
        known = named(self.quasi_identifier)
        return Promise(
            kind=kind,
            headline=f"{self.sensitive}: {headline}",
            promise=f"Among the records that match what somebody knows about a person's {known}, {promise}.",
            cannot=f"find matching records {cannot}.",
            can=can,
        )

    def _filled(self, words: str) -> str:
        keys = {key: number_text(value) if isinstance(value, float) else value for key, value in self}
        return words.format(**{**keys, "sensitive": quoted(self.sensitive), "records": self.sharing})

    def __str__(self) -> str:
        return f"{self._filled(self.title)} of {self.sensitive} on {braced(self.quasi_identifier)}"


class LikeWhole(OnSensitive):
    """A requirement on how far the sensitive values of a group are from those of the whole table."""

    of_whole: ClassVar = True
    measure: ClassVar[str]
    """What `apart` is called."""

    @abstractmethod
    def apart(self, shares: FloatArray, table: FloatArray) -> FloatArray:
        """How far each group is from the table, from the shares of its values; 0 if they are the same.

        It must be convex in the shares of a group.
        """

    def level(self, values: tuple[str, ...], total: IntArray) -> Level:
        """How far a group is from the table, negated, over the values that the table holds.

        Anti-monotone because `apart` is convex: that of a group is at most the mean of its pieces, weighted by their
        sizes, so one piece is at least as far.
        """
        held = np.flatnonzero(total)
        table = total[held] / total.sum()

        def negated(counts: IntArray) -> FloatArray:
            return -self.apart(counts[:, held] / counts[:, held].sum(axis=1, keepdims=True), table)

        return Level(negated, -self.bound - ROUNDING, lambda: f"the {self.measure} of the fully masked table is 0")


def figure(value: float) -> str:
    """A measured number, rounded for a sentence."""
    return number_text(float(f"{value:.{DIGITS}g}"))
