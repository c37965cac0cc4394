"""What a release must have of the owner's spec: requirements, columns, domains, taxonomies, and limits of the search.

The owner steers a search by what may be left out, and by how fine attributes must or may be.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from unveil.errors import listed
from unveil.schema import interval_label
from unveil.verifier.boxes import read_boxes
from unveil.verifier.claims import (
    MANIFEST,
    Discretization,
    Entry,
    Finding,
    Generalization,
    Interval,
    Masked,
    Number,
    Released,
    Suppression,
    findings_of,
    labels,
)
from unveil.verifier.coverage import REST, highest
from unveil.verifier.data import Data
from unveil.verifier.manifests import Claims, RefinementManifest
from unveil.verifier.raw import derived_of
from unveil.verifier.records import fully_masked
from unveil.verifier.requirements import Stated, readable
from unveil.verifier.values import day_text

if TYPE_CHECKING:
    from unveil.schema import Attribute, Spec, Taxonomy

MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""The calendar steps of a date."""


def check_agreement(manifest: Claims, spec: Spec) -> Iterator[Finding]:
    """The columns, domains and taxonomies of any manifest are those of the spec."""
    yield from findings_of("spec-columns", f"{MANIFEST} ", _role_problems(manifest, spec))
    if leaked := [name for name in manifest.names if name in _identifiers(spec)]:
        problem = f"has the column {listed(leaked)}, which the spec says is never released"
        yield Finding("identifier", f"{MANIFEST} {problem}.")
    yield from findings_of("spec-columns", f"{MANIFEST} ", _column_problems(manifest, spec))
    for name, entry in manifest.masking.items():
        yield from findings_of(
            "spec-domain", f"{MANIFEST}: {name!r} ", _entry_problems(entry, spec.attributes.get(name))
        )
    yield from findings_of("spec-domain", f"{MANIFEST}: ", _box_problems(manifest, spec))


def _box_problems(manifest: Claims, spec: Spec) -> Iterator[str]:
    """The parts of a label in a tree of boxes are its children in the taxonomy."""
    covered = [pair for walk in read_boxes(manifest) for pair in zip(walk.attributes, walk.coverages, strict=True)]
    for name, coverage in dict(covered).items():
        attribute = spec.attributes.get(name)
        taxonomy = None if attribute is None else attribute.taxonomy
        if taxonomy is None:
            continue
        if coverage.root != taxonomy.root.label:
            yield f"{name!r} is split from {coverage.root!r}, but its taxonomy begins with {taxonomy.root.label!r}"
        parent = {child.label: node.label for node in taxonomy.root.walk() for child in node.children}
        for part, node in coverage.parent.items():
            if parent.get(part) != node:
                yield f"{name!r} has {part!r} as a part of {node!r}, but its taxonomy does not"


def _role_problems(manifest: Claims, spec: Spec) -> Iterator[str]:
    roles: dict[str, tuple[str | None, str | None]] = {"class": (manifest.class_, spec.table.class_)}
    if isinstance(manifest, RefinementManifest):  # noisy counts have no weight
        roles["weight"] = (manifest.weight, spec.table.weight)
        if (manifest.persons is not None) != bool(spec.table.person):
            said = "does not say" if manifest.persons is None else "says"
            whose = listed(spec.table.person) if spec.table.person else "no column"
            yield f"{said} how many persons there are, but the spec has {whose}"
    if manifest.class_missing != {kind: list(marks) for kind, marks in spec.table.class_missing.kinds}:
        yield "does not keep rows without a class as the spec does"
    for role, (claimed, declared) in roles.items():
        if claimed != declared:
            yield f"has the {role} {claimed!r}, but the spec has {declared!r}"


def _identifiers(spec: Spec) -> set[str]:
    return {*spec.table.person, *(name for name, attribute in spec.attributes.items() if not attribute.shown)}


