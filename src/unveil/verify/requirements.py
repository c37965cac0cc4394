"""The requirements of a release, recounted. One function per kind, listed in `RECOUNTS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from pydantic import Field, ValidationError

from unveil.verify.columns import group
from unveil.verify.data import PARQUET, Data
from unveil.verify.findings import Finding, records_text
from unveil.verify.manifest import MANIFEST, Manifest, Part, describe_errors

Stated = dict[str, Any]


class KAnonymity(Part):
    """Every group on the quasi-identifier has at least k records."""

    kind: Literal["k-anonymity"]
    quasi_identifier: list[str] = Field(alias="quasi-identifier", min_length=1)
    k: int = Field(ge=1)


def check_requirements(manifest: Manifest, data: Data) -> Iterator[Finding]:
    """Recounts every requirement that the manifest states."""
    for number, stated in enumerate(manifest.requirements, start=1):
        kind = stated.get("kind")
        recount = RECOUNTS.get(kind) if isinstance(kind, str) else None
        place = f"requirement {number}"
        if recount is None:
            yield Finding("requirement", f"{MANIFEST}: {place} is of the kind {kind!r}, which cannot be checked.")
            continue
        try:
            yield from recount(place, stated, manifest, data)
        except ValidationError as error:
            for clause in describe_errors(error):
                yield Finding("requirement", f"{MANIFEST}: {place} ({kind}): {clause}.")


def k_anonymity(place: str, stated: Stated, manifest: Manifest, data: Data) -> Iterator[Finding]:
    """Every combination of values of the quasi-identifier is shared by at least k records."""
    requirement = KAnonymity.model_validate(stated)
    names = requirement.quasi_identifier
    if problems := list(_unmasked(names, manifest)):
        yield from (Finding("quasi-identifier", f"{MANIFEST}: {place} names {text}.") for text in problems)
        return
    groups = group([data.columns[name] for name in names], data.weights)
    small = int((groups.sizes < requirement.k).sum())
    if small:
        smallest = int(np.argmin(groups.sizes))
        yield Finding(
            "group-size",
            f"{PARQUET}: {groups.text(smallest)} is shared by {records_text(int(groups.sizes[smallest]))}, "
            f"but {place} asks for at least {requirement.k:,} "
            f"({small:,} of {len(groups.sizes):,} groups are too small).",
        )


def _unmasked(names: list[str], manifest: Manifest) -> Iterator[str]:
    """A quasi-identifier is a set of masked columns; the class is released as it is."""
    for index, name in enumerate(names):
        if name in names[:index]:
            yield f"{name!r} twice"
        elif name == manifest.class_:
            yield f"{name!r}, which is the class"
        elif name not in manifest.masking:
            yield f"{name!r}, which is not an attribute of the release"
        elif name not in manifest.masked:
            yield f"{name!r}, which is released as it is"


RECOUNTS: dict[str, Callable[[str, Stated, Manifest, Data], Iterator[Finding]]] = {
    "k-anonymity": k_anonymity,
}
"""How each kind of requirement is recounted. A kind that is not here cannot be checked, and is a finding."""
