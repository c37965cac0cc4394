"""From a transformer's arguments to the content of a spec, so that they are checked where specs are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.errors import SpecError, TaxonomyError, did_you_mean, listed
from unveil.frames import is_number
from unveil.schema import Spec, Taxonomy, load_spec, value_text
from unveil.schema.taxonomy import Branch
from unveil.tables import plain_type

Section = dict[str, Any]
Sections = Mapping[str, Mapping[str, Any]]
TaxonomyLike = Taxonomy | str | Path | Mapping[str, Any]


def plain(value: Any) -> Any:
    """A value as in a spec file: NumPy numbers as Python numbers, and any sequence as a list."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list | range | np.ndarray):
        return [plain(item) for item in value]
    return value


def plain_section(given: Any, what: str) -> Section:
    """A section as in a spec file: the values of a category are text."""
    if not isinstance(given, Mapping):
        raise SpecError(f"{what} is {given!r}, but it must be a mapping with the keys of a spec.")
    section = {key: plain(value) for key, value in given.items()}
    if isinstance(section.get("values"), list):
        section["values"] = [value_text(value) for value in section["values"]]
    return section


def attribute_sections(
    rows: pa.Table,
    attributes: Sections | None,
    taxonomies: Mapping[str, TaxonomyLike] | None,
    default: Mapping[str, Any] | None,
    *,
    by_type: bool,
) -> dict[str, Section]:
    """One section for each column, from the sections and taxonomies by column, or else the default.

    If it may, the type of a column decides where nothing describes it. A description without a column is refused, and
    under differential privacy a column without a description.
    """
    attributes, taxonomies = attributes or {}, taxonomies or {}
    for what, described in (("attributes", attributes), ("taxonomies", taxonomies)):
        if unknown := [name for name in described if name not in rows.column_names]:
            hint = did_you_mean(str(unknown[0]), rows.column_names) or f"; there are {listed(rows.column_names)}."
            raise SpecError(f"{what} describes {unknown[0]!r}, which is not a column of X{hint}")
    known = attributes.keys() | taxonomies.keys()
    if not by_type and default is None and (bare := [name for name in rows.column_names if name not in known]):
        raise SpecError(
            f"the domain of {listed(bare)} is not declared, and what the rows hold is private; describe each column in "
            "attributes or taxonomies, or all others in default."
        )
    sections = {}
    for name in rows.column_names:
        other = {} if default is None or name in taxonomies else default
        section = plain_section(attributes.get(name, other), f"the description of {name!r}")
        if name in taxonomies:
            section["taxonomy"] = taxonomy_of(taxonomies[name], name)
        sections[name] = _with_kind(section, rows[name].type, name, by_type=by_type)
    return sections


def taxonomy_of(given: TaxonomyLike, name: str) -> Taxonomy | str:
    """A taxonomy: itself, the path of a file, or a nested mapping with one root."""
    if isinstance(given, Taxonomy):
        return given
    if isinstance(given, str | Path):
        return str(given)
    branches = _branches(given, name)
    if len(branches) != 1:
        raise TaxonomyError(f"taxonomy of {name!r}: there are {len(branches)} roots, but a tree has one.")
    return Taxonomy(branches[0], f"taxonomy of {name!r}")


def tuned_spec(source: Any, require: Section, publish: Section) -> Spec:
    """A spec with some values replaced by those of a transformer; one that has no place in the spec is refused."""
    if isinstance(source, Spec) and (given := [*require, *publish]):
        raise SpecError(
            f"{given[0]} is given together with a finished Spec; give the spec as a path or a mapping to tune it."
        )

    def change(content: Mapping[str, Any]) -> Mapping[str, Any]:
        if not isinstance(content.get("require", []), list) or not isinstance(content.get("publish", {}), Mapping):
            return content
        sections = content.get("require", [])
        for key in require:
            if not any(key in section for section in sections if isinstance(section, Mapping)):
                raise SpecError(f"{key} is given, but no requirement of the spec has a {key}.")
        return {
            **content,
            "require": [_replaced(section, require) for section in sections],
            "publish": {**content.get("publish", {}), **publish},
        }

    return load_spec(source, change)


def _replaced(section: Any, values: Section) -> Any:
    if not isinstance(section, Mapping):
        return section
    return {**section, **{key: value for key, value in values.items() if key in section}}


def _with_kind(section: Section, type_: pa.DataType, name: str, *, by_type: bool) -> Section:
    """The section with its kind: as given, as its other keys imply, or else by the type of the column."""
    if "kind" in section or section.get("role", "attribute") != "attribute":
        return section
    if {"taxonomy", "values"} & section.keys():
        return {"kind": "category", **section}
    if {"range", "step", "whole"} & section.keys():
        return {"kind": "number", **section}
    if not by_type:
        return section
    if is_number(type_):
        return {"kind": "number", "whole": bool(pa.types.is_integer(type_)), **section}
    held = plain_type(type_)
    if not (pa.types.is_string(held) or is_number(held) or pa.types.is_boolean(held)):
        raise SpecError(f"the column {name!r} holds values of type {type_}; describe it in attributes.")
    return {"kind": "category", **section}


def _branches(given: Any, name: str) -> list[Branch]:
    if isinstance(given, Mapping):
        return [(value_text(label), _branches(below, name)) for label, below in given.items()]
    if given is None:
        return []
    if isinstance(given, Sequence) and not isinstance(given, str):
        return [(value_text(label), []) for label in given]
    raise TaxonomyError(f"taxonomy of {name!r}: {given!r} is neither a mapping nor a list of values.")
