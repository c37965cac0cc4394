"""The bins of an additive release, made again from the declared domains: their rule is in `docs/release.md`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from unveil.errors import listed
from unveil.schema import Attribute, Node, Spec, Taxonomy, grid_of, interval_label
from unveil.verifier.additive import MOST_BINS, affordable_records
from unveil.verifier.claims import MANIFEST, Generalization
from unveil.verifier.findings import Finding
from unveil.verifier.private_claims import AdditiveManifest

FEW_BINS = 60
SERIES = (8, 16, 32)
"""How many intervals the even series of each level of a number has."""


def check_levels(manifest: AdditiveManifest, spec: Spec) -> Iterator[Finding]:
    """What was measured has the bins that n · ε affords, and blocks hold all leaves of their bins."""
    records = affordable_records(manifest)
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
    levels = fronts(attribute.taxonomy)
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
