"""What a release must satisfy, as the owner states it and as the search checks it.

A requirement of the spec falls into atoms, each with one level of its own: a set of sensitive values is one template
per value, and (α, k)-anonymity is k-anonymity and a template per value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import ClassVar, Literal, Self

from unveil.errors import braced, quoted
from unveil.schema.attributes import number_text


def _percent(share: float) -> str:
    """Exact, so that no sentence promises less than what is checked."""
    return f"{Decimal(str(share)).scaleb(2).normalize():f}%"


def _share_clause(values: Sequence[str] | None, sensitive: str, share: float) -> str:
    """What a bound on shares says. It bounds a share of records, and not what a reader can conclude."""
    return f"{_each(values)} of {quoted(sensitive)} is held by at most {_percent(share)}"


@dataclass(frozen=True)
class OnQuasiIdentifier:
    """What requirements on the groups of a quasi-identifier have in common."""

    quasi_identifier: tuple[str, ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that are masked for this requirement."""
        return self.quasi_identifier

    def atoms(self) -> tuple[Atom, ...]:
        """The requirement itself, unless it falls into several."""
        return (self,)  # type: ignore[return-value]

    def resolved(self, values: tuple[str, ...]) -> Self:
        """With what it leaves to the values of its sensitive attribute filled in."""
        return self


@dataclass(frozen=True)
class KAnonymity(OnQuasiIdentifier):
    """TDR, Definition 1: every group on the quasi-identifier has at least k records."""

    kind: ClassVar[str] = "k-anonymity"
    sensitive: ClassVar[None] = None
    k: int

    def implies(self, other: Atom) -> bool:
        """A group on a subset of the attributes is a union of groups on all of them, so it is at least as large."""
        return isinstance(other, KAnonymity) and other.k <= self.k and _covers(self, other)

    def sentence(self) -> str:
        """The guarantee as a reader of the release gets it."""
        return (
            f"Every combination of released values of {braced(self.quasi_identifier)} "
            f"is shared by at least {self.k:,} records."
        )

    def describe(self) -> dict[str, object]:
        """The entry of this requirement in a manifest, in the words of the spec."""
        return {"kind": self.kind, "quasi-identifier": list(self.quasi_identifier), "k": self.k}

    def __str__(self) -> str:
        return f"k = {self.k:,} on {braced(self.quasi_identifier)}"


@dataclass(frozen=True)
class Template:
    """PDA, Definition 3.1: ⟨IC → π, h⟩. No inference from the channel to the value has a confidence above the limit."""

    channel: tuple[str, ...]
    sensitive: str
    value: str
    limit: float

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that are masked for this template."""
        return self.channel

    def implies(self, other: Atom) -> bool:
        """Lemma 3.1: the same value, a channel that holds the other's, and a limit no higher."""
        return (
            isinstance(other, Template)
            and (other.sensitive, other.value) == (self.sensitive, self.value)
            and other.limit >= self.limit
            and _covers(self, other)
        )

    def __str__(self) -> str:
        return f"⟨{braced(self.channel)} → {self.sensitive} = {self.value}, {_percent(self.limit)}⟩"


@dataclass(frozen=True)
class Confidence:
    """Privacy templates with one channel and one limit, one for each of the sensitive values; no values means all."""

    kind: ClassVar[str] = "confidence"
    channel: tuple[str, ...]
    sensitive: str
    values: tuple[str, ...] | None
    limit: float

    @property
    def attributes(self) -> tuple[str, ...]:
        """The masking attributes."""
        return self.channel

    def atoms(self) -> tuple[Atom, ...]:
        """One template per value."""
        return tuple(Template(self.channel, self.sensitive, value, self.limit) for value in self.values or ())

    def resolved(self, values: tuple[str, ...]) -> Self:
        """With the values of the attribute filled in where none were named."""
        return replace(self, values=values) if self.values is None else self

    def sentence(self) -> str:
        """The guarantee as a reader of the release gets it."""
        return (
            f"Among the records that share a combination of released values of {braced(self.channel)}, "
            f"{_share_clause(self.values, self.sensitive, self.limit)}."
        )

    def describe(self) -> dict[str, object]:
        """The entry of this requirement in a manifest."""
        return {
            "kind": self.kind,
            "channel": list(self.channel),
            "sensitive": self.sensitive,
            "values": list(self.values or ()),
            "limit": self.limit,
        }


