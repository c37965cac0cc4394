"""The parts of a manifest as the verifier reads them: strict, and written apart from the code that makes manifests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from unveil.characters import hidden_character
from unveil.limits import COLUMNS, NAME, RECORDS, ROWS
from unveil.verifier.days import day_number, day_text

MANIFEST = "manifest.json"
PARQUET = "data.parquet"
CSV = "data.csv"
LARGEST = 10**300  # a JSON whole number has no end, a float has

Holds = Literal["labels", "text", "numbers", "integers", "booleans", "dates", "counts", "anything"]
"""What a column of the data files holds."""

Number = Annotated[int, Field(ge=-LARGEST, le=LARGEST)] | Annotated[float, Field(allow_inf_nan=False)]


def _written_day(text: str) -> str:
    number = day_number(text)
    if number is None or day_text(number) != text:
        raise ValueError("it is not a date such as 2019-01-31")
    return text


def _visible(text: str) -> str:
    if (hidden := hidden_character(text)) is not None:
        raise ValueError(f"it holds the hidden character {hidden}")
    return text


Day = Annotated[str, AfterValidator(_written_day)]
Line = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_visible)]
"""Text of the owner for a reader."""
FileName = Annotated[str, Field(pattern=r"\Adata\.(csv|parquet|parquet/part-[0-9]{5}\.parquet)\z")]
"""A data file: one in a format, or a part of the rows. Parts stand in the order of their names."""
Name = Annotated[str, Field(max_length=NAME)]
"""The name of a column, a label, or a value."""
RowCount = Annotated[int, Field(ge=0, le=ROWS)]
RecordCount = Annotated[int, Field(ge=0, le=RECORDS)]
Version = Annotated[
    str, Field(max_length=40, pattern=r"\A[0-9]+(\.[0-9]+)*((a|b|rc)[0-9]+)?(\.post[0-9]+)?(\.dev[0-9]+)?\z")
]
"""A version as PEP 440 writes a public one."""
ClassType = Literal["text", "integer", "number", "boolean", "date"]
Domain = Literal["declared", "observed"]


class Part(BaseModel):
    """A part of the manifest. A key that nobody knows may carry anything, so it is refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Interval(Part):
    """A block of numbers or of dates, `[start, end)`."""

    label: Name
    start: Number | Day = Field(alias="from")
    end: Number | Day = Field(alias="to")

    @property
    def lo(self) -> Number:
        """Where it starts, as a number; that of a date counts days."""
        return _counted(self.start)

    @property
    def hi(self) -> Number:
        """Where it ends."""
        return _counted(self.end)

    @property
    def unit(self) -> set[str]:
        """What its bounds are."""
        return {"date" if isinstance(bound, str) else "number" for bound in (self.start, self.end)}


def _counted(bound: Number | str) -> Number:
    return day_number(bound) or 0 if isinstance(bound, str) else bound


class Node(Part):
    """A block of raw values under one taxonomy label."""

    label: Name
    values: list[Name] = Field(min_length=1)


class Discretization(Part):
    """The cut of a number or of a date."""

    kind: Literal["discretization"]
    domain: Domain
    unit: Literal["number", "date"] = "number"
    whole: bool
    blocks: list[Interval] = Field(min_length=1)

    @model_validator(mode="after")
    def _one_unit(self) -> Self:
        for block in self.blocks:
            if block.unit != {self.unit}:
                raise ValueError(f"the unit is {self.unit}, but the block {block.label!r} has other bounds")
        if self.unit == "date" and not self.whole:
            raise ValueError("a date is a whole number of days, but whole is false")
        return self


class Generalization(Part):
    """The cut through a taxonomy."""

    kind: Literal["generalization"]
    domain: Domain
    blocks: list[Node] = Field(min_length=1)


class Suppression(Part):
    """The values that are disclosed; all others are written as the marker."""

    kind: Literal["suppression"]
    domain: Domain
    disclosed: list[Name]
    marker: Name = Field(min_length=1)


class Released(Part):
    """A column that is released as it is."""

    kind: Literal["released"]
    domain: Domain
    type: Literal["number", "date", "category"]


Masked = Discretization | Generalization | Suppression
MaskedEntry = Annotated[Masked, Field(discriminator="kind")]
Entry = Annotated[Masked | Released, Field(discriminator="kind")]


class About(Part):
    """What the owner tells readers; of these words nothing can be checked but their form."""

    title: Line = ""
    owner: Line = ""
    date: Day = ""


class DataFile(Part):
    """What the manifest says of a data file."""

    sha256: str = Field(pattern=r"\A[0-9a-f]{64}\z")
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
    masking: Mapping[Name, Entry] = Field(max_length=COLUMNS)
    files: dict[FileName, DataFile]

    @property
    def class_holds(self) -> Holds:
        """What the column of the class holds."""
        held: dict[ClassType, Holds] = {
            "text": "text",
            "integer": "integers",
            "number": "numbers",
            "boolean": "booleans",
            "date": "dates",
        }
        return held[self.class_type]

    @property
    def columns(self) -> list[tuple[str, Holds]]:
        """The columns of the data files, in order."""
        raise TypeError("only a manifest with a method has columns")

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return [name for name, _ in self.columns]

    @property
    def part_names(self) -> list[str]:
        """The parts that hold the rows, as they are listed; none where one file holds them all."""
        return [name for name in self.files if name.startswith(f"{PARQUET}/")]

    @property
    def masked(self) -> dict[str, Masked]:
        """The entries of the columns that hold blocks."""
        return {name: entry for name, entry in self.masking.items() if not isinstance(entry, Released)}
