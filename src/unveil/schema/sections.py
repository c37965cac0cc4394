"""The sections of a spec file, as pydantic reads them: names, types, and nothing about what they mean together."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator
from pydantic_core import PydanticCustomError, PydanticKnownError

from unveil.characters import hidden_character
from unveil.schema.taxonomy import Taxonomy


def _bound(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str | datetime.date):
        raise PydanticCustomError("float_type", "neither a number nor a date")
    return value


def _tree(value: object) -> str | Taxonomy:
    if isinstance(value, str | Taxonomy):
        return value
    raise PydanticKnownError("string_type")


def _line(value: str) -> str:
    if 0 < len(value.strip()) <= len(value) <= LONGEST and hidden_character(value) is None:
        return value
    raise PydanticCustomError("line", "not a line of text")


def _day(value: object) -> str:
    """A day of TOML, or the text of one, as that text. A time stamp is also a date to Python, and is refused."""
    try:
        day = datetime.date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        day = None
    if type(day) is not datetime.date:
        raise PydanticCustomError("day", "not a day")
    return day.isoformat()


LONGEST = 200
"""How many characters a title or the name of an owner may have."""
Number = float
Bound = Annotated[Any, BeforeValidator(_bound)]
"""An end of a range. What it must be depends on the kind of the attribute, which is checked with the others."""
Names = Annotated[list[str], Field(min_length=1)]
Share = Annotated[Number, Field(gt=0, le=1)]
Line = Annotated[str, AfterValidator(_line)]
"""Text for a reader, in one line, without characters that nobody sees."""
Day = Annotated[str, BeforeValidator(_day)]
Tree = Annotated[str | Taxonomy, PlainValidator(_tree)]
"""The path of a taxonomy file; in a mapping also the taxonomy itself."""


class Section(BaseModel):
    """A section of the file: unknown keys are errors, `"5"` is no number, and dashes join words."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        alias_generator=lambda name: name.rstrip("_").replace("_", "-"),
    )


class MissingSection(Section):
    """`missing`: which texts mean that a value is missing, and what happens to such rows."""

    values: list[str] = [""]
    rows: Literal["drop", "refuse"] = "refuse"


class TableSection(Section):
    """`[table]`: where the rows come from."""

    class_: str
    source: str | None = None
    query: str | None = None
    name: Annotated[str, Field(min_length=1)] | None = None
    missing: MissingSection = MissingSection()
    invalid: Literal["drop", "refuse"] = "refuse"
    others: Literal["refuse", "drop", "release"] = "refuse"
    budget: Number | None = None
    weight: str | None = None
    title: Line | None = None
    owner: Line | None = None
    date: Day | None = None


class AttributeSection(Section):
    """`[attributes.NAME]`."""

    role: Literal["attribute", "identifier"] = "attribute"
    kind: Literal["number", "date", "category"] | None = None
    range: Annotated[list[Bound], Field(min_length=2, max_length=2)] | None = None
    whole: bool = False
    step: Number | None = None
    outside: Literal["refuse", "clamp"] = "refuse"
    values: Names | None = None
    taxonomy: Tree | None = None


class KAnonymitySection(Section):
    """`[[require]]` of kind `k-anonymity`."""

    kind: Literal["k-anonymity"]
    quasi_identifier: Names
    k: Annotated[int, Field(ge=1)]


class ConfidenceSection(Section):
    """`[[require]]` of kind `confidence`: privacy templates."""

    kind: Literal["confidence"]
    channel: Names
    sensitive: str
    values: Names | None = None
    limit: Share


class LDiversitySection(Section):
    """`[[require]]` of kind `l-diversity`."""

    kind: Literal["l-diversity"]
    quasi_identifier: Names
    sensitive: str
    l: Annotated[Number, Field(ge=1)]  # noqa: E741 - the name of the model
    variant: Literal["distinct", "entropy"] = "distinct"


class TClosenessSection(Section):
    """`[[require]]` of kind `t-closeness`."""

    kind: Literal["t-closeness"]
    quasi_identifier: Names
    sensitive: str
    t: Annotated[Number, Field(ge=0, le=1)]
    distance: Literal["equal", "ordered"] = "equal"


class AlphaKAnonymitySection(Section):
    """`[[require]]` of kind `alpha-k-anonymity`."""

    kind: Literal["alpha-k-anonymity"]
    quasi_identifier: Names
    k: Annotated[int, Field(ge=1)]
    sensitive: str
    values: Names | None = None
    alpha: Share


class DifferentialPrivacySection(Section):
    """`[[require]]` of kind `differential-privacy`."""

    kind: Literal["differential-privacy"]
    epsilon: Number


RequireSection = Annotated[
    KAnonymitySection
    | ConfidenceSection
    | LDiversitySection
    | TClosenessSection
    | AlphaKAnonymitySection
    | DifferentialPrivacySection,
    Field(discriminator="kind"),
]


class PublishSection(Section):
    """`[publish]`: by which method, and how it chooses."""

    method: Literal["refinement", "diffgen"] = "refinement"
    criterion: Literal["score", "infogain"] = "score"
    specializations: Annotated[int, Field(ge=0)] | None = None
    utility: Literal["max", "infogain"] = "max"
    choice: Literal["exponential", "permute-and-flip"] | None = None
    budget: Literal["full", "paper"] = "full"
    threshold: Annotated[int, Field(ge=1)] | None = None


class SpecSections(Section):
    """The whole file."""

    table: TableSection
    attributes: dict[str, AttributeSection] = {}
    require: list[RequireSection] = []
    publish: PublishSection = PublishSection()


KINDS: dict[str, type[Section]] = {
    "k-anonymity": KAnonymitySection,
    "confidence": ConfidenceSection,
    "l-diversity": LDiversitySection,
    "t-closeness": TClosenessSection,
    "alpha-k-anonymity": AlphaKAnonymitySection,
    "differential-privacy": DifferentialPrivacySection,
}
"""The kinds of requirement and the section of each."""
