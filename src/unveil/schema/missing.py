"""The owner's policy for missing values: rows are dropped or refused, or what is missing is kept as a value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from unveil.characters import hidden_character
from unveil.errors import SpecError
from unveil.schema.attributes import AFTER_ALL, OR, Attribute, Missing, number_of
from unveil.schema.sections import MissingSection
from unveil.schema.taxonomy import SUPPRESSED

LABEL = "missing"
"""What a missing value is called if the owner gives it no other name."""
MOST_KINDS = 5


def read_missing(section: MissingSection | None, table: Missing, place: str) -> Missing:
    """The policy of a column: that of the table, apart from what its own section says.

    Args:
        section: The section of the column, if it has one.
        table: The policy of the table.
        place: What error messages call the section.
    """
    if section is None:
        return table
    given = section.model_fields_set
    if section.keep is not None:
        if extra := sorted(given - {"keep"}):
            raise SpecError(
                f"{place} missing has both 'keep' and {extra[0]!r}; the texts to keep are listed in 'keep'."
            )
        return _kept({label: tuple(marks) for label, marks in section.keep.items()}, f"{place} missing")
    values = tuple(section.values) if "values" in given else table.values
    rows = section.rows if "rows" in given else table.rows
    if rows == "keep" and table.kinds and "values" not in given:
        return table
    return Missing(values, rows, ((LABEL, values),) if rows == "keep" else ())


def needed(policy: Missing, invalid: Literal["drop", "refuse"]) -> Missing:
    """The policy of the table for a column that every row needs, the class or a weight: nothing missing is kept there.

    Args:
        policy: The policy of the table.
        invalid: What happens to rows with a value outside its domain; a row that is not kept is treated alike.
    """
    return Missing(policy.values, invalid) if policy.rows == "keep" else policy


def _kept(kinds: dict[str, tuple[str, ...]], place: str) -> Missing:
    """Named kinds of missing values, each with its texts."""
    if not 0 < len(kinds) <= MOST_KINDS:
        raise SpecError(f"{place} keep has {len(kinds)} kinds, but there must be from 1 to {MOST_KINDS}.")
    owner: dict[str, str] = {}
    for label, marks in kinds.items():
        _check_label(label, place)
        for mark in marks:
            if mark in owner:
                raise SpecError(f"{place} keep lists the text {mark!r} twice, for {owner[mark]!r} and {label!r}.")
            owner[mark] = label
    if len(kinds) > 1 and "" not in owner:
        raise SpecError(f"{place} keep has several kinds; one of them must list '', which is what nulls count as.")
    return Missing(tuple(owner), "keep", tuple(kinds.items()))


def _check_label(label: str, place: str) -> None:
    if not label or label == SUPPRESSED:
        raise SpecError(f"{place} keep has the label {label!r}, which cannot name a kind of missing values.")
    if character := hidden_character(label):
        raise SpecError(f"{place} keep has the label {label!r} with the character {character}, which is invisible.")


def with_missing(attribute: Attribute, missing: Missing, place: str) -> Attribute:
    """The attribute with the kinds of missing values that are kept among its values.

    Raises:
        SpecError: A label or a text that means a missing value is a value, too.
    """
    if attribute.taxonomy is not None:
        inner = attribute.taxonomy.inner_labels
        _check_apart(missing, attribute.taxonomy.leaves, inner, place)
        tree = attribute.taxonomy.with_leaves(missing.labels) if missing.kinds else attribute.taxonomy
        return replace(attribute, missing=missing, taxonomy=tree)
    if attribute.ordered:
        _check_ordered(attribute, missing, place)
        return replace(attribute, missing=missing)
    return replace(attribute, missing=missing, values=with_labels(attribute.values, missing, place))


def with_labels(values: tuple[str, ...] | None, missing: Missing, place: str) -> tuple[str, ...] | None:
    """The declared values of a category or of the class, and after them the kinds of missing ones that are kept."""
    if values is None:
        return None
    _check_apart(missing, values, (), place)
    return (*values, *missing.labels)


def _check_apart(missing: Missing, values: Iterable[str], inner: Iterable[str], place: str) -> None:
    """Refuses a name for two things."""
    declared, labels = set(values), {*values, *inner}
    for label, marks in missing.kinds:
        if label in labels:
            raise SpecError(f"{place} keeps missing values under the label {label!r}, which is also one of its values.")
        for mark in marks:
            if mark in declared:
                raise SpecError(f"{place} has the value {mark!r}, which is also a text that means a missing value.")


def _check_ordered(attribute: Attribute, missing: Missing, place: str) -> None:
    for label in missing.labels:
        if OR in label or label.startswith("[") or number_of(label, attribute.unit) is not None:
            raise SpecError(
                f"{place} keeps missing values under the label {label!r}, which could be mistaken for a block of "
                f"{attribute.unit}s."
            )
    if missing.kinds and attribute.range is not None and attribute.range[1] >= AFTER_ALL / 10:
        raise SpecError(f"{place} has a range that ends at {attribute.range[1]:g}, too far to keep missing values.")
