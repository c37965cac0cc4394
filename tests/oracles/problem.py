"""The problem that TDR and PDA solve: a table, its attributes, its requirements.

Section II of the paper on TDR (TKDE 2007), Section 3 of the paper on PDA (ICDM 2005).
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fractions import Fraction
from math import fsum, log
from typing import Literal, NamedTuple, TypeAlias

Raw: TypeAlias = str | int | float
Tree: TypeAlias = tuple[str, "Sequence[Tree]"]  # (label, [children...]); a leaf: (label, [])


class Gone(float):
    """A missing number: a place after all numbers, with a label."""

    label: str

    def __new__(cls, kind: int, label: str) -> "Gone":
        gone = super().__new__(cls, 1e305 * 2**kind)
        gone.label = label
        return gone


@dataclass(frozen=True)
class Generalized:
    """A category with a taxonomy tree; the leaves are its domain. Missing values are leaves below the root."""

    name: str
    tree: Tree
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Suppressed:
    """A category without a taxonomy tree; its values in domain order, missing ones last."""

    name: str
    values: Sequence[str]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Discretized:
    """A number in [lo, hi), or missing."""

    name: str
    lo: float
    hi: float
    missing: tuple[Gone, ...] = ()


Attribute: TypeAlias = Generalized | Suppressed | Discretized


@dataclass(frozen=True)
class Record:
    """As many records as `weight` says, alike in every value and in the class."""

    values: Mapping[str, Raw]
    cls: str
    weight: int = 1
    person: str = ""  # whose record it is, in problems with a Headcount


# ---- Requirements ----

# A group of the masked table: how many of its records hold each value of the requirement's
# sensitive attribute, for every value of the domain and in its order. Without a sensitive
# attribute, every record counts under "".
Group: TypeAlias = Mapping[str, int]
Names: TypeAlias = Sequence[str] | Set[str]
Level: TypeAlias = int | Fraction | float  # the higher, the more private


def covers(one: Names, other: Names) -> bool:
    return set(other) <= set(one)


class QID(NamedTuple):
    """A quasi-identifier and its anonymity threshold."""

    attributes: Names
    k: int

    @property
    def sensitive(self) -> None:
        return None

    def level(self, groups: Sequence[Group]) -> int:
        """A(QID): the size of the smallest group."""
        return min(sum(group.values()) for group in groups)

    def holds(self, level: Level) -> bool:
        return level >= self.k

    def implies(self, other: object) -> bool:
        return isinstance(other, QID) and covers(self.attributes, other.attributes) and self.k >= other.k


class Headcount(NamedTuple):
    """A quasi-identifier of which every group has records of k persons; a group counts its persons under ""."""

    attributes: Names
    k: int

    @property
    def sensitive(self) -> None:
        return None

    def level(self, groups: Sequence[Group]) -> int:
        return min(sum(group.values()) for group in groups)

    def holds(self, level: Level) -> bool:
        return level >= self.k

    def implies(self, other: object) -> bool:
        return isinstance(other, Headcount) and covers(self.attributes, other.attributes) and self.k >= other.k


@dataclass(frozen=True)
class Template:
    """⟨IC → π, h⟩; the limit h as a fraction or as it is written in decimal."""

    channel: Names
    sensitive: str
    value: str
    limit: Fraction | str

    @property
    def attributes(self) -> Names:
        return self.channel

    def level(self, groups: Sequence[Group]) -> Fraction:
        """-Conf(IC → π), where conf(ic → π) = s(ic, π) / s(ic)."""
        return -max(Fraction(group[self.value], sum(group.values())) for group in groups)

    def holds(self, level: Level) -> bool:
        return -level <= Fraction(self.limit)

    def implies(self, other: object) -> bool:
        """Lemma 3.1."""
        return (
            isinstance(other, Template)
            and (self.sensitive, self.value) == (other.sensitive, other.value)
            and covers(self.channel, other.channel)
            and Fraction(self.limit) <= Fraction(other.limit)
        )


@dataclass(frozen=True)
class Diversity:
    """ℓ-diversity: ℓ different sensitive values in each group, or the entropy of ℓ equal ones."""

    qid: Names
    sensitive: str
    l: float  # noqa: E741
    variant: Literal["distinct", "entropy"]

    @property
    def attributes(self) -> Names:
        return self.qid

    def level(self, groups: Sequence[Group]) -> int | float:
        if self.variant == "distinct":
            return min(sum(n > 0 for n in group.values()) for group in groups)
        return min(-fsum(p * log(p) for p in shares(group) if p) for group in groups)

    def holds(self, level: Level) -> bool:
        return level >= self.l if self.variant == "distinct" else level >= log(self.l) - 1e-9

    def implies(self, other: object) -> bool:
        return (
            isinstance(other, Diversity)
            and (self.sensitive, self.variant) == (other.sensitive, other.variant)
            and covers(self.qid, other.qid)
            and self.l >= other.l
        )


@dataclass(frozen=True)
class Closeness:
    """t-closeness (Li, Li and Venkatasubramanian 2007)."""

    qid: Names
    sensitive: str
    t: float
    distance: Literal["equal", "ordered"]

    @property
    def attributes(self) -> Names:
        return self.qid

    def level(self, groups: Sequence[Group]) -> Fraction:
        """The distance of the farthest group to the whole table, negated."""
        table = {value: sum(group[value] for group in groups) for value in groups[0]}
        somewhere = [value for value, n in table.items() if n]
        q = shares({value: table[value] for value in somewhere})
        distance = equal_distance if self.distance == "equal" else ordered_distance
        return -max(distance(shares({value: group[value] for value in somewhere}), q) for group in groups)

    def holds(self, level: Level) -> bool:
        return -float(level) <= self.t + 1e-9

    def implies(self, other: object) -> bool:
        return (
            isinstance(other, Closeness)
            and (self.sensitive, self.distance) == (other.sensitive, other.distance)
            and covers(self.qid, other.qid)
            and self.t <= other.t
        )


@dataclass(frozen=True)
class Likeness:
    """β-likeness (Cao and Karras 2012), the basic one."""

    qid: Names
    sensitive: str
    beta: Fraction | str

    @property
    def attributes(self) -> Names:
        return self.qid

    def level(self, groups: Sequence[Group]) -> Fraction:
        """The largest relative gain of a value's share over its share in the whole table, negated."""
        table = {value: sum(group[value] for group in groups) for value in groups[0]}
        total = sum(table.values())
        return -max(
            Fraction(group[value], sum(group.values())) / Fraction(n, total) - 1
            for group in groups
            for value, n in table.items()
            if n
        )

    def holds(self, level: Level) -> bool:
        return -float(level) <= float(Fraction(self.beta)) + 1e-9

    def implies(self, other: object) -> bool:
        return (
            isinstance(other, Likeness)
            and self.sensitive == other.sensitive
            and covers(self.qid, other.qid)
            and Fraction(self.beta) <= Fraction(other.beta)
        )


