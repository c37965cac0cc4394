"""Whether a manifest says what the owner's spec says: columns, domains and taxonomies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unveil.errors import listed
from unveil.schema import Attribute, Spec, Taxonomy, interval_label
from unveil.verifier.findings import Finding
from unveil.verifier.parts import MANIFEST, Claims, Discretization, Entry, Generalization, Released, Suppression
from unveil.verifier.refinement import RefinementManifest


def check_agreement(manifest: Claims, spec: Spec) -> Iterator[Finding]:
    """The manifest of any method keeps to the spec."""
    yield from _role_findings(manifest, spec)
    yield from _column_findings(manifest, spec)
    for name, entry in manifest.masking.items():
        attribute = spec.attributes.get(name)
        if attribute is None:
            problems = _undescribed_problems(entry)
        elif attribute.role == "identifier":
            problems = iter(())  # its presence is the finding
        else:
            problems = _problems(entry, attribute)
        for problem in problems:
            yield Finding("spec-domain", f"{MANIFEST}: {name!r} {problem}.")


def _role_findings(manifest: Claims, spec: Spec) -> Iterator[Finding]:
    roles: dict[str, tuple[str | None, str | None]] = {"class": (manifest.class_, spec.table.class_)}
    if isinstance(manifest, RefinementManifest):  # noisy counts are weights of their own
        roles["weight"] = (manifest.weight, spec.table.weight)
    for role, (claimed, declared) in roles.items():
        if claimed != declared:
            yield Finding("spec-columns", f"{MANIFEST} has the {role} {claimed!r}, but the spec has {declared!r}.")


def _column_findings(manifest: Claims, spec: Spec) -> Iterator[Finding]:
    """All described attributes but identifiers, in order; others only if the owner releases them."""
    identifiers = [name for name, attribute in spec.attributes.items() if attribute.role == "identifier"]
    expected = [name for name in spec.attributes if name not in identifiers]
    if leaked := [name for name in manifest.names if name in identifiers]:
        yield Finding("identifier", f"{MANIFEST} has the column {listed(leaked)}, which the spec calls an identifier.")
    names = [name for name in manifest.masking if name not in identifiers]
    if names[: len(expected)] != expected:
        yield Finding("spec-columns", f"{MANIFEST} has the columns {listed(names)}; the spec says {listed(expected)}.")
    others = [name for name in names if name not in expected]
    if others and spec.table.others != "release":
        yield Finding("spec-columns", f"{MANIFEST} has the column {listed(others)}, which the spec does not describe.")


def _undescribed_problems(entry: Entry) -> Iterator[str]:
    if not isinstance(entry, Released):
        yield f"is masked by {entry.kind}, but the spec does not describe it"


def _problems(entry: Entry, attribute: Attribute) -> Iterator[str]:
    domain = "declared" if attribute.declared else "observed"
    if entry.domain != domain:
        yield f"has a domain called {entry.domain}, but by the spec it is {domain}"
    if isinstance(entry, Released):
        if entry.type != attribute.kind:
            yield f"is released as a {entry.type}, but by the spec it is a {attribute.kind}"
    elif entry.kind != attribute.masking:
        yield f"is masked by {entry.kind}, but by the spec it takes {attribute.masking}"
    elif isinstance(entry, Discretization):
        yield from _range_problems(entry, attribute)
    elif isinstance(entry, Generalization) and attribute.taxonomy is not None:
        yield from _taxonomy_problems(entry, attribute.taxonomy)
    elif isinstance(entry, Suppression):
        yield from _value_problems(entry, attribute.values)


def _range_problems(entry: Discretization, attribute: Attribute) -> Iterator[str]:
    first, last = entry.blocks[0], entry.blocks[-1]
    if entry.unit != attribute.unit:
        yield f"has intervals of the unit {entry.unit}, but by the spec it is a {attribute.kind}"
    elif attribute.range is not None and (first.lo, last.hi) != tuple(attribute.range):
        label = interval_label(*attribute.range, attribute.unit)
        yield f"has intervals from {first.start} to {last.end}, but its declared range is {label}"
    if entry.whole != attribute.whole:
        yield f"has whole = {entry.whole}, but the spec has {attribute.whole}"


def _taxonomy_problems(entry: Generalization, taxonomy: Taxonomy) -> Iterator[str]:
    known = set(taxonomy.labels)
    for block in entry.blocks:
        if block.label not in known:
            yield f"has the block {block.label!r}, which is not in its taxonomy"
        elif set(block.values) != set(leaves := taxonomy.leaves_of(block.label)):
            values = listed(block.values)
            yield f"has the block {block.label!r} with {values}, but its leaves are {listed(leaves)}"
    covered = {value for block in entry.blocks for value in block.values}
    if uncovered := [leaf for leaf in taxonomy.leaves if leaf not in covered]:
        yield f"has a cut that leaves out {listed(uncovered)}"


def _value_problems(entry: Suppression, values: Sequence[str] | None) -> Iterator[str]:
    if values is not None and (strange := [value for value in entry.disclosed if value not in values]):
        yield f"discloses {listed(strange)}, which is not among its declared values"
