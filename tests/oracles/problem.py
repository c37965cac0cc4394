"""The problem that TDR solves (Section II of the paper): a table, its attributes, its QIDs."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Raw: TypeAlias = str | int | float
Tree: TypeAlias = tuple[str, "Sequence[Tree]"]  # (label, [children...]); a leaf: (label, [])


@dataclass(frozen=True)
class Generalized:
    """A category with a taxonomy tree; the leaves are its domain."""

    name: str
    tree: Tree


@dataclass(frozen=True)
class Suppressed:
    """A category without a taxonomy tree; its values in domain order."""

    name: str
    values: Sequence[str]


@dataclass(frozen=True)
class Discretized:
    """A number in [lo, hi)."""

    name: str
    lo: float
    hi: float


Attribute: TypeAlias = Generalized | Suppressed | Discretized


@dataclass(frozen=True)
class Record:
    """As many records as `weight` says, alike in every value and in the class."""

    values: Mapping[str, Raw]
    cls: str
    weight: int = 1


class QID(NamedTuple):
    """A quasi-identifier and its anonymity threshold."""

    attributes: Sequence[str] | Set[str]
    k: int


@dataclass(frozen=True)
class Problem:
    """Definition 2. `steps`: at most so many refinements; None: until nothing is left to refine."""

    attributes: Sequence[Attribute]
    records: Sequence[Record]
    qids: Sequence[QID]
    criterion: Literal["score", "infogain"] = "score"
    steps: int | None = None
