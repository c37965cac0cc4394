"""From the sections of a spec to attributes: each key checked against the others, taxonomies read."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from unveil.errors import SpecError, TaxonomyError
from unveil.schema.attributes import Attribute, Missing, Range, bound_text, interval_label, number_of, number_text
from unveil.schema.derivations import Derivation
from unveil.schema.labels import labelled_tree, read_labels
from unveil.schema.missing import needed, read_missing, with_labels, with_missing
from unveil.schema.sections import AttributeSection
from unveil.schema.sentences import toml_text
from unveil.schema.steering import steered
from unveil.schema.taxonomy import SUPPRESSED, Taxonomy
from unveil.schema.taxonomy_files import read_taxonomy
from unveil.schema.weights import read_weighting

MEANINGLESS = {
    "number": {"values", "taxonomy"},
    "date": {"values", "taxonomy", "whole", "step"},
    "category": {"range", "whole", "step", "outside"},
}
"""For each kind, the keys that belong to others."""


def read_class(
    section: AttributeSection | None, name: str, origin: str, folder: Path, policy: Missing
) -> tuple[tuple[str, ...] | None, Derivation | None, Missing]:
    """The declared labels of the class, how it is derived, and what happens to rows without one."""
    if section is None:
        return None, None, policy
    place = f"{origin}: [attributes.{name}]"
    extra = section.model_fields_set - {"values", "kind", "derive", "labels", "missing"}
    if extra or section.kind not in (None, "category"):
        raise SpecError(
            f"{place} is the class; only its values, their labels, how it is derived (derive) and missing can be "
            "declared."
        )
    own = read_missing(section.missing, policy, place)
    derive = _derivation(name, section, own.values, place, folder)
    if derive is not None and own.kinds:
        raise SpecError(f"{place} is a class that is derived or has labels, so rows without a value cannot be kept.")
    return with_labels(_distinct(_values(section, derive), place), own, place), derive, own


def _derivation(
    name: str, section: AttributeSection, marks: tuple[str, ...], place: str, folder: Path
) -> Derivation | None:
    """How a column is derived, or read under labels; the marks of the table are missing in its source too."""
    derive = section.derive
    if derive is not None and (derive.names is not None or section.labels is not None):
        raise SpecError(f"{place} is derived, so its labels are those in the table of derive.")
    if section.labels is not None:
        if section.values is not None:
            raise SpecError(f"{place} has labels, which are its values, so these cannot be declared too.")
        if section.kind not in (None, "category"):
            raise SpecError(f"{place} has labels, so it is a category, not a {section.kind}.")
        return read_labels(section.labels, name, place, folder, marks)
    if derive is None:
        return None
    if section.values is not None:
        raise SpecError(f"{place} is derived, so its values follow from the derivation and cannot be declared.")
    if section.kind not in (None, "category"):
        raise SpecError(f"{place} is derived, so it is a category, not a {section.kind}.")
    marked = derive.model_copy(update={"missing": tuple(dict.fromkeys((*marks, *derive.missing)))})
    marked.check(place)
    return marked


def read_attribute(name: str, section: AttributeSection, origin: str, folder: Path, policy: Missing) -> Attribute:
    """An attribute as its section describes it; `policy` is that of the table for missing values."""
    place = f"{origin}: [attributes.{name}]"
    if section.role == "identifier":
        if extra := section.model_fields_set - {"role"}:
            raise SpecError(f"{place} is an identifier and is never released, so {sorted(extra)[0]!r} has no meaning.")
        return Attribute(name, role="identifier")
    if section.role == "survey-weight":
        weighting, every = read_weighting(section, place), needed(policy, "refuse")
        return Attribute(name, role="survey-weight", kind="number", weighting=weighting, missing=every)
    if section.release is not None:
        raise SpecError(f"{place} has the key 'release', which is for a survey weight (role = 'survey-weight').")
    own = read_missing(section.missing, policy, place)
    derive = _derivation(name, section, own.values, place, folder)
    kind = "category" if derive is not None else section.kind
    if kind is None:
        raise SpecError(f"{place} lacks the key 'kind' (number, date or category).")
    if mixed := sorted(MEANINGLESS[kind] & section.model_fields_set):
        raise SpecError(f"{place} is a {kind}, for which {mixed[0]!r} has no meaning.")
    if section.values is not None and section.taxonomy is not None:
        raise SpecError(f"{place} has both values and a taxonomy; the leaves of a taxonomy are its values.")
    if section.step is not None and section.whole:
        raise SpecError(f"{place} is whole, so its step is 1 and cannot be given.")
    taxonomy = _taxonomy(name, section.taxonomy, place, folder)
    if taxonomy is not None and derive is not None and derive.names is not None:
        taxonomy = labelled_tree(taxonomy, derive, place)
    attribute = Attribute(
        name,
        kind=kind,
        range=_range(section, place),
        whole=section.whole or kind == "date",
        step=_step(section, place),
        outside=section.outside,
        values=_distinct(_values(section, derive), place),
        taxonomy=taxonomy,
        derive=derive,
    )
    return steered(with_missing(attribute, own, place), section, place)


def _values(section: AttributeSection, derive: Derivation | None) -> tuple[str, ...] | None:
    """The declared values: those of a derivation are, unless they are the leaves of a taxonomy."""
    return section.values if derive is None or section.taxonomy is not None else derive.values


def _taxonomy(name: str, tree: str | Taxonomy | None, place: str, folder: Path) -> Taxonomy | None:
    if tree is None or isinstance(tree, Taxonomy):
        return tree
    try:
        return read_taxonomy(folder / tree, name)
    except TaxonomyError as error:
        raise TaxonomyError(f"{place}: {error}") from error


def _range(section: AttributeSection, place: str) -> Range | None:
    if section.range is None:
        return None
    lo, hi = (_date(bound, place) if section.kind == "date" else _number(bound, place) for bound in section.range)
    if section.kind == "date" and lo >= hi:
        label = interval_label(lo, hi, "date")
        raise SpecError(f"{place} range is {label}, but it must go from a date to a later one.")
    if not (math.isfinite(lo) and math.isfinite(hi) and lo < hi):
        raise SpecError(f"{place} range is [{lo:g}, {hi:g}], but it must go from a number to a larger one.")
    if section.whole and not (lo == int(lo) and hi == int(hi)):
        raise SpecError(f"{place} is whole, but its range [{number_text(lo)}, {number_text(hi)}) is not.")
    return lo, hi


def _number(bound: Any, place: str) -> float:
    if isinstance(bound, int | float):
        try:
            return float(bound)
        except OverflowError as error:
            raise SpecError(f"{place} range holds {toml_text(bound)}, which is too large for a number.") from error
    quotes = ", without quotes" if isinstance(bound, str) else ""
    raise SpecError(f"{place} range holds {toml_text(bound)}, but it must be a number{quotes}.")


def _date(bound: Any, place: str) -> float:
    day = number_of(bound, "date")
    if day is None or bound_text(day, "date") != str(bound):
        raise SpecError(f"{place} range holds {toml_text(bound)}, but it must be a date such as 2019-01-31.")
    return day


def _step(section: AttributeSection, place: str) -> float | None:
    if section.step is not None and not (math.isfinite(section.step) and section.step > 0):
        raise SpecError(f"{place} step is {section.step:g}, but it must be larger than 0.")
    return section.step


def _distinct(values: tuple[str, ...] | None, place: str) -> tuple[str, ...] | None:
    if values is None:
        return None
    if SUPPRESSED in values:
        raise SpecError(f"{place} values hold {SUPPRESSED!r}, which is reserved for suppressed values.")
    twice = [value for index, value in enumerate(values) if value in values[:index]]
    if twice:
        raise SpecError(f"{place} values hold {twice[0]!r} twice.")
    return values
