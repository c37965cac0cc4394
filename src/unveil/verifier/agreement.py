"""Whether a manifest agrees with the owner's spec: columns, domains, taxonomies, requirements and the private plan.

The bins of an additive release are made again from the declared domains: their rule is in `docs/release.md`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from fractions import Fraction
from itertools import pairwise
from math import inf

from pydantic import ValidationError

from unveil.errors import listed
from unveil.schema import Attribute, Node, PrivatePlan, SafePlan, Spec, Taxonomy, grid_of, interval_label
from unveil.verifier.additive import MOST_BINS, affordable_records
from unveil.verifier.boxes import read_boxes
from unveil.verifier.claims import (
    MANIFEST,
    Claims,
    Discretization,
    Entry,
    Generalization,
    Masked,
    Released,
    Suppression,
)
from unveil.verifier.cuts import REST
from unveil.verifier.data import Data
from unveil.verifier.findings import Finding, exact_text, guarantee_findings
from unveil.verifier.manifests import (
    AdditiveManifest,
    DrawnManifest,
    PrivateManifest,
    RefinementManifest,
    SafeManifest,
    WeightsManifest,
)
from unveil.verifier.private import least_steps, promised
from unveil.verifier.raw import derived_of
from unveil.verifier.requirements import read_statement
from unveil.verifier.statements import Stated, Statement
from unveil.verifier.values import highest

FEW_BINS = 60
SERIES = (8, 16, 32)
"""How many intervals the even series of each level of a number has."""


def check_levels(manifest: WeightsManifest, spec: Spec) -> Iterator[Finding]:
    """What was measured has the bins that n · ε affords, or the finest, and blocks hold all leaves of their bins."""
    records = affordable_records(manifest) if isinstance(manifest, AdditiveManifest) else inf
    for name, bins in manifest.bins.items():
        attribute = spec.attributes.get(name)
        if attribute is None:
            continue  # `check_agreement` reports it
        if list(bins) != (right := bin_labels(attribute, records)):
            message = f"{name!r} has the bins {listed(bins)}, but its domain and n·ε make them {listed(right)}"
            yield Finding("spec-bins", f"{MANIFEST}: {message}.")
            continue
        entry = manifest.masking[name]
        if attribute.taxonomy is not None and isinstance(entry, Generalization):
            values = {block.label: set(block.values) for block in entry.blocks}
            for label, block in bins.items():
                if not set(attribute.taxonomy.leaves_of(label)) <= values[block]:
                    yield Finding(
                        "spec-bins", f"{MANIFEST}: {name!r} has the bin {label!r} outside its block {block!r}."
                    )


def bin_labels(attribute: Attribute, records: float) -> list[str]:
    """The labels of the bins that are measured if n · ε is `records`."""
    if attribute.ordered:
        return _intervals(attribute, 1 if records < 1e4 else 2 if records < 1e6 else 3)
    if attribute.taxonomy is None:
        return list(attribute.values or ())
    most = FEW_BINS if records < 1e5 else MOST_BINS
    levels = [level for level in fronts(attribute.taxonomy) if 1 < len(level) <= MOST_BINS] or [[]]
    return [node.label for node in next((level for level in reversed(levels) if len(level) <= most), levels[0])]


def _intervals(attribute: Attribute, levels: int) -> list[str]:
    """Every place of a small grid; of a larger one an even series, and 1, 2, 5, 10, … steps from its start.

    Missing values follow, each kind by itself.
    """
    grid = grid_of(attribute)
    if grid is None or attribute.range is None:
        return []
    starts = {0, grid.size}
    for series in SERIES[:levels]:
        if grid.size <= series + series // 2:
            starts |= set(range(grid.size))
        else:
            steps = (factor * 10**power for power in range(len(str(grid.size))) for factor in (1, 2, 5))
            starts |= {grid.size * place // series for place in range(series)} | {at for at in steps if at < grid.size}
    bounds = [*(grid.value(place) for place in sorted(starts - {grid.size})), attribute.range[1]]
    return [*(interval_label(lo, hi, attribute.unit) for lo, hi in pairwise(bounds)), *attribute.missing.labels]


def fronts(taxonomy: Taxonomy) -> list[list[Node]]:
    """The taxonomy cut at each depth, from below the root to the leaves."""
    found: list[list[Node]] = []
    nodes = [taxonomy.root]
    while any(node.children for node in nodes):
        nodes = [below for node in nodes for below in (node.children or (node,))]
        found.append(nodes)
    return found


def check_agreement(manifest: Claims, spec: Spec) -> Iterator[Finding]:
    """The columns, domains and taxonomies of any manifest are those of the spec."""
    yield from _role_findings(manifest, spec)
    yield from _column_findings(manifest, spec)
    yield from _derived_findings(manifest, spec)
    for name, entry in manifest.masking.items():
        attribute = spec.attributes.get(name)
        if attribute is None:
            problems = _undescribed_problems(entry)
        elif not attribute.shown:
            problems = iter(())  # `_column_findings` reports it
        else:
            problems = _problems(entry, attribute)
        for problem in problems:
            yield Finding("spec-domain", f"{MANIFEST}: {name!r} {problem}.")
    for problem in _box_problems(manifest, spec):
        yield Finding("spec-domain", f"{MANIFEST}: {problem}.")


def _box_problems(manifest: Claims, spec: Spec) -> Iterator[str]:
    """The parts of a label in a tree of boxes are its children in the taxonomy."""
    covered = {name: item for walk in read_boxes(manifest) for name, item in walk.covered.items()}
    for name, coverage in covered.items():
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


def _role_findings(manifest: Claims, spec: Spec) -> Iterator[Finding]:
    roles: dict[str, tuple[str | None, str | None]] = {"class": (manifest.class_, spec.table.class_)}
    if isinstance(manifest, RefinementManifest):  # noisy counts have no weight
        roles["weight"] = (manifest.weight, spec.table.weight)
        if (manifest.persons is not None) != bool(spec.table.person):
            said = "does not say" if manifest.persons is None else "says"
            whose = listed(spec.table.person) if spec.table.person else "no column"
            yield Finding("spec-columns", f"{MANIFEST} {said} how many persons there are, but the spec has {whose}.")
    if manifest.class_missing != {kind: list(marks) for kind, marks in spec.table.class_missing.kinds}:
        yield Finding("spec-columns", f"{MANIFEST} does not keep rows without a class as the spec does.")
    for role, (claimed, declared) in roles.items():
        if claimed != declared:
            yield Finding("spec-columns", f"{MANIFEST} has the {role} {claimed!r}, but the spec has {declared!r}.")


def _column_findings(manifest: Claims, spec: Spec) -> Iterator[Finding]:
    """All described attributes but identifiers, in order; others only if the owner releases them."""
    identifiers = [name for name, attribute in spec.attributes.items() if not attribute.shown]
    identifiers += [name for name in spec.table.person if name not in identifiers]
    expected = [name for name in spec.attributes if name not in identifiers]
    if leaked := [name for name in manifest.names if name in identifiers]:
        yield Finding(
            "identifier", f"{MANIFEST} has the column {listed(leaked)}, which the spec says is never released."
        )
    names = [name for name in manifest.masking if name not in identifiers]
    if names[: len(expected)] != expected:
        yield Finding("spec-columns", f"{MANIFEST} has the columns {listed(names)}; the spec says {listed(expected)}.")
    others = [name for name in names if name not in expected]
    if others and spec.table.others != "release":
        yield Finding("spec-columns", f"{MANIFEST} has the column {listed(others)}, which the spec does not describe.")


def _derived_findings(manifest: Claims, spec: Spec) -> Iterator[Finding]:
    asked = derived_of(spec)
    for name in sorted({*asked, *manifest.derived}):
        if manifest.derived.get(name) != asked.get(name):
            yield Finding("spec-columns", f"{MANIFEST} does not derive {name!r} as the spec does.")


def _undescribed_problems(entry: Entry) -> Iterator[str]:
    if not isinstance(entry, Released):
        yield f"is masked by {entry.kind}, but the spec does not describe it"


def _problems(entry: Entry, attribute: Attribute) -> Iterator[str]:
    domain = "declared" if attribute.declared else "observed"
    if entry.domain != domain:
        yield f"has a domain called {entry.domain}, but by the spec it is {domain}"
    if dict(entry.missing) != {label: list(marks) for label, marks in attribute.missing.kinds}:
        yield f"keeps the missing values {listed(entry.missing)}, but by the spec {listed(attribute.missing.labels)}"
    if isinstance(entry, Released):
        if entry.type != attribute.kind:
            yield f"is released as a {entry.type}, but by the spec it is a {attribute.kind}"
        if _weighting(entry) != (None if (asked := attribute.weighting) is None else astuple(asked)):
            yield "is not released as the spec says about a survey weight"
    elif entry.kind != attribute.masking:
        yield f"is masked by {entry.kind}, but by the spec it takes {attribute.masking}"
    elif isinstance(entry, Discretization):
        yield from _range_problems(entry, attribute)
    elif isinstance(entry, Generalization) and attribute.taxonomy is not None:
        yield from _taxonomy_problems(entry, attribute.taxonomy)
    elif isinstance(entry, Suppression):
        yield from _value_problems(entry, attribute.values)


def _weighting(entry: Released) -> tuple[object, ...] | None:
    shown = entry.survey_weight
    return None if shown is None else (shown.release, shown.step, tuple(shown.groups))


def _range_problems(entry: Discretization, attribute: Attribute) -> Iterator[str]:
    first, last = entry.blocks[0], highest(entry)
    if entry.unit != attribute.unit:
        yield f"has intervals of the unit {entry.unit}, but by the spec it is a {attribute.kind}"
    elif attribute.range is not None and (first.lo, last) != tuple(attribute.range):
        label = interval_label(*attribute.range, attribute.unit)
        yield f"has intervals from {first.start} to {_end(entry)}, but its declared range is {label}"
    if entry.whole != attribute.whole:
        yield f"has whole = {entry.whole}, but the spec has {attribute.whole}"


def _end(entry: Discretization) -> object:
    """Where its numbers end, as the manifest writes it."""
    return max(entry.blocks, key=lambda block: (block.end is not None, block.hi)).end


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


def _value_problems(entry: Suppression, values: Sequence[str] | None) -> Iterator[str]:
    if values is not None and (strange := [value for value in entry.disclosed if value not in values]):
        yield f"discloses {listed(strange)}, which is not among its declared values"


def check_asked(manifest: RefinementManifest, data: Data, spec: Spec) -> Iterator[Finding]:
    """For every requirement of the owner's spec, one of the manifest implies it."""
    statements = [statement for stated in manifest.requirements if (statement := _readable(stated)) is not None]
    for number, requirement in enumerate(spec.requirements, start=1):
        entry: Stated = json.loads(json.dumps(requirement.describe()))  # as a manifest would state it
        place = f"requirement {number} of the spec ({entry.get('kind')})"
        name = entry.get("sensitive")
        held = [value for value in data.columns[name].texts() if value is not None] if name in data.columns else []
        asked = _readable(_filled(entry, held, spec.attributes.get(str(name))))
        if asked is None:
            yield Finding("spec-requirement", f"{place} cannot be checked.")
        elif not any(statement.as_strict_as(asked, held) for statement in statements):
            message = f"{place} is not stated in {MANIFEST}, or only weaker: {entry}."
            yield Finding("spec-requirement", message)


