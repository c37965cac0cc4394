"""What a manifest claims about its columns, read strictly, and what is found where a claim does not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetPydanticSchema, model_validator

from unveil.characters import hidden_character, visible
from unveil.strangers import COLUMNS, NAME, RECORDS, ROWS
from unveil.verifier.values import day_number, day_text

if TYPE_CHECKING:
    from unveil.verifier.data import Data

BEFORE, AFTER = 20, 40
"""How much of a sentence is shown around the place where it differs."""
MANIFEST = "manifest.json"
PARQUET = "data.parquet"
CSV = "data.csv"
LARGEST = 10**300  # a JSON whole number has no end, a float has
LONGEST = 2000
"""How many characters a fraction may have: more than a float needs, and less than Python refuses to read."""
Number = Annotated[int, Field(ge=-LARGEST, le=LARGEST)] | Annotated[float, Field(allow_inf_nan=False)]
FileName = Annotated[str, Field(pattern=r"\Adata\.(csv|parquet|parquet/part-[0-9]{5}\.parquet)\z")]
"""A data file: one in a format, or a part of the rows."""
Name = Annotated[str, Field(max_length=NAME)]
"""The name of a column, a label, or a value."""
RowCount = Annotated[int, Field(ge=0, le=ROWS)]
RecordCount = Annotated[int, Field(ge=0, le=RECORDS)]
Version = Annotated[
    str, Field(max_length=40, pattern=r"\A[0-9]+(\.[0-9]+)*((a|b|rc)[0-9]+)?(\.post[0-9]+)?(\.dev[0-9]+)?\z")
]
"""A version as PEP 440 writes a public one."""
Percent = Annotated[str, Field(pattern=r"\A([1-9]?[0-9]|100)(\.[0-9]{1,20})?%\z")]
Wanted = Number | Name
ClassType = Literal["text", "integer", "number", "boolean", "date"]
Domain = Literal["declared", "observed"]
Kinds = Annotated[Mapping[Annotated[Name, Field(min_length=1)], list[Name]], Field(max_length=5)]
"""The labels of missing values that are kept, each with the texts that mean it."""


@dataclass(frozen=True)
class Finding:
    """One claim of a release that does not hold.

    Attributes:
        claim: A short, stable name of the claim, such as `group-size`.
        message: One sentence that names the file, the column, the value and the numbers.
    """

    claim: str
    message: str

    def __str__(self) -> str:
        """One readable line, even if a name in the release holds a line break or an escape sequence."""
        return visible(f"{self.claim}: {self.message}")


@dataclass
class Verdict:
    """The result of a verification.

    Attributes:
        findings: The claims that do not hold.
        notes: What no verification can decide and a reader must judge; only if every claim holds.
        rows: The rows of the release, where they can be read; they take long to read again.
    """

    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rows: Data | None = field(default=None, repr=False)


class BrokenClaimError(Exception):
    """A claim is broken in a way that leaves nothing for later checks to work on.

    It never leaves the package: the start of a verification turns it into its findings.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        super().__init__("a claim is broken")
        self.findings = list(findings)


def broken(claim: str, message: str) -> BrokenClaimError:
    """One claim that is broken so."""
    return BrokenClaimError([Finding(claim, message)])


def findings_of(claim: str, start: str, problems: Iterable[str]) -> Iterator[Finding]:
    """One finding per problem, a clause that ends the sentence."""
    return (Finding(claim, f"{start}{problem}.") for problem in problems)


def repeated(words: Iterable[str]) -> list[str]:
    """The words that appear more than once."""
    return [word for word, count in Counter(words).items() if count > 1]


def first_difference(one: Sequence[object], other: Sequence[object]) -> int:
    """The first place where two texts, or two byte strings, differ; at the latest, where one ends."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


def first_line(error: BaseException) -> str:
    """What a reader says went wrong, as a clause of a sentence."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return str(reason).strip().partition("\n")[0].rstrip(".") or type(error).__name__


def guarantee_findings(found: str, expected: str) -> Iterator[Finding]:
    """A finding if the guarantee of a manifest is not the expected one; it shows the first difference."""
    if found != expected:
        place = first_difference(found, expected)
        message = (
            f"the guarantee is not the sentence that its requirements make: from character {place + 1} on it reads "
            f"{_around(found, place)}, but it must read {_around(expected, place)}"
        )
        yield Finding("guarantee", f"{MANIFEST}: {message}.")


