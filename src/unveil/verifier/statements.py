"""What a manifest states about a requirement and about differential privacy: keys, types, ranges and columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from unveil.errors import braced, rows_text
from unveil.strangers import COLUMNS
from unveil.verifier.claims import (
    MANIFEST,
    PARQUET,
    Amount,
    Claims,
    Discretization,
    Holds,
    Masked,
    MaskedEntry,
    Name,
    Part,
    RefinementManifest,
    Released,
    Suppression,
    labels,
)
from unveil.verifier.columns import Column, Groups, group
from unveil.verifier.data import Data
from unveil.verifier.findings import BrokenClaimError, Finding
from unveil.verifier.holdings import Holdings, count_holdings

LARGEST = 2**63 - 1


COUNT, WEIGHT = "count", "weight"
"""The column of noisy counts, and that of weights."""
Whole = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
"""A noisy number."""


class DifferentialPrivacy(Part):
    """What one record may change, or one person of whom at most so many rows are used."""

    kind: Literal["differential-privacy"]
    epsilon: Amount
    contributions: Annotated[int, Field(ge=1, le=10**15)] | None = None


class ApproximatePrivacy(DifferentialPrivacy):
    """The same, up to δ."""

    delta: Amount


class Charge(Part):
    """A charge to the privacy budget."""

    purpose: str
    epsilon: Amount
    composition: Literal["sequential", "parallel"]

    @property
    def amount(self) -> Fraction:
        """What was charged."""
        return Fraction(self.epsilon)


class PrivateManifest(Claims):
    """What every private release claims. The number of rows or records is private, so no key says it."""

    private: bool
    requirements: Sequence[DifferentialPrivacy] = Field(min_length=1, max_length=1)
    classes: list[Name]
    masking: Mapping[Name, MaskedEntry] = Field(max_length=COLUMNS)
    ledger: list[Charge] = Field(min_length=1)

    @property
    def epsilon(self) -> Fraction:
        """The whole budget."""
        return Fraction(self.requirements[0].epsilon)

    @property
    def contributions(self) -> int | None:
        """The most rows that are used of one person; None if the promise is about one record."""
        return self.requirements[0].contributions

    @property
    def apart(self) -> int:
        """By how many records neighbours differ at most."""
        return self.contributions or 1

    def per_record(self, charge: Charge) -> Fraction:
        """What a single record is charged: the rate of the noise."""
        return charge.amount / self.apart

    @property
    def labels(self) -> dict[str, list[str]]:
        """What each column of a cell may hold: the blocks of the attributes, and the classes."""
        return {**{name: self._blocks(name, entry) for name, entry in self.masking.items()}, self.class_: self.classes}

    def _blocks(self, name: str, entry: Masked) -> list[str]:
        """The blocks of a cut. Without a taxonomy, either one block hides all values or each value is a block."""
        return entry.disclosed or [entry.marker] if isinstance(entry, Suppression) else labels(entry)


class DrawnManifest(PrivateManifest):
    """What a release claims whose cut was drawn specialization by specialization."""

    specializations: NonNegativeInt
    utility: Literal["max", "infogain"]
    choice: Literal["exponential", "permute-and-flip"]
    cells: PositiveInt

    @property
    def numbers(self) -> dict[str, Discretization]:
        """The attributes that are split at drawn places."""
        return {name: entry for name, entry in self.masking.items() if isinstance(entry, Discretization)}


class DiffGenManifest(DrawnManifest):
    """All claims of a release of noisy counts."""

    budget: Literal["full", "paper"]
    threshold: Annotated[int, Field(ge=1, le=LARGEST)] | None

    @property
    def columns(self) -> list[tuple[str, Holds]]:
        """The attributes, the class and the counts."""
        return [*super().columns, (COUNT, "counts")]


class SafeManifest(DrawnManifest):
    """All claims of a release of true rows."""

    requirements: Sequence[ApproximatePrivacy] = Field(min_length=1, max_length=1)
    sampled: Amount
    k: Annotated[int, Field(ge=1, le=LARGEST)]

    @property
    def delta(self) -> Fraction:
        """How much may go beyond the factor."""
        return Fraction(self.requirements[0].delta)

    @property
    def share(self) -> Fraction:
        """The probability of a record to be kept."""
        return Fraction(self.sampled)


class Round(Part):
    """What a round chose and measured, and how the scores of its bins changed."""

    attribute: Name
    class_: Name = Field(alias="class")
    unit: PositiveInt
    against: list[Whole]
    within: list[Whole]
    steps: list[Annotated[int, Field(ge=-(2**20), le=2**20)]]


class TreeTest(Part):
    """A node of the tree of leaves: these labels go left."""

    attribute: Name
    labels: list[Name] = Field(min_length=1)
    left: PositiveInt
    right: PositiveInt


class TreeLeaf(Part):
    """A leaf, with its place among the counts."""

    leaf: NonNegativeInt


class WeightsManifest(PrivateManifest):
    """What every release of weights claims."""

    totals: list[Whole]
    bins: Mapping[Name, dict[Name, Name]] = Field(max_length=COLUMNS)
    """For every attribute that was measured, its bins in order, each with its block."""
    cells: PositiveInt

    @property
    def columns(self) -> list[tuple[str, Holds]]:
        """The attributes, the class and the weights."""
        return [*super().columns, (WEIGHT, "weights")]

    @property
    def records(self) -> list[int]:
        """How many records each class has by the noisy totals; none has fewer than one."""
        return [max(total, 1) for total in self.totals]

    def _blocks(self, name: str, entry: Masked) -> list[str]:
        """Without a taxonomy, values that share an effect are hidden while others are shown."""
        if not isinstance(entry, Suppression):
            return labels(entry)
        hidden = len(entry.disclosed) < len(self.bins.get(name, {"": ""}))
        return [*entry.disclosed, entry.marker] if hidden else entry.disclosed


class AdditiveManifest(WeightsManifest):
    """All claims of a release of weights by an additive model."""

    base: list[Annotated[int, Field(ge=-(2**20), le=2**20)]]
    rounds: list[Round]
    tree: list[TreeTest | TreeLeaf] = Field(min_length=1)
    leaves: list[list[Whole]]

    @property
    def models(self) -> list[str]:
        """The classes that have a model: the second of two, or each against all others."""
        return self.classes[1:] if len(self.classes) == 2 else self.classes


class PairCounts(Part):
    """The noisy counts of the groups of two attributes."""

    attributes: Annotated[list[Name], Field(min_length=2, max_length=2)]
    counts: list[list[Whole]]


class StatisticsManifest(WeightsManifest):
    """All claims of a release of weights by noisy tables."""

    tables: Mapping[Name, list[list[Whole]]] = Field(max_length=COLUMNS)
    groups: Mapping[Name, list[NonNegativeInt]] = Field(max_length=COLUMNS)
    pairs: list[PairCounts]


PrivateClaims = DiffGenManifest | AdditiveManifest | StatisticsManifest | SafeManifest
Manifest = RefinementManifest | PrivateClaims


Stated = dict[str, Any]
Names = Annotated[list[Name], Field(min_length=1, max_length=COLUMNS)]
Texts = Annotated[list[Name], Field(min_length=1)]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, le=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Statement(Part):
    """A requirement as a manifest states it. Each kind is a subclass."""

    kind: str
    role: ClassVar[Literal["quasi-identifier", "channel"]] = "quasi-identifier"
    """The key of the columns that it groups by."""
    at_least: ClassVar[frozenset[str]] = frozenset()
    at_most: ClassVar[frozenset[str]] = frozenset()
    """The keys that ask for more when they are higher, and when they are lower."""
    free: ClassVar[frozenset[str]] = frozenset()
    """The keys that two statements of the same strictness may differ in."""
    category: ClassVar[bool] = False
    """Whether it names values, which only a category has: a limit on 40 does not limit 40.0."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The columns that it groups by."""

    @property
    def records(self) -> str:
        """The records of a group in words."""
        return f"the records that share a combination of released values of {braced(self.names)}"

    @abstractmethod
    def findings(self, table: Table) -> Iterator[Finding]:
        """The groups that break it, recounted."""

    @abstractmethod
    def sentence(self) -> str:
        """What the release promises, in the words of `docs/release.md`."""

    def as_strict_as(self, asked: Statement, held: Sequence[str]) -> bool:
        """Whether it is of the kind that is asked, on the same columns, and at least as strict on the values held."""
        if type(self) is not type(asked):
            return False
        keys = [key for key in type(self).model_fields if key not in self.free]
        return all(self._key_as_strict(key, getattr(self, key), getattr(asked, key)) for key in keys)

    def _key_as_strict(self, key: str, stated: Any, asked: Any) -> bool:
        if key in self.at_least:
            return bool(stated >= asked)
        if key in self.at_most:
            return bool(stated <= asked)
        if key == "values":
            return set(stated) >= set(asked)
        return set(stated) == set(asked) if isinstance(stated, list) else bool(stated == asked)


