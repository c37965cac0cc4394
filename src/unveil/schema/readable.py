"""Names and labels in a release must not contain characters that a reader cannot see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from unveil.characters import hidden_character, hidden_in_value
from unveil.errors import SpecError
from unveil.schema.attributes import Attribute


def check_readable(
    attributes: Iterable[Attribute], class_: str, weight: str | None, labels: tuple[str, ...] | None, origin: str
) -> None:
    """Refuses names and labels with hidden characters: two that differ could look the same.

    A raw value may hold tabs and line breaks, also where it is declared or a leaf of a taxonomy.

    Args:
        attributes: Those that are released.
        class_: The name of the class.
        weight: The name of the weight, if there is one.
        labels: The declared labels of the class.
        origin: The spec.
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