@dataclass(frozen=True)
class Spread:
    """(k, e)-anonymity (Zhang and others 2007); values are numbers as they are written."""

    qid: Names
    sensitive: str
    k: int
    e: str

    @property
    def attributes(self) -> Names:
        return self.qid

    def level(self, groups: Sequence[Group]) -> Fraction:
        return min(map(self._level, groups))

    def _level(self, group: Group) -> Fraction:
        """The span, or what is lacking of k different numbers, below 0."""
        numbers = [Fraction(value) for value, n in group.items() if n]
        return max(numbers) - min(numbers) if len(numbers) >= self.k else Fraction(len(numbers) - self.k)

    def holds(self, level: Level) -> bool:
        return level >= Fraction(self.e)

    def implies(self, other: object) -> bool:
        return (
            isinstance(other, Spread)
            and self.sensitive == other.sensitive
            and covers(self.qid, other.qid)
            and self.k >= other.k
            and Fraction(self.e) >= Fraction(other.e)
        )


def shares(group: Group) -> list[Fraction]:
    return [Fraction(n, sum(group.values())) for n in group.values()]


def equal_distance(p: Sequence[Fraction], q: Sequence[Fraction]) -> Fraction:
    return sum((abs(x - y) for x, y in zip(p, q, strict=True)), Fraction()) / 2


def ordered_distance(p: Sequence[Fraction], q: Sequence[Fraction]) -> Fraction:
    m = len(p)
    moved = [abs(sum(p[:i], Fraction()) - sum(q[:i], Fraction())) for i in range(1, m + 1)]
    return sum(moved, Fraction()) / (m - 1) if m > 1 else Fraction()


Inference: TypeAlias = Template | Diversity | Closeness | Likeness | Spread
Requirement: TypeAlias = QID | Headcount | Inference


def tally(records: Iterable[Record], requirement: Requirement, values: Sequence[str]) -> dict[str, int]:
    """What a group counts: records per value of the sensitive attribute, all of them, or the persons they are of."""
    if isinstance(requirement, Headcount):
        return {"": len({record.person for record in records})}
    name = requirement.sensitive
    counts = dict.fromkeys(values if name else [""], 0)
    for record in records:
        counts[str(record.values[name]) if name else ""] += record.weight
    return counts


@dataclass(frozen=True)
class Problem:
    """Definition 2. `steps`: at most so many refinements; None: until nothing is left to refine.

    What may be inferred is limited one sensitive value at a time: a set of values is one template
    for each, (α, k)-anonymity is a QID and templates with its attributes as the channel. Sensitive
    attributes (name → domain in order) are never masked and are not in `attributes`; their
    values are with the others in the records.
    """

    attributes: Sequence[Attribute]
    records: Sequence[Record]
    qids: Sequence[QID | Headcount] = ()
    criterion: Literal["score", "infogain"] = "score"
    steps: int | None = None
    inferences: Sequence[Inference] = ()
    sensitive: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def requirements(self) -> list[Requirement]:
        return [*self.qids, *self.inferences]
