"""Whether a manifest states, as strictly, every requirement that the owner's spec asks for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from unveil.schema import Attribute, Spec
from unveil.verify.data import Data
from unveil.verify.findings import Finding
from unveil.verify.holdings import value_texts
from unveil.verify.parts import MANIFEST
from unveil.verify.refinement import RefinementManifest
from unveil.verify.statements import STATEMENTS, Stated, Statement, TCloseness


def check_asked(manifest: RefinementManifest, data: Data, spec: Spec) -> Iterator[Finding]:
    """For every requirement of the spec, one of the manifest implies it."""
    statements = [statement for stated in manifest.requirements if (statement := _statement(stated)) is not None]
    for number, requirement in enumerate(spec.requirements, start=1):
        entry = _entry(requirement)
        place = f"requirement {number} of the spec ({entry.get('kind')})"
        name = entry.get("sensitive")
        held = [value for value in value_texts(data.columns[name]) if value is not None] if name in data.columns else []
        asked = _statement(_filled(entry, held, spec.attributes.get(str(name))))
        if asked is None:
            yield Finding("spec-requirement", f"{place} cannot be checked.")
        elif not any(implies(stated, asked, held) for stated in statements):
            message = f"{place} is not stated in {MANIFEST}, or only weaker: {entry}."
            yield Finding("spec-requirement", message)


def implies(stated: Statement, asked: Statement, held: Sequence[str]) -> bool:
    """Whether the one statement is the other on the same columns, and at least as strict.

    Args:
        stated: What the manifest says.
        asked: What the spec says.
        held: The sensitive values that the release holds.
    """
    if type(stated) is not type(asked):
        return False
    if isinstance(stated, TCloseness) and isinstance(asked, TCloseness) and not _same_order(stated, asked, held):
        return False
    names = [name for name in type(asked).model_fields if name not in ("kind", "order")]
    return all(AS_STRICT[name](getattr(stated, name), getattr(asked, name)) for name in names)


def _same(stated: object, asked: object) -> bool:
    return stated == asked


def _same_set(stated: list[str], asked: list[str]) -> bool:
    return set(stated) == set(asked)


def _all_of(stated: list[str], asked: list[str]) -> bool:
    return set(stated) >= set(asked)


def _at_least(stated: float, asked: float) -> bool:
    return stated >= asked


def _at_most(stated: float, asked: float) -> bool:
    return stated <= asked


AS_STRICT: dict[str, Callable[[Any, Any], bool]] = {
    "quasi_identifier": _same_set,
    "channel": _same_set,
    "sensitive": _same,
    "variant": _same,
    "distance": _same,
    "values": _all_of,
    "k": _at_least,
    "l": _at_least,
    "limit": _at_most,
    "alpha": _at_most,
    "t": _at_most,
}
"""For each key of a requirement: whether what is stated is as strict as what is asked."""


def _same_order(stated: TCloseness, asked: TCloseness, held: Sequence[str]) -> bool:
    """Only values that the release holds are ordered; an owner who declared no order takes any."""
    if asked.order is None:
        return True
    known = set(held)
    return [value for value in stated.order or () if value in known] == [
        value for value in asked.order if value in known
    ]


def _statement(stated: Stated) -> Statement | None:
    """A requirement that has the shape of its kind."""
    kind = stated.get("kind")
    model = STATEMENTS.get(kind) if isinstance(kind, str) else None
    try:
        return None if model is None else model.model_validate(stated)
    except ValidationError:
        return None


def _entry(requirement: Any) -> Stated:
    """A requirement of the spec as JSON would carry it in a manifest."""
    entry: Stated = json.loads(json.dumps(requirement.describe()))
    return entry


def _filled(entry: Stated, held: Sequence[str], attribute: Attribute | None) -> Stated:
    """The spec may leave open what the attribute says: no values are all values, no order is the declared one."""
    filled = dict(entry)
    if entry.get("values") == []:
        filled["values"] = list(held)
    if entry.get("distance") == "ordered" and entry.get("order") is None and attribute is not None:
        declared = attribute.values if attribute.taxonomy is None else attribute.taxonomy.leaves
        filled["order"] = None if declared is None else list(declared)
    return filled
