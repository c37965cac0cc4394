"""The rules between the sections of a spec: readable names, and requirements that fit the attributes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from unveil.characters import hidden_character, hidden_in_value
from unveil.errors import SpecError, did_you_mean, listed
from unveil.schema.attributes import Attribute
from unveil.schema.derivations import Derivation
from unveil.schema.requirements import Requirement
from unveil.schema.sections import TableSection


def check_readable(
    attributes: Iterable[Attribute], class_: str, weight: str | None, labels: tuple[str, ...] | None, origin: str
) -> None:
    """Refuses names and labels with hidden characters: two that differ could look the same.

    A raw value may hold tabs and line breaks, also where it is declared or a leaf of a taxonomy.
    """
    names = [("the column", name) for name in (class_, weight or "")]
    classes = [("the class label", label) for label in labels or ()]
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


def check_derived(
    attributes: Mapping[str, Attribute], class_: str, class_derive: Derivation | None, weight: str | None, origin: str
) -> None:
    """Refuses a derivation from a column that is derived itself or is the weight, and values without a leaf."""
    found = {name: item.derive for name, item in attributes.items() if item.derive is not None}
    found |= {} if class_derive is None else {class_: class_derive}
    for name, derive in found.items():
        place = f"{origin}: [attributes.{name}] derive"
        if derive.from_ in found and found[derive.from_].names is None:
            raise SpecError(f"{place} is from {derive.from_!r}, which is derived itself.")
        if derive.from_ == weight:
            raise SpecError(f"{place} is from {weight!r}, which is the weight of a row.")
        taxonomy = attributes[name].taxonomy if name in attributes else None
        if lost := [value for value in derive.values if taxonomy is not None and value not in taxonomy.leaves]:
            raise SpecError(f"{place} gives {lost[0]!r}, which is not a leaf of its taxonomy.")


def check_person(person: Sequence[str], table: TableSection, attributes: Mapping[str, Attribute], origin: str) -> None:
    """Refuses a person column that is released, or that has another role."""
    place = f"{origin}: [table] person names"
    for index, name in enumerate(person):
        if name in person[:index]:
            raise SpecError(f"{place} {name!r} twice.")
        if name == table.class_:
            raise SpecError(f"{place} {name!r}, which is the class and is released.")
        if name in attributes and attributes[name].role != "identifier":
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
        _check_described(name, f"the {what}", attributes, place)


def _check_described(name: str, what: str, attributes: Mapping[str, Attribute], place: str) -> None:
    if name not in attributes:
        hint = did_you_mean(name, attributes) or f"; there are {listed(attributes)}."
        raise SpecError(f"{place}: {what} names {name!r}, which is not described{hint}")
    if attributes[name].role != "attribute":
        raise SpecError(f"{place}: {what} names {attributes[name].called}.")


def _check_sensitive(
    requirement: Requirement, name: str, attributes: Mapping[str, Attribute], class_: str, place: str
) -> None:
    if name == class_:
        raise SpecError(f"{place}: {name!r} is the class, which is there to be inferred, and cannot be sensitive.")
    _check_described(name, "sensitive", attributes, place)
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