def _readable(stated: Stated) -> Statement | None:
    """A requirement, if it has the shape of its kind."""
    try:
        return read_statement(stated)
    except (KeyError, ValidationError):
        return None


def _filled(entry: Stated, held: Sequence[str], attribute: Attribute | None) -> Stated:
    """The spec may leave out what the attribute says: all values, and their declared order."""
    filled = dict(entry)
    if entry.get("values") == []:
        filled["values"] = list(held)
    if entry.get("distance") == "ordered" and entry.get("order") is None and attribute is not None:
        declared = attribute.values if attribute.taxonomy is None else attribute.taxonomy.leaves
        filled["order"] = None if declared is None else list(declared)
    return filled


def check_plan(manifest: PrivateManifest, spec: Spec) -> Iterator[Finding]:
    """A private release spends what the plan of the spec says, as it says, on the declared domains."""
    if spec.plan is not None and manifest.epsilon != spec.plan.epsilon:
        claimed, asked = exact_text(manifest.epsilon), exact_text(spec.plan.epsilon)
        yield Finding("spec-requirement", f"{MANIFEST} has ε = {claimed}, but the spec has {asked}.")
    if spec.plan is not None and manifest.contributions != spec.plan.contributions:
        claimed, asked = (_unit(most) for most in (manifest.contributions, spec.plan.contributions))
        yield Finding("spec-requirement", f"{MANIFEST} promises ε for {claimed}, but the spec asks for {asked}.")
    weighted = spec.table.weight is not None
    if manifest.private and manifest.guarantee == promised(manifest, weighted=not weighted):
        yield from guarantee_findings(MANIFEST, manifest.guarantee, promised(manifest, weighted=weighted))
    declared = spec.table.class_values or ()
    if set(manifest.classes) != set(declared):
        labels, known = listed(manifest.classes), listed(declared)
        yield Finding("spec-classes", f"{MANIFEST} has the class labels {labels}, but the spec declares {known}.")
    if isinstance(manifest, WeightsManifest):
        yield from check_levels(manifest, spec)
    elif isinstance(manifest, DrawnManifest) and isinstance(spec.plan, PrivatePlan | SafePlan):
        yield from _structure_findings(manifest, spec.plan)
        yield from _cell_findings(manifest, spec)
        yield from _step_findings(manifest, spec)