def _column_problems(manifest: Claims, spec: Spec) -> Iterator[str]:
    """All described attributes but identifiers, in order; others only if the owner releases them."""
    identifiers = _identifiers(spec)
    expected = [name for name in spec.attributes if name not in identifiers]
    names = [name for name in manifest.masking if name not in identifiers]
    if names[: len(expected)] != expected:
        yield f"has the columns {listed(names)}; the spec says {listed(expected)}"
    others = [name for name in names if name not in expected]
    if others and spec.table.others != "release":
        yield f"has the column {listed(others)}, which the spec does not describe"
    asked = derived_of(spec)
    for name in sorted({*asked, *manifest.derived}):
        if manifest.derived.get(name) != asked.get(name):
            yield f"does not derive {name!r} as the spec does"


def _entry_problems(entry: Entry, attribute: Attribute | None) -> Iterator[str]:
    if attribute is None:
        if not isinstance(entry, Released):
            yield f"is masked by {entry.kind}, but the spec does not describe it"
        return
    if not attribute.shown:
        return  # an identifier, which is a finding already
    domain = "declared" if attribute.declared else "observed"
    if entry.domain != domain:
        yield f"has a domain called {entry.domain}, but by the spec it is {domain}"
    if dict(entry.missing) != {label: list(marks) for label, marks in attribute.missing.kinds}:
        yield f"keeps the missing values {listed(entry.missing)}, but by the spec {listed(attribute.missing.labels)}"
    if isinstance(entry, Released):
        if entry.type != attribute.kind:
            yield f"is released as a {entry.type}, but by the spec it is a {attribute.kind}"
        asked = None if attribute.weighting is None else astuple(attribute.weighting)
        shown = entry.survey_weight
        if asked != (None if shown is None else (shown.release, shown.step, tuple(shown.groups))):
            yield "is not released as the spec says about a survey weight"
    elif entry.kind != attribute.masking:
        yield f"is masked by {entry.kind}, but by the spec it takes {attribute.masking}"
    elif isinstance(entry, Discretization):
        yield from _range_problems(entry, attribute)
    elif isinstance(entry, Generalization) and attribute.taxonomy is not None:
        yield from _taxonomy_problems(entry, attribute.taxonomy)
    elif isinstance(entry, Suppression):
        known = entry.disclosed if attribute.values is None else attribute.values
        if strange := [value for value in entry.disclosed if value not in known]:
            yield f"discloses {listed(strange)}, which is not among its declared values"


def _range_problems(entry: Discretization, attribute: Attribute) -> Iterator[str]:
    first, last = entry.blocks[0], highest(entry)
    if entry.unit != attribute.unit:
        yield f"has intervals of the unit {entry.unit}, but by the spec it is a {attribute.kind}"
    elif attribute.range is not None and (first.lo, last) != tuple(attribute.range):
        label = interval_label(*attribute.range, attribute.unit)
        end = max(entry.blocks, key=lambda block: (block.end is not None, block.hi)).end
        yield f"has intervals from {first.start} to {end}, but its declared range is {label}"
    if entry.whole != attribute.whole:
        yield f"has whole = {entry.whole}, but the spec has {attribute.whole}"


def _taxonomy_problems(entry: Generalization, taxonomy: Taxonomy) -> Iterator[str]:
    blocks_of = Counter(value for block in entry.blocks for value in block.values)
    for block in entry.blocks:
        rest = block.label not in taxonomy
        node = block.label.removesuffix(REST)
        if node not in taxonomy or block.rest > rest:
            yield f"has the block {block.label!r}, which is not in its taxonomy"
            continue
        leaves = list(taxonomy.leaves_of(block.label if not rest else node))
        if rest and not entry.local:  # what the blocks split off leave of the node
            own = set(block.values)
            leaves = [leaf for leaf in leaves if blocks_of[leaf] == (leaf in own)]
        if block.values != leaves or (rest and not taxonomy.node(node).children):
            values = listed(block.values)
            yield f"has the block {block.label!r} with {values}, but its leaves are {listed(leaves)}"
    if uncovered := [leaf for leaf in taxonomy.leaves if leaf not in blocks_of]:
        yield f"has a cut that leaves out {listed(uncovered)}"


