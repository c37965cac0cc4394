"""No name or label that a release may show holds characters that a reader cannot see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from unveil.characters import hidden_character
from unveil.errors import SpecError
from unveil.schema.attributes import Attribute


def check_readable(
    attributes: Iterable[Attribute], class_: str, weight: str | None, labels: tuple[str, ...] | None, origin: str
) -> None:
    """Refuses names and labels with hidden characters: two that differ could look the same.

    Args:
        attributes: Those that are released.
        class_: The name of the class.
        weight: The name of the weight, if there is one.
        labels: The declared labels of the class.
        origin: The spec.
    """
    names = [("the column", name) for name in (class_, weight or "")]
    classes = [("the class label", label) for label in labels or ()]
    for place, text in [*names, *classes, *_texts(attributes)]:
        if found := hidden_character(text):
            raise SpecError(f"{origin}: {place} {text!r} has the character {found}, which is not seen.")


def _texts(attributes: Iterable[Attribute]) -> Iterator[tuple[str, str]]:
    """The names, values and labels of attributes, each with its place."""
    for attribute in attributes:
        yield "the column", attribute.name
        place = f"[attributes.{attribute.name}]"
        yield from ((f"{place} the value", value) for value in attribute.values or ())
        labels = () if attribute.taxonomy is None else attribute.taxonomy.labels
        yield from ((f"{place} the label", label) for label in labels)
