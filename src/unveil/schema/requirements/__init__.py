"""What a release must satisfy, one class per kind of requirement.

A new kind is a class in one of these files, a place in `Requirement` below, and its recount in `unveil.verifier`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from unveil.schema.requirements.counts import AlphaKAnonymity, Confidence, KAnonymity, Template
from unveil.schema.requirements.diversity import BetaLikeness, KEAnonymity, LDiversity, TCloseness
from unveil.schema.requirements.kind import PERSONS, Bound, Domain, Kind, Promise
from unveil.schema.requirements.levels import Atom, Level, Worst, hold_alone, without_redundant

Requirement = KAnonymity | Confidence | LDiversity | TCloseness | AlphaKAnonymity | BetaLikeness | KEAnonymity
KINDS: dict[str, type[Kind]] = {kind.model_fields["kind"].default: kind for kind in get_args(Requirement)}
"""The kinds of requirement, by the name that a spec and a manifest give them."""


def stated(entry: Mapping[str, Any]) -> Requirement:
    """The requirement that an entry of a manifest states."""
    kind = KINDS[entry["kind"]]
    keys = {field.alias for field in kind.model_fields.values()}
    requirement: Requirement = kind.model_validate({key: value for key, value in entry.items() if key in keys})  # type: ignore[assignment]
    return requirement.of_persons() if entry.get("of") == PERSONS else requirement
