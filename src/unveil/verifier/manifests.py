"""The manifests of all methods: what every release claims, and what those by refinement and the private ones do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from unveil.strangers import COLUMNS, ROWS
from unveil.verifier.claims import (
    PARQUET,
    Amount,
    ClassType,
    Day,
    Derived,
    Discretization,
    Entry,
    FileName,
    Line,
    Masked,
    MaskedEntry,
    Name,
    Part,
    Percent,
    RecordCount,
    Released,
    RowCount,
    Suppression,
    Version,
    labels,
)

Holds = Literal["labels", "text", "numbers", "integers", "booleans", "dates", "counts", "weights", "anything"]
"""What a column of the data files holds."""
CLASS_HOLDS: dict[str, Holds] = {
    "text": "text",
    "integer": "integers",
    "number": "numbers",
    "boolean": "booleans",
    "date": "dates",
}
Sha256 = Annotated[str, Field(pattern=r"\A[0-9a-f]{64}\z")]
LARGEST_COUNT = 2**63 - 1
COUNT, WEIGHT = "count", "weight"
"""The column of noisy counts, and that of weights."""
Whole = Annotated[int, Field(ge=-LARGEST_COUNT, le=LARGEST_COUNT)]
"""A noisy number."""
SIZED = ("k-anonymity", "alpha-k-anonymity")
"""The kinds of requirement that say how many records a group has: persons, where the table says who they are."""


class About(Part):
    """What the owner says to readers; only the form of these words can be checked."""

    title: Line = ""
    owner: Line = ""
    date: Day = ""


class DataFile(Part):
    """What the manifest says about a data file."""

    sha256: Sha256
    formulas: Literal["guarded", "kept"] | None = None


class Claims(Part):
    """What every release claims, whatever its method."""

    schema_version: int
    unveil_version: Version
    method: str
    about: About = About()
    guarantee: str = Field(min_length=1)
    class_: Name = Field(alias="class")
    class_type: ClassType = "text"
    class_missing: dict[Name, list[Name]] = Field(default_factory=dict, max_length=COLUMNS)
    masking: Mapping[Name, Entry] = Field(max_length=COLUMNS)
    derived: Mapping[Name, Derived] = Field(default_factory=dict, max_length=COLUMNS)
    files: dict[FileName, DataFile]

    @property
    def columns(self) -> list[tuple[str, Holds]]:
        """The columns of the data files, in order: here the attributes and the class."""
        attributes = [(name, _holds(entry)) for name, entry in self.masking.items()]
        return [*attributes, (self.class_, CLASS_HOLDS[self.class_type])]

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return [name for name, _ in self.columns]

    @property
    def part_names(self) -> list[str]:
        """The parts that hold the rows, as they are listed; none if one file holds them all."""
        return [name for name in self.files if name.startswith(f"{PARQUET}/")]

    @property
    def masked(self) -> dict[str, Masked]:
        """The entries of the columns that hold blocks."""
        return {name: entry for name, entry in self.masking.items() if not isinstance(entry, Released)}


def _holds(entry: Entry) -> Holds:
    return CLASS_HOLDS.get(entry.type, "anything") if isinstance(entry, Released) else "labels"


class Rows(Part):
    """Rows of the input and of the data file."""

    read: RowCount
    dropped: RowCount
    released: RowCount
    left_out: Annotated[int, Field(ge=1, le=ROWS)] = 0
    held_back: Annotated[int, Field(ge=1, le=ROWS)] = 0
    learned: Annotated[int, Field(ge=1, le=ROWS)] = 0


class SetAside(Part):
    """Records that were set aside, here to choose the masking, and of how many persons they are."""

    share: Percent
    records: RecordCount
    persons: RecordCount | None = None

    @property
    def fraction(self) -> Fraction:
        """The share as a number."""
        return Fraction(self.share.removesuffix("%")) / 100


class LeaveOut(SetAside):
    """Records that the search set aside: how many it may, how many it did, whose, and whether they are dropped."""

    all_persons: RecordCount | None = Field(default=None, alias="all-persons")
    """How many persons there are, with those whose records are all dropped."""
    how: Literal["drop", "mask"] = Field(alias="as")
    labels: dict[Name, Name] = Field(default_factory=dict)
    """For records that are released fully masked: what every masked attribute holds."""


class Split(Part):
    """A block of an attribute, and the parts that take its place."""

    attribute: Name
    block: Name
    into: list[Name] = Field(min_length=1)


class BoxTree(Part):
    """The groups of a local release on some attributes: the leaves of a tree, in preorder."""

    attributes: list[Name] = Field(min_length=1, max_length=COLUMNS)
    splits: list[Split]
    order: list[Annotated[int, Field(ge=-1)]] = Field(min_length=1)


class RefinementManifest(Claims):
    """All claims of a release by refinement."""

    weight: Name | None
    requirements: list[dict[str, Any]] = Field(min_length=1, max_length=COLUMNS)
    rows: Rows
    records: RecordCount
    persons: RecordCount | None = None
    """How many persons the records are of, if the table says so."""
    search: Annotated[str, Field(pattern=r"\Ajoint\z")] = "paper"
    recoding: Annotated[str, Field(pattern=r"\Alocal\z")] = "global"
    goal: Annotated[str, Field(pattern=r"\Astatistics\z")] | Annotated[list[Name], Field(min_length=1)] = "class"
    """What the search kept information about: the class, the masked attributes, or columns."""
    leave_out: LeaveOut | None = Field(default=None, alias="leave-out")
    learn: SetAside | None = None
    after: list[Sha256] = Field(default_factory=list, max_length=COLUMNS)
    """The earlier releases together with which it keeps its promise."""
    masking_of: Sha256 | None = Field(default=None, alias="masking-of")
    """The one of them whose masking it has."""
    boxes: list[BoxTree] = Field(default_factory=list, max_length=COLUMNS)

    @property
    def dropped(self) -> int:
        """How many records were left out and are not released."""
        return self.leave_out.records if self.leave_out is not None and self.leave_out.how == "drop" else 0

    @property
    def columns(self) -> list[tuple[str, Holds]]:
        """The attributes, the class, and the weight if there is one."""
        return super().columns if self.weight is None else [*super().columns, (self.weight, "anything")]


class DifferentialPrivacy(Part):
    """What one record may change, or one person of whom at most this many rows are used."""

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
        return self.requirements[0].epsilon

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
        return charge.epsilon / self.apart

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
    threshold: Annotated[int, Field(ge=1, le=LARGEST_COUNT)] | None

    @property
    def columns(self) -> list[tuple[str, Holds]]:
        """The attributes, the class and the counts."""
        return [*super().columns, (COUNT, "counts")]


class SafeManifest(DrawnManifest):
    """All claims of a release of true rows."""

    requirements: Sequence[ApproximatePrivacy] = Field(min_length=1, max_length=1)
    sampled: Amount
    """The probability of a record to be kept."""
    k: Annotated[int, Field(ge=1, le=LARGEST_COUNT)]

    @property
    def delta(self) -> Fraction:
        """How much may go beyond the factor."""
        return self.requirements[0].delta


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