def check_steering(manifest: RefinementManifest, data: Data, spec: Spec) -> Iterator[Finding]:
    """No more is left out, and no attribute is finer or coarser, than the owner says."""
    yield from findings_of("spec-search", f"{MANIFEST} ", _search_problems(manifest, spec))
    hidden = fully_masked(manifest, data)
    for name, entry in manifest.masked.items():
        attribute = spec.attributes.get(name)
        if attribute is None or entry.kind != attribute.masking:
            continue  # `check_agreement` reports it
        column = data.columns[name]
        words = column.texts()
        held = {str(words[code]) for code in set(column.codes[~hidden].tolist())}
        problems = (*_too_fine(entry, attribute), *_too_coarse(entry, held, attribute))
        yield from findings_of("spec-fineness", f"{MANIFEST}: {name!r} ", problems)


def _search_problems(manifest: RefinementManifest, spec: Spec) -> Iterator[str]:
    """A release may be more uniform than the owner allows, and leave out less."""
    if manifest.recoding == "local" and spec.recoding != "local":
        yield "has the recoding 'local', but the spec has 'global'"
    asked = spec.goal if isinstance(spec.goal, str) else list(spec.goal)
    if manifest.goal != asked:
        yield f"has the goal {manifest.goal!r}, but the spec has {asked!r}"
    stated = Fraction(0) if manifest.learn is None else manifest.learn.fraction
    if stated != spec.learn:
        yield f"sets {float(stated):.6%} aside to choose the masking, but the spec {float(spec.learn):.6%}"
    left_out = manifest.leave_out
    if left_out is None:
        return
    if left_out.fraction > spec.leave_out:
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
            if odd := [bound for bound in sorted(bounds)[1:-1] if not _is_bound(bound, finest)]:
                bound = day_text(int(odd[0])) if entry.unit == "date" else f"{odd[0]:g}"
                yield f"has a bound at {bound}, between two of {finest!r}"
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
        months, day = _calendar(bound)
        return day == 1 and months % MONTHS[step] == 0
    return Fraction(str(bound)) % Fraction(str(step)) == 0


def _within(block: Interval, step: float | str) -> bool:
    """Whether an interval lies between two neighbouring bounds; missing values have none."""
    if block.start is None:
        return True
    if isinstance(step, str):
        (first, _), (last, _) = _calendar(block.lo), _calendar(block.hi - 1)
        return first // MONTHS[step] == last // MONTHS[step]
    width = Fraction(str(step))
    return ceil(Fraction(str(block.hi)) / width) - floor(Fraction(str(block.lo)) / width) <= 1


def _calendar(number: Number) -> tuple[int, int]:
    """How many months after the year 0 a day lies, and which day of its month it is."""
    year, month, day = map(int, day_text(int(number)).split("-"))
    return 12 * year + month - 1, day


def check_asked(manifest: RefinementManifest, data: Data, spec: Spec) -> Iterator[Finding]:
    """For every requirement of the owner's spec, one of the manifest implies it."""
    statements = [statement for stated in manifest.requirements if (statement := readable(stated)) is not None]
    for number, requirement in enumerate(spec.requirements, start=1):
        entry: Stated = json.loads(json.dumps(requirement.describe()))  # as a manifest would state it
        place = f"requirement {number} of the spec ({entry.get('kind')})"
        name = entry.get("sensitive")
        held = [value for value in data.columns[name].texts() if value is not None] if name in data.columns else []
        asked = readable(_filled(entry, held, spec.attributes.get(str(name))))
        if asked is None:
            yield Finding("spec-requirement", f"{place} cannot be checked.")
        elif not any(statement.as_strict_as(asked, held) for statement in statements):
            message = f"{place} is not stated in {MANIFEST}, or only weaker: {entry}."
            yield Finding("spec-requirement", message)


def _filled(entry: Stated, held: Sequence[str], attribute: Attribute | None) -> Stated:
    """The spec may leave out what the attribute says: all values, and their declared order."""
    filled = dict(entry)
    if entry.get("values") == []:
        filled["values"] = list(held)
    if entry.get("distance") == "ordered" and entry.get("order") is None and attribute is not None:
        declared = attribute.values if attribute.taxonomy is None else attribute.taxonomy.leaves
        filled["order"] = None if declared is None else list(declared)
    return filled
