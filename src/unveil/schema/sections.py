"""The sections of a spec file as pydantic models, and the rules between them.

The models check names and types only; the rules ask for readable names, and for requirements that fit the attributes.
`spec.py` checks the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from unveil.characters import hidden_character, hidden_in_value
from unveil.errors import SpecError, did_you_mean, listed
from unveil.schema.attributes import Attribute
from unveil.schema.derivations import Derived
from unveil.schema.keys import AsFine, Bound, Day, Labels, Line, NameOrNames, Names, Purpose, Section, Size, Tree
from unveil.schema.requirements import KINDS as REQUIREMENTS
from unveil.schema.requirements import Requirement

MOST_SPECIALIZATIONS = 1000
"""More would leave almost no budget for each, and take hours."""


SearchName = Literal["paper", "joint"]
Recoding = Literal["global", "local"]
Criterion = Literal["score", "infogain", "anonymity"]
"""What ranks refinements: gain for loss, or gain alone, in the paper's search; gain per anonymity lost in the joint."""
LeftOut = Literal["drop", "mask"]
Goal = Literal["class", "statistics"] | tuple[str, ...]


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
    budget: float | None = None
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
    step: float | None = None
    release: Literal["no", "exact", "rounded", "group-mean"] | None = None
    outside: Literal["refuse", "clamp"] = "refuse"
    values: Names | None = None
    taxonomy: Tree | None = None
    derive: Derived | None = None
    missing: Annotated[MissingSection, BeforeValidator(_policy)] | None = None
    labels: Labels | None = None
    weight: float | None = None
    keep: AsFine | None = None
    finest: AsFine | None = None


class DifferentialPrivacySection(Section):
    """`[[require]]` of kind `differential-privacy`."""

    kind: Literal["differential-privacy"]
    epsilon: float
    contributions: Size | None = None


RequireSection = Annotated[Requirement | DifferentialPrivacySection, Field(discriminator="kind")]


MOST_MARGIN = 1000
"""How large a margin may be: groups would be larger than any reader needs."""


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
    margin: Annotated[int, Field(ge=1, le=MOST_MARGIN)] | None = None
    learn: str | None = None
    specializations: Annotated[int, Field(ge=0, le=MOST_SPECIALIZATIONS)] | None = None
    utility: Literal["max", "infogain"] = "max"
    choice: Literal["exponential", "permute-and-flip"] | None = None
    budget: Literal["full", "paper"] = "full"
    threshold: Size | None = None
    delta: float | None = None
    history: str | None = None


class SpecSections(Section):
    """The whole file."""

    draft: bool = False
    table: TableSection
    attributes: dict[str, AttributeSection] = Field(default_factory=dict)
    require: list[RequireSection] = Field(default_factory=list)
    publish: PublishSection = PublishSection()


KINDS: dict[str, type[Section]] = {**REQUIREMENTS, "differential-privacy": DifferentialPrivacySection}
"""The kinds of requirement and the section of each."""


def check_readable(attributes: Iterable[Attribute], class_: Attribute, weight: str | None, origin: str) -> None:
    """Refuses names and labels with hidden characters: two that differ could look the same.

    A raw value of an attribute may hold tabs and line breaks, also where it is declared or a leaf of a taxonomy.
    """
    names = [("the column", name) for name in (class_.name, weight or "")]
    classes = [("the class label", label) for label in class_.values or ()]
    found = [(place, text, hidden_character(text)) for place, text in [*names, *classes]]
    for place, text, character in [*found, *_found(attributes)]:
        if character:
            raise SpecError(f"{origin}: {place} {text!r} has the character {character}, which is invisible.")


def _found(attributes: Iterable[Attribute]) -> Iterator[tuple[str, str, str | None]]:
    """The names, values and labels of attributes, each with its place and its hidden character."""
    for attribute in attributes:
        yield "the column", attribute.name, hidden_character(attribute.name)
        place = f"[attributes.{attribute.name}]"
        for value in attribute.values or ():
            yield f"{place} the value", value, hidden_in_value(value)
        if attribute.taxonomy is not None:
            raw = frozenset(attribute.taxonomy.leaves)
            for label in attribute.taxonomy.labels:
                yield f"{place} the label", label, (hidden_in_value if label in raw else hidden_character)(label)


def check_derived(columns: Mapping[str, Attribute], weight: str | None, origin: str) -> None:
    """Refuses a derivation from a column that is derived itself or is the weight, and values without a leaf."""
    found = {name: item.derive for name, item in columns.items() if item.derive is not None}
    for name, derive in found.items():
        place = f"{origin}: [attributes.{name}] derive"
        if derive.from_ in found and found[derive.from_].names is None:
            raise SpecError(f"{place} is from {derive.from_!r}, which is derived itself.")
        if derive.from_ == weight:
            raise SpecError(f"{place} is from {weight!r}, which is the weight of a row.")
        taxonomy = columns[name].taxonomy
        if lost := [value for value in derive.values if taxonomy is not None and value not in taxonomy.leaves]:
            raise SpecError(f"{place} gives {lost[0]!r}, which is not a leaf of its taxonomy.")