def _unit(contributions: int | None) -> str:
    """Whose ε it is."""
    return "one record" if contributions is None else f"one person with contributions = {contributions:,}"


def _cell_findings(manifest: DrawnManifest, spec: Spec) -> Iterator[Finding]:
    for name, entry in manifest.masking.items():
        attribute = spec.attributes.get(name)
        if attribute is not None and entry.kind == attribute.masking:
            for problem in _cell_problems(entry, attribute):
                yield Finding("spec-domain", f"{MANIFEST}: {name!r} {problem}.")


def _structure_findings(manifest: DrawnManifest, plan: PrivatePlan | SafePlan) -> Iterator[Finding]:
    keys = ["specializations", "utility", "choice"]
    if isinstance(plan, PrivatePlan):  # a threshold that the owner does not give follows from public numbers
        keys += ["budget"] if plan.threshold is None else ["budget", "threshold"]
    claims = {key: (getattr(manifest, key), getattr(plan, key)) for key in keys}
    if isinstance(manifest, SafeManifest) and isinstance(plan, SafePlan) and manifest.delta != plan.delta:
        claims["δ"] = (exact_text(manifest.delta), exact_text(plan.delta))
    for key, (stated, planned) in claims.items():
        if stated != planned:
            yield Finding("spec-plan", f"{MANIFEST} has the {key} {stated!r}, but the spec has {planned!r}.")