@dataclass(frozen=True)
class Table:
    """The released rows, for a requirement to count its groups in."""

    manifest: RefinementManifest
    data: Data
    place: str
    """How a finding names the requirement."""

    def groups(self, statement: Statement) -> Groups:
        """The groups that a requirement is about.

        Raises:
            BrokenClaimError: Its columns are not a set of masked columns.
        """
        return group(self._masked(statement), self.data.weights)

    def holdings(self, statement: Any) -> Holdings:
        """What the groups hold of the sensitive attribute.

        Raises:
            BrokenClaimError: The columns are not masked, or the sensitive one is masked or lacks values.
        """
        sensitive = self._sensitive(statement, statement.sensitive)
        return count_holdings(self._masked(statement), sensitive, self.data.weights)

    def _masked(self, statement: Statement) -> list[Column]:
        problems = [f"{MANIFEST}: {self.place} names {problem}." for problem in self._unmasked(statement.names)]
        if problems:
            raise BrokenClaimError(Finding(statement.role, problem) for problem in problems)
        return [self.data.columns[name] for name in statement.names]

    def _unmasked(self, names: Sequence[str]) -> Iterator[str]:
        """What is wrong with the columns. The class is released as it is, whatever else the manifest says."""
        masked, seen = self.manifest.masked, set[str]()
        for name in names:
            if name in seen:
                yield f"{name!r} twice"
            elif name == self.manifest.class_:
                yield f"{name!r}, which is the class"
            elif name not in self.manifest.masking:
                yield f"{name!r}, which is not an attribute of the release"
            elif name not in masked:
                yield f"{name!r}, which is released as it is"
            seen.add(name)

    def _sensitive(self, statement: Statement, name: str) -> Column:
        """The sensitive column. It is in no channel or quasi-identifier: those are masked, and it is not."""
        entry = self.manifest.masking.get(name)
        problem = ""
        if name == self.manifest.class_:
            problem = f"protects {name!r}, which is the class"
        elif name in statement.names:
            problem = f"protects {name!r}, which is in its own {statement.role}"
        elif entry is None:
            problem = f"protects {name!r}, which is not an attribute of the release"
        elif not isinstance(entry, Released):
            problem = f"protects {name!r}, which is masked by {entry.kind}, so that its shares cannot be counted"
        elif statement.category and entry.type != "category":
            problem = f"limits values of {name!r}, which is a {entry.type}"
        if problem:
            raise BrokenClaimError([Finding("sensitive", f"{MANIFEST}: {self.place} {problem}.")])
        if count := self.data.gaps(name):
            message = f"{PARQUET}: the sensitive column {name!r} of {self.place} has no value in {rows_text(count)}."
            raise BrokenClaimError([Finding("missing", message)])
        return self.data.columns[name]
