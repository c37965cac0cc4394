"""The manifest: what a release claims, in one JSON file (`docs/release.md`)."""

from __future__ import annotations

import json
from functools import cache
from operator import not_
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from unveil.errors import ReleaseError, count_text, records_text
from unveil.masking import AnyMasking, AsIs, BoxTree, ClassType, ColumnMasking, Entry, Kinds, Masking, SurveyWeight
from unveil.release.rows import Formulas
from unveil.schema import COUNT, WEIGHT, Derivation, Goal


class Rows(Entry):
    """Rows of the input, and what happened to them."""

    read: int
    dropped: int
    released: int
    left_out: int = Field(default=0, exclude_if=not_)
    """Rows that the search set aside, dropped or released fully masked."""
    held_back: int = Field(default=0, exclude_if=not_)
    """Rows of people whom this release cannot show without breaking its promise together with earlier ones."""
    learned: int = Field(default=0, exclude_if=not_)
    """Rows that only chose the masking."""


class Learn(Entry):
    """What was set aside at random to choose the masking, and is not released."""

    share: str
    """The share of the rows, or of the persons, as the spec says it."""
    records: int
    persons: int | None = Field(default=None, exclude_if=lambda count: count is None)
    """How many persons the records are of, if the table says so."""

    def sentence(self, released: int) -> str:
        """What the guarantee says about these records, after its requirements, in a release of so many others."""
        total, verb = records_text(released + self.records), "was" if self.records == 1 else "were"
        return f"{self.records:,} of {total} {verb} set aside at random, only to choose the masking."


class LeaveOut(Entry):
    """What the owner allowed the search to set aside, and what it did set aside."""

    share: str
    """The largest share of the records, or of the persons if they are counted, as the spec says it."""
    records: int
    """How many records were set aside."""
    persons: int | None = Field(default=None, exclude_if=lambda count: count is None)
    """How many persons have records among them, if the table says whose they are."""
    all_persons: int | None = Field(default=None, alias="all-persons", exclude_if=lambda count: count is None)
    """How many persons the table has."""
    as_: Literal["drop", "mask"] = Field(alias="as")
    labels: dict[str, str] = Field(default_factory=dict, exclude_if=not_)
    """For rows released fully masked: the label of every masked attribute."""

    def sentence(self, released: int) -> str:
        """What the guarantee says, after its requirements, about the records set aside; empty if there are none."""
        if not self.records:
            return ""
        total, done = (released, "fully masked") if self.as_ == "mask" else (released + self.records, "left out")
        verb, belong = ("was", "belongs") if self.records == 1 else ("were", "belong")
        every = self.all_persons
        whose = "" if every is None else f", which {belong} to {self.persons:,} of {count_text(every, 'person')},"
        return f"{self.records:,} of {records_text(total)}{whose} {verb} {done}."


def succession_sentence(earlier: int, held_back: int, persons: int) -> str:
    """What the guarantee says, after its requirements, about earlier releases and the people held back for them."""
    if not earlier:
        return ""
    together = (
        f"Together with {count_text(earlier, 'earlier release')}: all of this also holds among the people who share a "
        f"combination, or are absent, in each of the {earlier + 1:,} releases."
    )
    if not held_back:
        return together
    verb = "was" if held_back == 1 else "were"
    return f"{together} {held_back:,} of {count_text(held_back + persons, 'person')} {verb} held back for it."


class File(Entry):
    """A data file of the release."""

    sha256: str
    formulas: Formulas | None = None
    """For a csv file: what was done with text that a spreadsheet reads as a formula."""


FileName = Annotated[str, Field(pattern=r"\Adata\.(csv|parquet|parquet/part-[0-9]{5}\.parquet)\z")]
"""The name of a data file: one per format, or a part of the rows. No other path is ever opened."""


Sha256 = Annotated[str, Field(pattern=r"\A[0-9a-f]{64}\z")]


class About(Entry):
    """What the owner says about the release. None of it is taken from the table."""

    title: str | None = None
    owner: str | None = None
    date: str | None = None


def _survey_weight(entry: AnyMasking) -> SurveyWeight | None:
    return entry.survey_weight if isinstance(entry, AsIs) else None


class LedgerEntry(Entry):
    """A charge to the privacy budget, as an exact fraction."""

    purpose: str
    epsilon: str
    composition: Literal["sequential", "parallel"]