def _around(text: str, place: int) -> str:
    start, end = max(place - BEFORE, 0), place + AFTER
    return f"{'…' if start else ''}{text[start:end]!r}{'…' if end < len(text) else ''}"


def _written_day(text: str) -> str:
    number = day_number(text)
    if number is None or day_text(number) != text:
        raise ValueError("it is not a date such as 2019-01-31")
    return text


def _readable(text: str) -> str:
    if hidden := hidden_character(text):
        raise ValueError(f"it holds the hidden character {hidden}")
    return text


def _lowest_terms(text: str) -> Fraction:
    """One amount, one text: two texts that differ are two amounts."""
    if str(Fraction(text)) != text:
        raise ValueError(f"it is {Fraction(text)} in lowest terms")
    return Fraction(text)


def _some(value: list[Any]) -> list[Any]:
    if not value or len({isinstance(item, str) for item in value}) > 1:
        raise ValueError("it must hold numbers alone or texts alone")
    return value


def _true(mark: bool) -> bool:
    """One claim, one text: what is false is not written."""
    if not mark:
        raise ValueError("it is written only if it is true")
    return mark


Day = Annotated[str, AfterValidator(_written_day)]
Line = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_readable)]
"""Text of the owner for a reader."""
AmountText = Annotated[
    str, Field(pattern=r"\A[1-9][0-9]*(/[1-9][0-9]*)?\z", max_length=LONGEST), AfterValidator(_lowest_terms)
]
Amount = Annotated[Fraction, GetPydanticSchema(lambda _, schema_of: schema_of(AmountText))]
"""A fraction above 0, written such as `1/10`."""
Mark = Annotated[bool, AfterValidator(_true)]
"""A key that is there only if it is true."""
Bound = Number | Day


