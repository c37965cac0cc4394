"""The sections of a spec file as pydantic models: names and types only. `spec.py` checks the rest."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from unveil.schema.derivations import Derived
from unveil.schema.keys import (
    AsFine,
    Bound,
    Day,
    Labels,
    Line,
    NameOrNames,
    Names,
    Number,
    Purpose,
    Section,
    Size,
    Tree,
)
from unveil.schema.requirements import KINDS as REQUIREMENTS
from unveil.schema.requirements import Requirement

SearchName = Literal["paper", "joint"]
Recoding = Literal["global", "local"]
Criterion = Literal["score", "infogain", "anonymity"]
"""What ranks refinements: gain for loss, or gain alone, in the paper's search; gain per anonymity lost in the joint."""
LeftOut = Literal["drop", "mask"]
Goal = Literal["class", "statistics"] | tuple[str, ...]
MOST_SPECIALIZATIONS = 1000
"""More would leave almost no budget for each, and take hours."""


class MissingSection(Section):
    """`missing`: which texts mean that a value is missing, and what happens to such rows."""

    values: list[str] = Field(default_factory=lambda: [""])
    rows: Literal["drop", "refuse", "keep"] = "refuse"
    keep: dict[str, list[str]] | None = None


def _policy(value: Any) -> Any:
    """A word alone is what happens to rows."""
    return {"rows": value} if isinstance(value, str) else value


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
    person: NameOrNames | None = None
    title: Line | None = None
    owner: Line | None = None
    date: Day | None = None


class AttributeSection(Section):
    """`[attributes.NAME]`."""

    role: Literal["attribute", "identifier", "survey-weight"] = "attribute"
    kind: Literal["number", "date", "category"] | None = None
    range: Annotated[list[Bound], Field(min_length=2, max_length=2)] | None = None
    whole: bool = False
    step: Number | None = None
    release: Literal["no", "exact", "rounded", "group-mean"] | None = None
    outside: Literal["refuse", "clamp"] = "refuse"
    values: Names | None = None
    taxonomy: Tree | None = None
    derive: Derived | None = None
    missing: Annotated[MissingSection, BeforeValidator(_policy)] | None = None
    labels: Labels | None = None
    weight: Number | None = None
    keep: AsFine | None = None
    finest: AsFine | None = None


class DifferentialPrivacySection(Section):
    """`[[require]]` of kind `differential-privacy`."""

    kind: Literal["differential-privacy"]
    epsilon: Number


RequireSection = Annotated[Requirement | DifferentialPrivacySection, Field(discriminator="kind")]


class PublishSection(Section):
    """`[publish]`: the method and its options."""

    method: Literal["refinement", "diffgen", "additive", "safe"] = "refinement"
    search: SearchName | None = None
    recoding: Recoding | None = None
    leave_out: str | None = None
    left_out: LeftOut | None = None
    goal: Purpose = "class"
    criterion: Criterion | None = None
    bounds: Literal["round", "observed"] = "round"
    specializations: Annotated[int, Field(ge=0, le=MOST_SPECIALIZATIONS)] | None = None
    utility: Literal["max", "infogain"] = "max"
    choice: Literal["exponential", "permute-and-flip"] | None = None
    budget: Literal["full", "paper"] = "full"
    threshold: Size | None = None
    delta: Number | None = None


class SpecSections(Section):
    """The whole file."""

    draft: bool = False
    table: TableSection
    attributes: dict[str, AttributeSection] = Field(default_factory=dict)
    require: list[RequireSection] = Field(default_factory=list)
    publish: PublishSection = PublishSection()


KINDS: dict[str, type[Section]] = {**REQUIREMENTS, "differential-privacy": DifferentialPrivacySection}
"""The kinds of requirement and the section of each."""