class Claims(Entry):
    """What every release claims about itself."""

    schema_version: Literal[1] = 1
    unveil_version: str
    method: str
    about: About = About()
    guarantee: str
    class_: str = Field(alias="class")
    class_type: ClassType = "text"
    class_missing: Kinds = Field(default_factory=dict, exclude_if=not_)
    """If rows without a class are kept: the class that each kind of them has, and the texts that mean it."""
    requirements: tuple[dict[str, Any], ...]
    columns: dict[str, ColumnMasking] = Field(alias="masking")
    derived: dict[str, Derivation] = Field(default_factory=dict, exclude_if=not_)
    """The columns that the raw table does not have, and how each is derived."""
    files: dict[FileName, File] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _columns_apart(self) -> Self:
        apart = [self.class_, *filter(None, [getattr(self, "weight", None)])]
        for place, name in enumerate(apart):
            if name in self.columns or name in apart[:place]:
                raise ValueError(f"the column {name!r} appears twice")
        return self

    @property
    def masking(self) -> Masking:
        """How the columns are masked, for rows that arrive later."""
        weight, boxes = getattr(self, "weight", None), getattr(self, "boxes", ())
        return Masking(self.columns, self.class_, self.class_type, weight, boxes, self.derived, self.class_missing)

    @property
    def weighed_by(self) -> str | None:
        """The column that says how many records a row represents; None if each is one record."""
        return None

    @property
    def contributions(self) -> int | None:
        """The most rows that are used of one person, if ε is about persons."""
        most: int | None = self.requirements[0].get("contributions") if self.requirements else None
        return most

    @property
    def as_is(self) -> tuple[str, ...]:
        """The columns that no requirement protects: released value by value, and not sensitive."""
        aside = {item.get("sensitive") for item in self.requirements} | ({self.grouped} if self.grouped else set())
        return tuple(name for name, entry in self.columns.items() if isinstance(entry, AsIs) and name not in aside)

    @property
    def survey_weight(self) -> str | None:
        """The column of survey weights, if the release has one."""
        return next((name for name, entry in self.columns.items() if _survey_weight(entry) is not None), None)

    @property
    def grouped(self) -> str | None:
        """The same, if it shows the means of groups."""
        weight = self.survey_weight
        shown = None if weight is None else _survey_weight(self.columns[weight])
        return None if shown is None or shown.by_row else weight

    def to_json(self) -> str:
        """The text of `manifest.json`."""
        content = self.model_dump(mode="json", by_alias=True)
        del content["files"]
        content |= {"about": self.about.model_dump(exclude_none=True)}
        content |= {"files": {name: file.model_dump(exclude_none=True) for name, file in self.files.items()}}
        shown = {key: item for key, item in content.items() if item or key != "about"}
        return json.dumps(shown, ensure_ascii=False, indent=2) + "\n"


class RefinementManifest(Claims):
    """A release of masked rows."""

    method: Literal["refinement"] = "refinement"
    weight: str | None
    rows: Rows
    records: int
    persons: int | None = Field(default=None, exclude_if=lambda count: count is None)
    """How many persons the records are of, if the table says so."""
    search: Literal["paper", "joint"] = Field(default="paper", exclude_if="paper".__eq__)
    recoding: Literal["global", "local"] = Field(default="global", exclude_if="global".__eq__)
    goal: Goal = Field(default="class", exclude_if=lambda goal: goal == "class")
    """What the search kept information about: the class, the masked attributes, or these columns."""
    leave_out: LeaveOut | None = Field(default=None, alias="leave-out", exclude_if=not_)
    learn: Learn | None = Field(default=None, exclude_if=not_)
    after: tuple[Sha256, ...] = Field(default=(), exclude_if=not_)
    """The earlier releases together with which it keeps its promise: the hashes of their rows."""
    masking_of: Sha256 | None = Field(default=None, alias="masking-of", exclude_if=lambda sha256: sha256 is None)
    """The one of them whose masking it has, if its rows came later; its labels are public already."""
    boxes: tuple[BoxTree, ...] = Field(default=(), exclude_if=not_)
    """For each set of attributes in a requirement, the tree of its groups; none if every group is refined alike."""

    @property
    def weighed_by(self) -> str | None:
        """The owner's weight column, if there is one."""
        return self.weight


class PrivateClaims(Claims):
    """What a release claims that depends on the data only through the draws that its ledger lists."""

    private: bool
    """Whether the draws came from the operating system; a seeded release is for tests and experiments."""
    classes: tuple[str, ...]


