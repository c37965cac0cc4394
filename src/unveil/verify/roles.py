"""The columns that a requirement names: masked ones to group by, and a sensitive one released as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from unveil.errors import rows_text
from unveil.verify.columns import Column, missing
from unveil.verify.data import Data
from unveil.verify.findings import BrokenClaimError, Finding
from unveil.verify.parts import MANIFEST, PARQUET, Released
from unveil.verify.refinement import RefinementManifest

Role = Literal["quasi-identifier", "channel"]


def masked_columns(
    place: str, role: Role, names: Sequence[str], manifest: RefinementManifest, data: Data
) -> list[Column]:
    """The columns that a requirement groups by.

    Raises:
        BrokenClaimError: They are not a set of masked columns.
    """
    problems = [f"{MANIFEST}: {place} names {problem}." for problem in _unmasked(names, manifest)]
    if problems:
        raise BrokenClaimError(Finding(role, problem) for problem in problems)
    return [data.columns[name] for name in names]


def sensitive_column(
    place: str, name: str, role: Role, names: Sequence[str], manifest: RefinementManifest, data: Data
) -> Column:
    """The sensitive column of a requirement.

    It is inside no other channel or quasi-identifier either: those are masked, and this one is not.

    Raises:
        BrokenClaimError: It is not an attribute that is released as it is, or it lacks values.
    """
    entry = manifest.masking.get(name)
    problem = None
    if name == manifest.class_:
        problem = "is the class"
    elif name in names:
        problem = f"is in its own {role}"
    elif entry is None:
        problem = "is not an attribute of the release"
    elif not isinstance(entry, Released):
        problem = f"is masked by {entry.kind}, so that its shares cannot be counted"
    if problem is not None:
        raise BrokenClaimError([Finding("sensitive", f"{MANIFEST}: {place} protects {name!r}, which {problem}.")])
    column = data.columns[name]
    count = data.rows_of(missing(column.values)[column.codes])
    if count:
        message = f"{PARQUET}: the sensitive column {name!r} of {place} has no value in {rows_text(count)}."
        raise BrokenClaimError([Finding("missing", message)])
    return column


def _unmasked(names: Sequence[str], manifest: RefinementManifest) -> Iterator[str]:
    """The class is released as it is, whatever else it is called."""
    for index, name in enumerate(names):
        if name in names[:index]:
            yield f"{name!r} twice"
        elif name == manifest.class_:
            yield f"{name!r}, which is the class"
        elif name not in manifest.masking:
            yield f"{name!r}, which is not an attribute of the release"
        elif name not in manifest.masked:
            yield f"{name!r}, which is released as it is"
