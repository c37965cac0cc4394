"""What a raw value may be masked to (Section II of the paper, masking operations)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import TypeAlias

from .problem import Attribute, Discretized, Generalized, Gone, Problem, Raw, Record, Suppressed, Tree


@dataclass(frozen=True)
class Node:
    """A value of a taxonomy tree, which represents the leaves below it."""

    tree: Tree

    @property
    def label(self) -> str:
        return self.tree[0]

    @property
    def children(self) -> "tuple[Node, ...]":
        return tuple(Node(child) for child in self.tree[1])

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        below = tuple(leaf for child in self.children for leaf in child.leaves)
        return below or (self.label,)

    def holds(self, raw: Raw) -> bool:
        return raw in self.leaves


@dataclass(frozen=True)
class Interval:
    """[lo, hi). Missing numbers come after the last one, `top`."""

    lo: float
    hi: float
    top: float = field(default=inf, compare=False)
    missing: tuple[Gone, ...] = field(default=(), compare=False)

    @property
    def label(self) -> str:
        lo, hi = (str(int(x)) if x == int(x) else repr(float(x)) for x in (self.lo, min(self.hi, self.top)))
        numbers = [f"[{lo}, {hi})"] if self.lo < self.top else []
        return " or ".join([*numbers, *(gone.label for gone in self.missing if self.holds(gone))])

    def holds(self, raw: Raw) -> bool:
        return self.lo <= float(raw) < self.hi


@dataclass(frozen=True)
class Bottom:
    """⊥, which represents the suppressed values, Sup."""

    sup: tuple[str, ...]
    label: str = "⊥"

    def holds(self, raw: Raw) -> bool:
        return raw in self.sup


@dataclass(frozen=True)
class Disclosed:
    """A value that is suppressed no longer."""

    label: str

    def holds(self, raw: Raw) -> bool:
        return raw == self.label


Block: TypeAlias = Node | Interval | Bottom | Disclosed
Cuts: TypeAlias = Mapping[str, tuple[Block, ...]]  # ⟨∪Cut, ∪Sup, ∪Int⟩, by attribute


def top(attribute: Attribute) -> Block:
    match attribute:
        case Generalized():
            return Node(attribute.tree)
        case Suppressed():
            return Bottom(tuple(attribute.values))
        case Discretized():
            return Interval(attribute.lo, inf if attribute.missing else attribute.hi, attribute.hi, attribute.missing)


def masked(raw: Raw, cut: tuple[Block, ...]) -> str:
    (label,) = [block.label for block in cut if block.holds(raw)]  # exactly one: a cut partitions
    return label


def mask(records: Iterable[Record], cuts: Cuts) -> list[Record]:
    """The masked table; an attribute in no requirement has no cut and stays raw."""
    return [
        replace(r, values={n: masked(v, cuts[n]) if n in cuts else v for n, v in r.values.items()}) for r in records
    ]


def masking(problem: Problem, cuts: Cuts) -> dict[str, dict[Raw, str]]:
    """What each value becomes: every value of a category's domain, every observed number."""
    domains: dict[str, Iterable[Raw]] = {}
    for a in problem.attributes:
        match a:
            case Generalized():
                domains[a.name] = Node(a.tree).leaves
            case Suppressed():
                domains[a.name] = a.values
            case Discretized():
                domains[a.name] = sorted({record.values[a.name] for record in problem.records})
    return {name: {raw: masked(raw, cut) for raw in domains[name]} for name, cut in cuts.items()}