class Part(BaseModel):
    """A part of the manifest. An unknown key may carry anything, so it is refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class Interval(Part):
    """A block of numbers or of dates: `[start, end)`, missing values, or both."""

    label: Name
    start: Number | Day | None = Field(default=None, alias="from")
    end: Number | Day | None = Field(default=None, alias="to")
    missing: list[Name] = Field(default_factory=list)

    @model_validator(mode="after")
    def _holds_something(self) -> Self:
        if (self.start is None) != (self.end is None) or (self.start is None and not self.missing):
            raise ValueError(f"the block {self.label!r} lacks a bound")
        return self

    @property
    def lo(self) -> Number:
        """Where it starts, as a number; that of a date counts days."""
        return counted(self.start)

    @property
    def hi(self) -> Number:
        """Where it ends."""
        return counted(self.end)

    @property
    def unit(self) -> set[str]:
        """What its bounds are; nothing if it holds missing values only."""
        bounds = (self.start, self.end)
        return {"date" if isinstance(bound, str) else "number" for bound in bounds if bound is not None}


def counted(bound: Number | str | None) -> Number:
    """A number, or a date in days; 0 if there is none."""
    return day_number(bound) or 0 if isinstance(bound, str) else bound or 0


class Node(Part):
    """A block of raw values under one taxonomy label."""

    label: Name
    values: list[Name] = Field(min_length=1)
    rest: Mark = False
    """In a local release: whether it is what other labels leave of a node, so that it covers these values at most."""


class Discretization(Part):
    """The cut of a number or of a date. If it is local, it lists all labels of all groups, and they overlap."""

    kind: Literal["discretization"]
    domain: Domain
    local: Mark = False
    unit: Literal["number", "date"] = "number"
    whole: bool
    missing: Kinds = Field(default_factory=dict)
    blocks: list[Interval] = Field(min_length=1)

    @model_validator(mode="after")
    def _one_unit(self) -> Self:
        for block in self.blocks:
            if not block.unit <= {self.unit}:
                raise ValueError(f"the unit is {self.unit}, but the block {block.label!r} has other bounds")
        if self.unit == "date" and not self.whole:
            raise ValueError("a date is a whole number of days, but whole is false")
        return self


class Generalization(Part):
    """The cut through a taxonomy."""

    kind: Literal["generalization"]
    domain: Domain
    local: Mark = False
    missing: Kinds = Field(default_factory=dict)
    blocks: list[Node] = Field(min_length=1)


class Suppression(Part):
    """The values that are disclosed; all others are written as the marker."""

    kind: Literal["suppression"]
    domain: Domain
    local: Mark = False
    missing: Kinds = Field(default_factory=dict)
    disclosed: list[Name]
    marker: Name = Field(min_length=1)


class SurveyWeight(Part):
    """What is released of a survey weight."""

    release: Literal["exact", "rounded", "group-mean"]
    step: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    groups: list[Name] = Field(default_factory=list, max_length=COLUMNS)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.step is None) != (self.release == "exact") or bool(self.groups) != (self.release == "group-mean"):
            raise ValueError(f"step and groups do not fit the release {self.release!r} of a survey weight")
        return self


class Released(Part):
    """A column that is released as it is, or a survey weight."""

    kind: Literal["released"]
    domain: Domain
    type: Literal["number", "date", "category"]
    missing: Kinds = Field(default_factory=dict)
    survey_weight: SurveyWeight | None = Field(default=None, alias="survey-weight")

    @model_validator(mode="after")
    def _weight_is_number(self) -> Self:
        if self.survey_weight is not None and (self.type != "number" or self.missing):
            raise ValueError("a survey weight is a number that no row lacks")
        return self


Masked = Discretization | Generalization | Suppression
MaskedEntry = Annotated[Masked, Field(discriminator="kind")]
Entry = Annotated[Masked | Released, Field(discriminator="kind")]


def labels(entry: Masked) -> list[str]:
    """What a masked column of a release of rows may hold."""
    if isinstance(entry, Suppression):
        return [*entry.disclosed, entry.marker]
    return [block.label for block in entry.blocks]


class Derived(Part):
    """How a column is derived from another one: by a comparison, an equality, a list or bands."""

    source: Name = Field(alias="from")
    at_least: Bound | None = Field(default=None, alias="at-least")
    above: Bound | None = None
    at_most: Bound | None = Field(default=None, alias="at-most")
    below: Bound | None = None
    equals: Wanted | None = None
    among: Annotated[list[Wanted], AfterValidator(_some)] | None = Field(default=None, alias="in")
    bands: Annotated[list[Bound], AfterValidator(_some)] | None = None
    labels: list[Name] | None = None
    names: dict[Name, Name] | None = None
    missing: list[Name] = Field(default_factory=list)
    kept: list[Name] = Field(default_factory=list)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        limits = any(limit is not None for limit in self.limits)
        ways = (self.equals, self.among, self.bands, self.names)
        if [limits, *(way is not None for way in ways)].count(True) != 1:
            raise ValueError("it must compare, or look for values, or have bands, or name codes")
        if self.names is not None and (len(set(self.names.values())) < len(self.names) or self.labels is not None):
            raise ValueError("two codes have the same name")
        starts = [counted(bound) for bound in self.bands or []]
        if starts != sorted(set(starts)):
            raise ValueError("the bands do not ascend")
        if not set(self.kept) <= set(self.missing):
            raise ValueError("a text that is kept does not mean a missing value")
        if self.labels is not None and len(set(self.labels)) != (len(starts) or 2):
            raise ValueError("there must be a label for each value")
        return self

    @property
    def limits(self) -> tuple[Bound | None, ...]:
        """The comparisons: at least, above, at most and below."""
        return self.at_least, self.above, self.at_most, self.below

    @property
    def texts(self) -> list[str]:
        """The texts that it looks for, gives or takes for missing."""
        given = [self.equals, *(self.among or []), *(self.labels or []), *self.missing]
        given += [part for item in (self.names or {}).items() for part in item]
        return [item for item in given if isinstance(item, str)]

    @property
    def values(self) -> list[str]:
        """All that the column can hold."""
        if self.names is not None:
            return list(self.names.values())
        if self.labels is not None:
            return self.labels
        if self.bands is None:
            return ["false", "true"]
        texts = [str(int(end)) if isinstance(end, float) and end.is_integer() else str(end) for end in self.bands]
        return [*(f"[{lo}, {hi})" for lo, hi in pairwise(texts)), f"{texts[-1]} and above"]