class DiffGenManifest(PrivateClaims):
    """A release of noisy counts."""

    method: Literal["diffgen"] = "diffgen"
    specializations: int
    utility: Literal["max", "infogain"]
    choice: Literal["exponential", "permute-and-flip"]
    budget: Literal["full", "paper"]
    ledger: tuple[LedgerEntry, ...]
    cells: int
    threshold: int | None

    @property
    def weighed_by(self) -> str:
        """The noisy counts."""
        return COUNT


class RoundEntry(Entry):
    """A round of the additive method: what was chosen, the noisy sums per bin, and the step that followed."""

    attribute: str
    class_: str = Field(alias="class")
    """The class against all others; of two classes, the second."""
    unit: int
    """What a record of full weight adds to a sum."""
    against: tuple[int, ...]
    """Per bin, the noisy weight of the records of other classes."""
    within: tuple[int, ...]
    """Per bin, the noisy weight of the records of the class."""
    steps: tuple[int, ...]
    """Per bin, what was added to the score, in steps of 1/256 of log-odds."""


class TreeTest(Entry):
    """An inner node of the tree whose leaves were counted."""

    attribute: str
    labels: tuple[str, ...]
    """The blocks that go left."""
    left: int
    right: int


class TreeLeaf(Entry):
    """A leaf of that tree: its place among the counts."""

    leaf: int


class WeightsManifest(PrivateClaims):
    """A release of weights, which shows all its draws."""

    ledger: tuple[LedgerEntry, ...]
    totals: tuple[int, ...]
    """The noisy number of records per class."""
    bins: dict[str, dict[str, str]]
    """For every attribute that was measured, the labels of its bins, each with that of its block."""
    cells: int
    """How many combinations of blocks are listed."""

    @property
    def weighed_by(self) -> str:
        """The weights."""
        return WEIGHT


class AdditiveManifest(WeightsManifest):
    """Weights by an additive model of the class."""

    method: Literal["additive"] = "additive"
    base: tuple[int, ...]
    """The log-odds of each model before any round, in steps of 1/256."""
    rounds: tuple[RoundEntry, ...]
    tree: tuple[TreeTest | TreeLeaf, ...]
    """The nodes, each before those below it; the first is the root."""
    leaves: tuple[tuple[int, ...], ...]
    """The noisy records per leaf and class."""


class PairEntry(Entry):
    """A pair of attributes, and the noisy counts of their groups."""

    attributes: tuple[str, str]
    counts: tuple[tuple[int, ...], ...]


class StatisticsManifest(WeightsManifest):
    """Weights by noisy tables: the method `additive` with the goal `statistics`."""

    method: Literal["statistics"] = "statistics"
    tables: dict[str, tuple[tuple[int, ...], ...]]
    """For every attribute that was measured, the noisy counts per bin and class."""
    groups: dict[str, tuple[int, ...]]
    """For every attribute of a pair, the group of each bin."""
    pairs: tuple[PairEntry, ...]


class SafeManifest(PrivateClaims):
    """A release of true rows."""

    method: Literal["safe"] = "safe"
    ledger: tuple[LedgerEntry, ...]
    specializations: int
    utility: Literal["max", "infogain"]
    choice: Literal["exponential", "permute-and-flip"]
    sampled: str
    """The probability of each record to be kept, as a fraction."""
    k: int
    """Rows that fewer than this share are suppressed."""
    cells: int
    """How many different rows the cuts and the class allow."""


Manifest = RefinementManifest | DiffGenManifest | AdditiveManifest | StatisticsManifest | SafeManifest
PrivateManifest = DiffGenManifest | AdditiveManifest | StatisticsManifest | SafeManifest


@cache
def _reader() -> TypeAdapter[Manifest]:
    """What reads a manifest of any method; whoever only writes one need not wait for it."""
    return TypeAdapter(Annotated[Manifest, Field(discriminator="method")])


def counted_by(manifest: PrivateManifest) -> LedgerEntry:
    """The charge for the counts that a reader relies on: the last one, or that of the first of noisy tables."""
    return manifest.ledger[:2][-1] if isinstance(manifest, StatisticsManifest) else manifest.ledger[-1]


def read_manifest_text(text: str, origin: str) -> Manifest:
    """Reads the text of a manifest."""
    try:
        return _reader().validate_json(text)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"]) or "the file"
        said = problem["msg"].removeprefix("Value error, ")
        raise ReleaseError(f"{origin}: this is not the manifest of a release: {place}: {said}.") from None