@dataclass(frozen=True)
class LDiversity(OnQuasiIdentifier):
    """Every group holds at least ℓ sensitive values, counted, or well represented as measured by entropy."""

    kind: ClassVar[str] = "l-diversity"
    sensitive: str
    l: float  # noqa: E741 - the name of the model
    variant: Literal["distinct", "entropy"] = "distinct"

    def implies(self, other: Atom) -> bool:
        """A union of groups is at least as diverse as its least diverse part."""
        return (
            isinstance(other, LDiversity)
            and (other.sensitive, other.variant) == (self.sensitive, self.variant)
            and other.l <= self.l
            and _covers(self, other)
        )

    def sentence(self) -> str:
        """The guarantee as a reader of the release gets it."""
        how = "different values" if self.variant == "distinct" else "well represented values (entropy)"
        return (
            f"The records that share a combination of released values of {braced(self.quasi_identifier)} "
            f"hold at least {number_text(self.l)} {how} of {quoted(self.sensitive)}."
        )

    def describe(self) -> dict[str, object]:
        """The entry of this requirement in a manifest."""
        return {
            "kind": self.kind,
            "quasi-identifier": list(self.quasi_identifier),
            "sensitive": self.sensitive,
            "l": int(self.l) if self.l == int(self.l) else self.l,
            "variant": self.variant,
        }

    def __str__(self) -> str:
        return f"{self.variant} {number_text(self.l)}-diversity of {self.sensitive} on {braced(self.quasi_identifier)}"


@dataclass(frozen=True)
class TCloseness(OnQuasiIdentifier):
    """The sensitive values of every group are distributed like those of the whole table, up to a distance of t."""

    kind: ClassVar[str] = "t-closeness"
    sensitive: str
    t: float
    distance: Literal["equal", "ordered"] = "equal"
    order: tuple[str, ...] | None = None
    """For the ordered distance on a category: its values in order."""

    def resolved(self, values: tuple[str, ...]) -> Self:
        """With the order of a category filled in."""
        return replace(self, order=values) if self.distance == "ordered" and values else self

    def implies(self, other: Atom) -> bool:
        """A union of groups is at most as far from the table as its farthest part: distances are convex."""
        return (
            isinstance(other, TCloseness)
            and (other.sensitive, other.distance) == (self.sensitive, self.distance)
            and other.t >= self.t
            and _covers(self, other)
        )

    def sentence(self) -> str:
        """The guarantee as a reader of the release gets it."""
        return (
            f"Among the records that share a combination of released values of {braced(self.quasi_identifier)}, "
            f"{quoted(self.sensitive)} is distributed as in the whole release up to a distance ({self.distance}) "
            f"of {number_text(self.t)}."
        )

    def describe(self) -> dict[str, object]:
        """The entry of this requirement in a manifest."""
        return {
            "kind": self.kind,
            "quasi-identifier": list(self.quasi_identifier),
            "sensitive": self.sensitive,
            "t": self.t,
            "distance": self.distance,
            "order": None if self.order is None else list(self.order),
        }

    def __str__(self) -> str:
        return (
            f"{number_text(self.t)}-closeness ({self.distance}) of {self.sensitive} on {braced(self.quasi_identifier)}"
        )


@dataclass(frozen=True)
class AlphaKAnonymity(OnQuasiIdentifier):
    """(α, k): at least k records in every group, and no sensitive value held by more than a share α of them."""

    kind: ClassVar[str] = "alpha-k-anonymity"
    k: int
    sensitive: str
    values: tuple[str, ...] | None
    alpha: float

    def atoms(self) -> tuple[Atom, ...]:
        """k-anonymity, and one template per value."""
        templates = Confidence(self.quasi_identifier, self.sensitive, self.values, self.alpha).atoms()
        return (KAnonymity(self.quasi_identifier, self.k), *templates)

    def resolved(self, values: tuple[str, ...]) -> Self:
        """With the values of the attribute filled in where none were named."""
        return replace(self, values=values) if self.values is None else self

    def sentence(self) -> str:
        """The guarantee as a reader of the release gets it."""
        clause = _share_clause(self.values, self.sensitive, self.alpha)
        return f"{KAnonymity(self.quasi_identifier, self.k).sentence()} {clause[0].upper()}{clause[1:]} of them."

    def describe(self) -> dict[str, object]:
        """The entry of this requirement in a manifest."""
        return {
            "kind": self.kind,
            "quasi-identifier": list(self.quasi_identifier),
            "k": self.k,
            "sensitive": self.sensitive,
            "values": list(self.values or ()),
            "alpha": self.alpha,
        }


Atom = KAnonymity | Template | LDiversity | TCloseness
Requirement = KAnonymity | Confidence | LDiversity | TCloseness | AlphaKAnonymity


def _covers(one: Atom, other: Atom) -> bool:
    return set(other.attributes) <= set(one.attributes)


def _each(values: Sequence[str] | None) -> str:
    """Values as a reader reads them; a promise about several is one about each of them."""
    words = [repr(value) for value in values or ()]
    if len(words) == 1:
        return f"the value {words[0]}"
    return f"each of the values {', '.join(words)}" if words else "each value"


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
