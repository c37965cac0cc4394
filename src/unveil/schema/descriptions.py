"""From the sections of a spec to attributes: each key checked against the others, taxonomies and labels read.

Labels say what a coded value is called; they take the place of the codes when the table is read. The policy for missing
values says whether rows are dropped or refused, or what is missing is kept as a value.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from unveil.characters import hidden_character
from unveil.errors import SpecError, TaxonomyError
from unveil.schema.attributes import (
    AFTER_ALL,
    OR,
    Attribute,
    Missing,
    Range,
    bound_text,
    interval_label,
    number_of,
    number_text,
)
from unveil.schema.derivations import Derivation
from unveil.schema.files import read_text
from unveil.schema.sections import AttributeSection, MissingSection
from unveil.schema.sentences import toml_text
from unveil.schema.steering import steered
from unveil.schema.taxonomy import SUPPRESSED, Branch, Node, Taxonomy
from unveil.schema.taxonomy_files import read_taxonomy
from unveil.schema.weights import read_weighting

HEADER = ["code", "label"]
LABEL = "missing"
"""What a missing value is called if the owner gives it no other name."""
MOST_KINDS = 5
MEANINGLESS = {
    "number": {"values", "taxonomy"},
    "date": {"values", "taxonomy", "whole", "step"},
    "category": {"range", "whole", "step", "outside"},
}
"""For each kind, the keys that belong to others."""


def read_labels(
    given: str | Mapping[str, str], name: str, place: str, folder: Path, marks: tuple[str, ...]
) -> Derivation:
    """The labels of a column, from a file of two columns or as they are; a value becomes its label."""
    pairs = _pairs(folder / given, place) if isinstance(given, str) else list(given.items())
    if not pairs:
        raise SpecError(f"{place} labels has no code.")
    names: dict[str, str] = {}
    code_of: dict[str, str] = {}
    for code, label in pairs:
        what = f"{place} labels: the label {label!r} of the code {code!r}"
        if code in names:
            raise SpecError(f"{place} labels has the code {code!r} twice.")
        if label in code_of:
            raise SpecError(
                f"{what} is that of the code {code_of[label]!r} too, so the two could not be distinguished."
            )
        if not label or label in marks:
            raise SpecError(f"{what} means a missing value.")
        if label == SUPPRESSED:
            raise SpecError(f"{what} is reserved for suppressed values.")
        if hidden := hidden_character(label):
            raise SpecError(f"{what} has the character {hidden}, which is invisible.")
        names[code], code_of[label] = label, code
    for code, label in pairs:
        if label in names and label != code:
            raise SpecError(f"{place} labels: {label!r} is the label of the code {code!r}, and a code itself.")
        if code in marks:
            raise SpecError(f"{place} labels: the code {code!r} means a missing value, which has no label.")
    return Derivation.model_validate({"from": name, "names": names, "missing": list(marks)})


def _pairs(path: Path, place: str) -> list[tuple[str, str]]:
    text = read_text(path, "file of labels", SpecError)
    lines = text.splitlines()
    delimiter = ";" if lines and ";" in lines[0] and "," not in lines[0] else ","
    found = []
    for number, row in enumerate(csv.reader(lines, delimiter=delimiter), start=1):
        cells = [cell.strip() for cell in row]
        if not cells or (number == 1 and cells == HEADER):
            continue
        if len(cells) != 2:
            raise SpecError(f"{place} labels: {path}: line {number} has {len(cells)} values, not a code and a label.")
        found.append((cells[0], cells[1]))
    return found


def labelled_tree(taxonomy: Taxonomy, derive: Derivation, place: str) -> Taxonomy:
    """A taxonomy with labels in place of the codes that are its leaves."""
    names = derive.names or {}
    inner = {node.label for node in taxonomy.root.walk() if node.children}
    if twice := [label for label in names.values() if label in inner]:
        raise SpecError(f"{place} labels: the label {twice[0]!r} is an inner label of its taxonomy {taxonomy.origin}.")

    def branch(node: Node) -> Branch:
        if node.children:
            return node.label, [branch(child) for child in node.children]
        return names.get(node.label, node.label), []

    return Taxonomy(branch(taxonomy.root), taxonomy.origin, taxonomy.observed)


def read_missing(section: MissingSection | None, table: Missing, place: str) -> Missing:
    """The policy of a column: that of the table, apart from what its own section says, if it has one."""
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


def inherited(name: str, described: Mapping[str, AttributeSection], table: Missing, origin: str) -> Missing:
    """What a column does with missing values unless its section says so: as the table, or as its source, if derived."""
    derive = described[name].derive if name in described else None
    source = None if derive is None else described.get(derive.from_)
    if derive is None or source is None or source.role != "attribute":
        return table
    return read_missing(source.missing, table, f"{origin}: [attributes.{derive.from_}]")


def needed(policy: Missing, invalid: Literal["drop", "refuse"]) -> Missing:
    """The policy of the table for a column that every row needs, the class or a weight: nothing missing is kept there.

    A row that is not kept is treated like one with a value outside its domain.
    """
    return Missing(policy.values, invalid) if policy.rows == "keep" else policy


def _kept(kinds: dict[str, tuple[str, ...]], place: str) -> Missing:
    if not 0 < len(kinds) <= MOST_KINDS:
        raise SpecError(f"{place} keep has {len(kinds)} kinds, but there must be from 1 to {MOST_KINDS}.")
    owner: dict[str, str] = {}
    for label, marks in kinds.items():
        if not label or label == SUPPRESSED:
            raise SpecError(f"{place} keep has the label {label!r}, which cannot name a kind of missing values.")
        if character := hidden_character(label):
            raise SpecError(f"{place} keep has the label {label!r} with the character {character}, which is invisible.")
        for mark in marks:
            if mark in owner:
                raise SpecError(f"{place} keep lists the text {mark!r} twice, for {owner[mark]!r} and {label!r}.")
            owner[mark] = label
    if len(kinds) > 1 and "" not in owner:
        raise SpecError(f"{place} keep has several kinds; one of them must list '', which is what nulls count as.")
    return Missing(tuple(owner), "keep", tuple(kinds.items()))


def with_missing(attribute: Attribute, missing: Missing, place: str) -> Attribute:
    """The attribute with the kinds of missing values that are kept among its values; refuses a name for two things."""
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


def read_class(section: AttributeSection | None, name: str, origin: str, folder: Path, policy: Missing) -> Attribute:
    """The class as an attribute: its declared labels, how it is derived, and what happens to rows without one."""
    if section is None:
        return Attribute(name, missing=policy)
    place = f"{origin}: [attributes.{name}]"
    extra = section.model_fields_set - {"values", "kind", "derive", "labels", "missing"}
    if extra or section.kind not in (None, "category"):
        raise SpecError(
            f"{place} is the class; only its values, their labels, how it is derived (derive) and missing can be "
            "declared."
        )
    own = read_missing(section.missing, policy, place)
    derive = _derivation(name, section, own, place, folder)
    if derive is not None and own.kinds:
        raise SpecError(f"{place} is a class that is derived or has labels, so rows without a value cannot be kept.")
    labels = with_labels(_distinct(_values(section, derive), place), own, place)
    return Attribute(name, values=labels, derive=derive, missing=own)


def _derivation(name: str, section: AttributeSection, own: Missing, place: str, folder: Path) -> Derivation | None:
    """How a column is derived, or read under labels; what is missing in the column is missing in its source too."""
    derive, marks = section.derive, own.values
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
    if derive.kept:
        raise SpecError(f"{place} derive has the key 'kept', which only a manifest has; write missing = \"keep\".")
    missing, kept = tuple(dict.fromkeys((*marks, *derive.missing))), marks if own.kinds else ()
    marked = derive.model_copy(update={"missing": missing, **({"kept": kept} if kept else {})})
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
        weighting, own = read_weighting(section, place), read_missing(section.missing, needed(policy, "refuse"), place)
        if own.kinds:
            raise SpecError(f"{place} is a survey weight, which every row needs, so rows without one cannot be kept.")
        return Attribute(name, role="survey-weight", kind="number", weighting=weighting, missing=own)
    if section.release is not None:
        raise SpecError(f"{place} has the key 'release', which is for a survey weight (role = 'survey-weight').")
    own = read_missing(section.missing, policy, place)
    derive = _derivation(name, section, own, place, folder)
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
