"""What a release for statistics says was measured in noisy tables: it fits, and is paid for.

As `docs/additive.md` says, 3% of ε goes to the class totals, 5% to each pair, a fifth of that to its choice, and what
is left to the tables of the attributes with the class, in equal parts. With the spec, the bins are made again from the
declared domains.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import inf, sqrt
from typing import TYPE_CHECKING

from unveil.errors import count_text, listed
from unveil.verifier.claims import (
    MANIFEST,
    Finding,
    Generalization,
)
from unveil.verifier.manifests import AdditiveManifest, StatisticsManifest, WeightsManifest
from unveil.verifier.private.measured import (
    MOST_BINS,
    NEARLY_HALF,
    TOTALS,
    affordable_records,
    bin_findings,
    charge_findings,
    wrongly_measured,
)

if TYPE_CHECKING:
    from unveil.schema import Attribute, Node, Spec, Taxonomy

PAIR, PAIR_CHOICE = Fraction(5, 100), Fraction(20, 100)
MOST_PAIRS, MOST_GROUPS = 10, 12
FEW_BINS = 60
SERIES = (8, 16, 32)
"""How many intervals the even series of each level of a number has."""


def check_tables(manifest: StatisticsManifest) -> Iterator[Finding]:
    """All that the manifest alone decides, except the guarantee.

    What is checked first is what the rest builds on: where that is broken, nothing more is said.
    """
    if wrong := [*_table_findings(manifest), *bin_findings(manifest, manifest.tables), *_pair_findings(manifest)]:
        yield from wrong
        return
    exact, most = sqrt(_affordable(manifest) / 600), min(MOST_PAIRS, len(manifest.tables) - 1)
    if not min(exact - NEARLY_HALF, most) <= len(manifest.pairs) <= max(min(exact + NEARLY_HALF, most), 0):
        should = f"by the totals and ε there should be {exact:.2f}, rounded, and at most {max(most, 0)}"
        yield wrongly_measured(f"there are {count_text(len(manifest.pairs), 'pair')}, but {should}")
    yield from charge_findings(manifest, dict(table_charges(manifest)))


def _affordable(manifest: StatisticsManifest) -> float:
    """N · ε by the noisy totals: it decides how many pairs there are."""
    return float(manifest.epsilon / manifest.apart) * float(sum(manifest.records))


def table_charges(manifest: StatisticsManifest) -> Iterator[tuple[str, Fraction]]:
    """What each draw costs, in the order of the draws."""
    epsilon, pairs = manifest.epsilon, len(manifest.pairs)
    yield "class totals", epsilon * TOTALS
    for name in manifest.tables:
        yield f"table of {name}", epsilon * (1 - TOTALS - pairs * PAIR) / len(manifest.tables)
    for place in range(1, pairs + 1):
        yield f"choice of pair {place}", epsilon * PAIR * PAIR_CHOICE
        yield f"counts of pair {place}", epsilon * PAIR * (1 - PAIR_CHOICE)


def _table_findings(manifest: StatisticsManifest) -> Iterator[Finding]:
    classes = len(manifest.classes)
    if len(manifest.totals) != classes:
        yield wrongly_measured(f"there are {count_text(len(manifest.totals), 'total')} of {classes} classes")
    if list(manifest.tables) != list(manifest.bins):
        tables = f"tables of {listed(manifest.tables)}, but bins of {listed(manifest.bins)}"
        yield wrongly_measured(f"there are {tables}")
        return
    for name, table in manifest.tables.items():
        bins = manifest.bins[name]
        if len(table) != len(bins) or any(len(row) != classes for row in table):
            yield wrongly_measured(f"the table of {name!r} does not have {len(bins)} bins of {classes} classes")
        if len(set(bins.values())) < len(bins):
            yield wrongly_measured(f"{name!r} has two bins in one block, but each was measured by itself")


def _pair_findings(manifest: StatisticsManifest) -> Iterator[Finding]:
    """Groups are those of the attributes in pairs, and pairs tie attributes without a circle."""
    named = {name for pair in manifest.pairs for name in pair.attributes}
    if list(manifest.groups) != [name for name in manifest.bins if name in named] or not named <= set(manifest.bins):
        yield wrongly_measured(f"there are groups of {listed(manifest.groups)}, but pairs of {listed(sorted(named))}")
        return
    for name, groups in manifest.groups.items():
        if len(groups) != len(manifest.bins[name]) or set(groups) != set(range(min(max(groups), MOST_GROUPS - 1) + 1)):
            yield wrongly_measured(f"{name!r} has groups that are not up to {MOST_GROUPS} of its bins")
    tree = {name: name for name in named}
    for place, pair in enumerate(manifest.pairs, start=1):
        one, other = pair.attributes
        sizes = [len(set(manifest.groups[name])) for name in pair.attributes]
        if tree[one] == tree[other]:
            yield wrongly_measured(f"pair {place} ties {one!r} and {other!r}, which are tied already")
        if len(pair.counts) != sizes[0] or any(len(row) != sizes[1] for row in pair.counts):
            yield wrongly_measured(f"pair {place} does not have {sizes[0]} by {sizes[1]} counts")
        kept, gone = tree[one], tree[other]
        tree = {name: kept if held == gone else held for name, held in tree.items()}


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
        return _bin_intervals(attribute, 1 if records < 1e4 else 2 if records < 1e6 else 3)
    if attribute.taxonomy is None:
        return list(attribute.values or ())
    most = FEW_BINS if records < 1e5 else MOST_BINS
    levels = [level for level in fronts(attribute.taxonomy) if 1 < len(level) <= MOST_BINS] or [[]]
    return [node.label for node in next((level for level in reversed(levels) if len(level) <= most), levels[0])]


def _bin_intervals(attribute: Attribute, levels: int) -> list[str]:
    """Every place of a small grid; of a larger one an even series, and 1, 2, 5, 10, … steps from its start.

    Missing values follow, each kind by itself.
    """
    from unveil.schema import grid_of, interval_label  # only a comparison with the spec needs it

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