def _cell_problems(entry: Masked, attribute: Attribute) -> Iterator[str]:
    if isinstance(entry, Suppression):
        if entry.disclosed and attribute.values is not None and entry.disclosed != list(attribute.values):
            yield f"discloses {listed(entry.disclosed)}, but not all of its declared values in their order"
    elif isinstance(entry, Discretization):
        for block in entry.blocks[1:]:
            if block.start is not None and not _on_grid(block.lo, attribute):
                yield f"is split at {block.start}, which is not a value inside its declared range, in its steps"


def _on_grid(split: float, attribute: Attribute) -> bool:
    """Whether a number is one of the declared values above the lowest: below that there is nothing to split off."""
    step = 1.0 if attribute.whole else attribute.step
    if attribute.range is None or step is None:
        return False
    lo, hi = (Fraction(str(bound)) for bound in attribute.range)
    width = Fraction(str(step))
    place = round((Fraction(str(split)) - lo) / width)
    # Written as a float, a value on the grid is the float nearest to it.
    return 0 < place * width < hi - lo and float(lo + place * width) == float(split)


def _step_findings(manifest: DrawnManifest, spec: Spec) -> Iterator[Finding]:
    """The cuts take as many specializations as the manifest says."""
    steps = 0
    for name, entry in manifest.masking.items():
        attribute = spec.attributes.get(name)
        taxonomy = None if attribute is None else attribute.taxonomy
        if not isinstance(entry, Generalization):
            steps += least_steps(entry)
        elif taxonomy is not None:
            steps += _taxonomy_steps(entry, taxonomy)
        else:
            return  # `check_agreement` reports it
    if steps != manifest.specializations:
        yield Finding(
            "specializations",
            f"{MANIFEST} says that there were {manifest.specializations} specializations, "
            f"but by the taxonomies of the spec its cuts take {steps}.",
        )


def _taxonomy_steps(entry: Generalization, taxonomy: Taxonomy) -> int:
    """How many nodes were specialized: those above the cut."""
    cut = {block.label for block in entry.blocks}

    def above(node: Node) -> int:
        if node.label in cut or not node.children:
            return 0
        return 1 + sum(above(child) for child in node.children)

    return above(taxonomy.root)
