"""The sections of a spec file, as pydantic reads them: names, types, and nothing about what they mean together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unveil.errors import SpecError, did_you_mean, listed

Number = int | float
Names = Annotated[list[str], Field(min_length=1)]
Share = Annotated[Number, Field(gt=0, le=1)]


class Section(BaseModel):
    """A section of the file: unknown keys are errors, `"5"` is no number, and dashes join words."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        alias_generator=lambda name: name.rstrip("_").replace("_", "-"),
        populate_by_name=True,
    )


class MissingSection(Section):
    """`missing`: which texts mean that a value is missing, and what happens to such rows."""

    values: list[str] = [""]
    rows: Literal["drop", "refuse"] = "refuse"


class TableSection(Section):
    """`[table]`: where the rows come from."""

    class_: str
    source: str | None = None
    missing: MissingSection = MissingSection()
    others: Literal["refuse", "drop", "release"] = "refuse"
    budget: Number | None = None
    weight: str | None = None


class AttributeSection(Section):
    """`[attributes.NAME]`."""

    role: Literal["attribute", "identifier"] = "attribute"
    kind: Literal["number", "category"] | None = None
    range: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = None
    whole: bool = False
    step: Number | None = None
    outside: Literal["refuse", "clamp"] = "refuse"
    values: Names | None = None
    taxonomy: str | None = None


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


def read_sections(content: Mapping[str, Any], origin: str) -> SpecSections:
    """Checks the content of a spec file; the first thing wrong is told in one sentence."""
    try:
        return SpecSections.model_validate(content)
    except ValidationError as error:
        raise SpecError(_sentence(error, origin)) from None


def _sentence(error: ValidationError, origin: str) -> str:
    # An unknown key is often the cause of a key found missing, so it is told first.
    problems = sorted(error.errors(), key=lambda problem: problem["type"] != "extra_forbidden")
    problem = problems[0]
    place = [part for part in problem["loc"] if part not in _KINDS]
    kind = problem["type"]
    if kind == "extra_forbidden":
        where, key = _place(place[:-1]), str(place[-1])
        return f"{origin}: {where} has the unknown key {key!r}{did_you_mean(key, _known(problem['loc'][:-1])) or '.'}"
    if kind == "union_tag_invalid":
        name = str(problem["ctx"]["tag"])
        hint = did_you_mean(name, _KINDS) or f"; there are {listed(_KINDS)}."
        return f"{origin}: {_place(place)} has the unknown kind {name!r}{hint}"
    if kind == "union_tag_not_found":
        return f"{origin}: {_place(place)} lacks the key 'kind'."
    if kind == "missing":
        return f"{origin}: {_place(place[:-1])} lacks the key {str(place[-1])!r}."
    value = problem["input"]
    rule = problem["msg"][0].lower() + problem["msg"][1:]
    return f"{origin}: {_place(place)} is {value!r}, but {rule}."


_KINDS: dict[str, type[Section]] = {
    "k-anonymity": KAnonymitySection,
    "confidence": ConfidenceSection,
    "l-diversity": LDiversitySection,
    "t-closeness": TClosenessSection,
    "alpha-k-anonymity": AlphaKAnonymitySection,
    "differential-privacy": DifferentialPrivacySection,
}


def _place(loc: list[Any]) -> str:
    """How a person finds the place: `[attributes.age] range`, `[[require]] number 2`."""
    if not loc:
        return "the file"
    if loc[0] == "attributes" and len(loc) > 1:
        head, rest = f"[attributes.{loc[1]}]", loc[2:]
    elif loc[0] == "require" and len(loc) > 1:
        head, rest = f"[[require]] number {loc[1] + 1}", loc[2:]
    else:
        head, rest = f"[{loc[0]}]", loc[1:]
    return " ".join([head, *(str(part) for part in rest)])


def _known(loc: Sequence[Any]) -> list[str]:
    """The keys known at a place, for a hint."""
    sections: dict[str, type[Section]] = {
        "table": TableSection,
        "attributes": AttributeSection,
        "publish": PublishSection,
        "missing": MissingSection,
        **_KINDS,
    }
    nearest = [sections[str(part)] for part in loc if str(part) in sections]
    section = nearest[-1] if nearest else SpecSections
    return [field.alias or name for name, field in section.model_fields.items()]
