"""What the manifest of a release by noisy tables shows: that all it lists was measured, and paid for.

ε is spent as `docs/additive.md` says: 3% on the class totals, 5% on each pair, a fifth of that on its choice, and what
is left on the tables of the attributes with the class, in equal parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import sqrt

from unveil.errors import count_text, listed
from unveil.verifier.additive import NEARLY_HALF, TOTALS, bin_findings, charge_findings, wrongly_measured
from unveil.verifier.findings import Finding
from unveil.verifier.statements import StatisticsManifest

PAIR, CHOICE = Fraction(5, 100), Fraction(20, 100)
MOST_PAIRS, MOST_GROUPS = 10, 12


def check_tables(manifest: StatisticsManifest) -> Iterator[Finding]:
    """All that the manifest alone decides, except the guarantee.

    What is checked first is what the rest builds on: where that is broken, nothing more is said.
    """
    if wrong := [*_table_findings(manifest), *bin_findings(manifest, manifest.tables), *_pair_findings(manifest)]:
        yield from wrong
        return
    exact, most = sqrt(_records(manifest) / 600), min(MOST_PAIRS, len(manifest.tables) - 1)
    if not min(exact - NEARLY_HALF, most) <= len(manifest.pairs) <= max(min(exact + NEARLY_HALF, most), 0):
        should = f"by the totals and ε there should be {exact:.2f}, rounded, and at most {max(most, 0)}"
        yield wrongly_measured(f"there are {count_text(len(manifest.pairs), 'pair')}, but {should}")
    yield from charge_findings(manifest, dict(charges(manifest)))


def _records(manifest: StatisticsManifest) -> float:
    """N · ε by the noisy totals: it decides how many pairs there are."""
    return float(manifest.epsilon / manifest.apart) * float(sum(manifest.records))


def charges(manifest: StatisticsManifest) -> Iterator[tuple[str, Fraction]]:
    """What each draw costs, in the order of the draws."""
    epsilon, pairs = manifest.epsilon, len(manifest.pairs)
    yield "class totals", epsilon * TOTALS
    for name in manifest.tables:
        yield f"table of {name}", epsilon * (1 - TOTALS - pairs * PAIR) / len(manifest.tables)
    for number in range(1, pairs + 1):
        yield f"choice of pair {number}", epsilon * PAIR * CHOICE
        yield f"counts of pair {number}", epsilon * PAIR * (1 - CHOICE)


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
    for number, pair in enumerate(manifest.pairs, start=1):
        one, other = pair.attributes
        sizes = [len(set(manifest.groups[name])) for name in pair.attributes]
        if tree[one] == tree[other]:
            yield wrongly_measured(f"pair {number} ties {one!r} and {other!r}, which are tied already")
        if len(pair.counts) != sizes[0] or any(len(row) != sizes[1] for row in pair.counts):
            yield wrongly_measured(f"pair {number} does not have {sizes[0]} by {sizes[1]} counts")
        kept, gone = tree[one], tree[other]
        tree = {name: kept if held == gone else held for name, held in tree.items()}
