"""The claims of differentially private releases: what all of them say, and what each method adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from unveil.limits import COLUMNS
from unveil.verifier.claims import (
    Amount,
    Claims,
    Discretization,
    Holds,
    Masked,
    MaskedEntry,
    Name,
    Part,
    RefinementManifest,
    Suppression,
    labels,
)

COUNT, WEIGHT = "count", "weight"
"""The column of noisy counts, and that of weights."""
LARGEST = 2**63 - 1
Whole = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
"""A noisy number."""


class DifferentialPrivacy(Part):
    """What one record may change."""

    kind: Literal["differential-privacy"]
    epsilon: Amount


class ApproximatePrivacy(DifferentialPrivacy):
    """What one record may change, up to δ."""

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


class AdditiveManifest(PrivateManifest):
    """All claims of a release of weights."""

    totals: list[Whole]
    base: list[Annotated[int, Field(ge=-(2**20), le=2**20)]]
    bins: Mapping[Name, dict[Name, Name]] = Field(max_length=COLUMNS)
    """For every attribute that was measured, its bins in order, each with its block."""
    rounds: list[Round]
    tree: list[TreeTest | TreeLeaf] = Field(min_length=1)
    leaves: list[list[Whole]]
    cells: PositiveInt

    @property
    def columns(self) -> list[tuple[str, Holds]]:
        """The attributes, the class and the weights."""
        return [*super().columns, (WEIGHT, "weights")]

    @property
    def records(self) -> list[int]:
        """How many records each class has by the noisy totals; none has fewer than one."""
        return [max(total, 1) for total in self.totals]

    @property
    def models(self) -> list[str]:
        """The classes that have a model: the second of two, or each against all others."""
        return self.classes[1:] if len(self.classes) == 2 else self.classes

    @property
    def rows_of_bins(self) -> dict[str, slice]:
        """Where the bins of each attribute lie, if all are numbered in order."""
        ends, end = {}, 0
        for name, bins in self.bins.items():
            ends[name] = slice(end, end := end + len(bins))
        return ends

    def _blocks(self, name: str, entry: Masked) -> list[str]:
        """Without a taxonomy, values that share an effect are hidden while others are shown."""
        if not isinstance(entry, Suppression):
            return labels(entry)
        hidden = len(entry.disclosed) < len(self.bins.get(name, {"": ""}))
        return [*entry.disclosed, entry.marker] if hidden else entry.disclosed


Manifest = RefinementManifest | DiffGenManifest | AdditiveManifest | SafeManifest
