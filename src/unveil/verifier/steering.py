"""Whether a release keeps to how the owner steered the search: what may be left out, and how fine attributes are."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor

from unveil.errors import listed
from unveil.schema import Attribute, Spec
from unveil.verifier.claims import (
    MANIFEST,
    Discretization,
    Generalization,
    Interval,
    Masked,
    Number,
    RefinementManifest,
    labels,
)
from unveil.verifier.columns import day_text
from unveil.verifier.cuts import REST
from unveil.verifier.data import Data
from unveil.verifier.findings import Finding
from unveil.verifier.records import fully_masked

MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""The calendar steps of a date."""


def check_steering(manifest: RefinementManifest, data: Data, spec: Spec) -> Iterator[Finding]:
    """No more is left out, and no attribute is finer or coarser, than the owner says."""
    for problem in _search_problems(manifest, spec):
        yield Finding("spec-search", f"{MANIFEST} {problem}.")
    hidden = fully_masked(manifest, data)
    for name, entry in manifest.masked.items():
        attribute = spec.attributes.get(name)
        if attribute is None or entry.kind != attribute.masking:
            continue  # `check_agreement` reports it
        column = data.columns[name]
        words = column.texts()
        held = {str(words[code]) for code in set(column.codes[~hidden].tolist())}
        for problem in (*_too_fine(entry, attribute), *_too_coarse(entry, held, attribute)):
            yield Finding("spec-fineness", f"{MANIFEST}: {name!r} {problem}.")


def _search_problems(manifest: RefinementManifest, spec: Spec) -> Iterator[str]:
    """A release may be more uniform than the owner allows, and leave out less."""
    if manifest.recoding == "local" and spec.recoding != "local":
        yield "has the recoding 'local', but the spec has 'global'"
    asked = spec.goal if isinstance(spec.goal, str) else list(spec.goal)
    if manifest.goal != asked:
        yield f"has the goal {manifest.goal!r}, but the spec has {asked!r}"
    left_out = manifest.leave_out
    if left_out is None:
        return
    if left_out.most > spec.leave_out:
        whom = "records" if left_out.persons is None else "persons"
        yield f"lets {left_out.share} of the {whom} be left out, but the spec {float(spec.leave_out):.6%}"
    if left_out.how == "mask" and spec.left_out != "mask":
        yield "says that records are fully masked, but by the spec they are dropped"
    for name, label in left_out.labels.items():
        taxonomy = spec.attributes[name].taxonomy if name in spec.attributes else None
        if taxonomy is not None and label != taxonomy.root.label:
            yield f"masks {name!r} fully as {label!r}, but its taxonomy begins with {taxonomy.root.label!r}"


def _too_fine(entry: Masked, attribute: Attribute) -> Iterator[str]:
    finest = attribute.finest
    if finest is None:
        return
    if isinstance(entry, Discretization):
        if not isinstance(finest, tuple):
            bounds = {bound for block in entry.blocks if block.start is not None for bound in (block.lo, block.hi)}
            bounds -= {min(bounds), max(bounds)}
            odd = sorted(bound for bound in bounds if not _is_bound(bound, finest))
            yield from (f"has a bound at {_bound_text(bound, entry)}, between two of {finest!r}" for bound in odd[:1])
    elif attribute.taxonomy is not None and isinstance(finest, tuple):
        nodes = [node.label for label in finest for node in attribute.taxonomy.node(label).walk()]
        below = {*nodes, *(label + REST for label in nodes)} - set(finest)
        if found := [label for label in labels(entry) if label in below]:
            yield f"has the label {listed(found)}, which is finer than {listed(finest)}"


def _too_coarse(entry: Masked, held: set[str], attribute: Attribute) -> Iterator[str]:
    """Labels that rows hold. Values that must be distinguished are compared with the raw rows."""
    keep, taxonomy = attribute.keep, attribute.taxonomy
    if isinstance(entry, Discretization):
        if keep is not None and not isinstance(keep, tuple):
            wide = [block.label for block in entry.blocks if block.label in held and not _within(block, keep)]
            if wide:
                yield f"has the label {listed(wide)}, which is coarser than steps of {keep!r}"
    elif isinstance(entry, Generalization) and isinstance(keep, tuple) and taxonomy is not None:
        fine = {node.label for label in keep for node in taxonomy.node(label).walk()}
        found = sorted(label for label in held if label not in fine and label.removesuffix(REST) not in fine)
        if found:
            yield f"has the label {listed(found)}, which is coarser than {listed(keep)}"


def _is_bound(bound: Number, step: float | str) -> bool:
    if isinstance(step, str):
        return _day_of_month(bound) == 1 and _months(bound) % MONTHS[step] == 0
    return Fraction(str(bound)) % Fraction(str(step)) == 0


def _within(block: Interval, step: float | str) -> bool:
    """Whether an interval lies between two neighbouring bounds; missing values have none."""
    if block.start is None:
        return True
    if isinstance(step, str):
        return _months(block.lo) // MONTHS[step] == _months(block.hi - 1) // MONTHS[step]
    width = Fraction(str(step))
    return ceil(Fraction(str(block.hi)) / width) - floor(Fraction(str(block.lo)) / width) <= 1


def _months(day: Number) -> int:
    """How many months after the year 0 a day lies."""
    year, month, _ = day_text(int(day)).split("-")
    return 12 * int(year) + int(month) - 1


def _day_of_month(day: Number) -> int:
    return int(day_text(int(day)).split("-")[2])


def _bound_text(bound: Number, entry: Discretization) -> str:
    return day_text(int(bound)) if entry.unit == "date" else f"{bound:g}"
