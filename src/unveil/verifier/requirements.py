"""The requirements of a release: recounted, compared with the sentence that a reader gets and with the owner's spec."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from unveil.verifier.data import Data
from unveil.verifier.findings import BrokenClaimError, Finding, first_difference
from unveil.verifier.holdings import value_texts
from unveil.verifier.kinds import (
    AlphaKAnonymity,
    BetaLikeness,
    Confidence,
    KAnonymity,
    KEAnonymity,
    LDiversity,
    TCloseness,
)
from unveil.verifier.manifest import describe_errors
from unveil.verifier.parts import MANIFEST
from unveil.verifier.refinement import RefinementManifest
from unveil.verifier.statements import Stated, Statement, Table

if TYPE_CHECKING:
    from unveil.schema import Attribute, Spec

KINDS: dict[str, type[Statement]] = {
    "k-anonymity": KAnonymity,
    "confidence": Confidence,
    "l-diversity": LDiversity,
    "t-closeness": TCloseness,
    "alpha-k-anonymity": AlphaKAnonymity,
    "beta-likeness": BetaLikeness,
    "k-e-anonymity": KEAnonymity,
}
"""How each kind of requirement is stated. A kind that is not here cannot be checked, and is a finding."""
BEFORE, AFTER = 20, 40
"""How much of a sentence is shown around the place where it differs."""


def read_statement(stated: Stated) -> Statement:
    """A requirement of a manifest.

    Raises:
        KeyError: It is of an unknown kind.
        ValidationError: It does not have the shape of its kind.
    """
    kind = stated.get("kind")
    return KINDS[kind if isinstance(kind, str) else ""].model_validate(stated)


def check_requirements(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """Recounts every requirement that the manifest states."""
    for number, stated in enumerate(manifest.requirements, start=1):
        place = f"requirement {number}"
        try:
            yield from read_statement(stated).findings(Table(manifest, data, place))
        except KeyError:
            kind = stated.get("kind")
            yield Finding("requirement", f"{MANIFEST}: {place} is of the kind {kind!r}, which cannot be checked.")
        except ValidationError as error:
            for clause in describe_errors(error):
                yield Finding("requirement", f"{MANIFEST}: {place} ({stated.get('kind')}): {clause}.")
        except BrokenClaimError as broken:
            yield from broken.findings


def check_guarantee(manifest: RefinementManifest) -> Iterator[Finding]:
    """The guarantee is the sentence that the requirements make, and not a word more.

    A requirement that cannot be read is a finding elsewhere, and nothing can be said of the guarantee then.
    """
    try:
        sentence = " ".join(read_statement(stated).sentence() for stated in manifest.requirements)
    except (KeyError, ValidationError):
        return
    yield from differing(manifest.guarantee, sentence)


def differing(found: str, expected: str) -> Iterator[Finding]:
    """A finding where the guarantee of a manifest is not the expected one; it shows the first difference."""
    if found != expected:
        place = first_difference(found, expected)
        message = (
            f"the guarantee is not the sentence that its requirements make: from character {place + 1} on it reads "
            f"{_around(found, place)}, but it must read {_around(expected, place)}"
        )
        yield Finding("guarantee", f"{MANIFEST}: {message}.")


def check_asked(manifest: RefinementManifest, data: Data, spec: Spec) -> Iterator[Finding]:
    """For every requirement of the owner's spec, one of the manifest implies it."""
    statements = [statement for stated in manifest.requirements if (statement := _readable(stated)) is not None]
    for number, requirement in enumerate(spec.requirements, start=1):
        entry = _entry(requirement)
        place = f"requirement {number} of the spec ({entry.get('kind')})"
        name = entry.get("sensitive")
        held = [value for value in value_texts(data.columns[name]) if value is not None] if name in data.columns else []
        asked = _readable(_filled(entry, held, spec.attributes.get(str(name))))
        if asked is None:
            yield Finding("spec-requirement", f"{place} cannot be checked.")
        elif not any(statement.as_strict_as(asked, held) for statement in statements):
            message = f"{place} is not stated in {MANIFEST}, or only weaker: {entry}."
            yield Finding("spec-requirement", message)


def _readable(stated: Stated) -> Statement | None:
    """A requirement that has the shape of its kind."""
    try:
        return read_statement(stated)
    except (KeyError, ValidationError):
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


def _around(text: str, place: int) -> str:
    start, end = max(place - BEFORE, 0), place + AFTER
    return f"{'…' if start else ''}{text[start:end]!r}{'…' if end < len(text) else ''}"