EPSILON_ADDS_UP = "under differential privacy ε adds up over releases, and the owner's ledger tracks it"


def check_history(history: str | None, method: str, person: Sequence[str], origin: str) -> None:
    """Refuses a history of releases that it cannot keep together."""
    if history is None:
        return
    if method != "refinement":
        raise SpecError(f"{origin}: [publish] history is for refinement; {EPSILON_ADDS_UP}.")
    if not person:
        raise SpecError(
            f"{origin}: [publish] history needs [table] person: the column, or columns, that say whose row each is in "
            "every release."
        )


def check_person(person: Sequence[str], table: TableSection, attributes: Mapping[str, Attribute], origin: str) -> None:
    """Refuses a person column that is released, or that has another role."""
    place = f"{origin}: [table] person names"
    for index, name in enumerate(person):
        if name in person[:index]:
            raise SpecError(f"{place} {name!r} twice.")
        if name == table.class_:
            raise SpecError(f"{place} {name!r}, which is the class and is released.")
        if name in attributes and attributes[name].shown:
            raise SpecError(
                f"{place} {name!r}, which [attributes.{name}] would release; remove that section, or set its role to "
                "'identifier'."
            )
    if person and table.weight is not None:
        raise SpecError(
            f"{origin}: [table] has both person and weight, but a row of weight n is n records of unknown persons; "
            "remove one of the two."
        )


def check_requirements(
    requirements: Sequence[Requirement], attributes: Mapping[str, Attribute], class_: str, origin: str
) -> None:
    """Refuses requirements that name what they cannot, or that contradict each other."""
    for number, requirement in enumerate(requirements, start=1):
        place = f"{origin}: [[require]] number {number}"
        _check_masked(requirement, attributes, class_, place)
        if requirement.sensitive is not None:
            _check_sensitive(requirement, requirement.sensitive, attributes, class_, place)
        requirement.check(place)
    for number, requirement in enumerate(requirements, start=1):
        for other_number, other in enumerate(requirements, start=1):
            if requirement.sensitive in other.attributes:
                raise SpecError(
                    f"{origin}: {requirement.sensitive!r} is sensitive in [[require]] number {number} and so released "
                    f"as it is, but [[require]] number {other_number} asks to mask it: the two contradict each other."
                )


def check_kinds(attributes: Iterable[Attribute], masked: Collection[str], origin: str) -> None:
    """Refuses several kinds of missing values in a number that is released as it is: a null is a null."""
    for attribute in attributes:
        kinds = attribute.missing.labels
        if attribute.ordered and len(kinds) > 1 and attribute.name not in masked:
            raise SpecError(
                f"{origin}: [attributes.{attribute.name}] is a {attribute.unit} that no requirement masks, so its "
                f"kinds of missing values, {listed(kinds)}, would all be released as null; keep one kind."
            )


def _check_masked(requirement: Requirement, attributes: Mapping[str, Attribute], class_: str, place: str) -> None:
    names = requirement.attributes
    what = requirement.role
    for index, name in enumerate(names):
        if name == class_:
            raise SpecError(f"{place}: the {what} names the class {name!r}, which is released as it is.")
        if name in names[:index]:
            raise SpecError(f"{place}: the {what} names {name!r} twice.")
        if name == requirement.sensitive:
            raise SpecError(f"{place}: the sensitive attribute {name!r} appears in its own {what}.")
        check_described(name, attributes, f"{place}: the {what}")


def check_described(name: str, attributes: Mapping[str, Attribute], place: str, *others: str) -> None:
    """Refuses a name that is not that of an attribute; `others` could be named too."""
    if name not in attributes:
        known = [*attributes, *others]
        hint = did_you_mean(name, known) or f"; there are {listed(known)}."
        raise SpecError(f"{place} names {name!r}, which is not described{hint}")
    if attributes[name].role != "attribute":
        raise SpecError(f"{place} names {attributes[name].called}.")


def _check_sensitive(
    requirement: Requirement, name: str, attributes: Mapping[str, Attribute], class_: str, place: str
) -> None:
    if name == class_:
        raise SpecError(f"{place}: {name!r} is the class, which is there to be inferred, and cannot be sensitive.")
    check_described(name, attributes, f"{place}: sensitive")
    attribute = attributes[name]
    if attribute.kind not in requirement.takes():
        raise SpecError(
            f"{place}: the sensitive attribute {name!r} is a {attribute.kind}; {requirement.kind} needs a "
            f"{' or a '.join(requirement.takes())}."
        )
    if attribute.missing.kinds and "number" in requirement.takes():
        raise SpecError(
            f"{place}: the sensitive attribute {name!r} keeps missing values, which have no place in the order that "
            f"{requirement.kind} compares; set its missing to 'drop' or 'refuse'."
        )
    declared = attribute.taxonomy.leaves if attribute.taxonomy is not None else attribute.values
    for value in getattr(requirement, "values", None) or ():
        if declared is not None and value not in declared:
            hint = did_you_mean(value, declared) or "."
            raise SpecError(f"{place}: the sensitive attribute {name!r} does not have the value {value!r}{hint}")
