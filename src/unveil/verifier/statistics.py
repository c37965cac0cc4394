"""Releases by noisy tables: that all the manifest lists was measured and paid for, and that it gives the weights.

ε is spent as `docs/additive.md` says: 3% on the class totals, 5% on each pair, a fifth of that on its choice, and what
is left on the tables of the attributes with the class, in equal parts. That page has the formulas of the weights too,
and the names below are its words. How points are drawn, both kinds of weights share.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import sinh, sqrt

import numpy as np
from numpy.typing import NDArray

from unveil.errors import count_text, listed
from unveil.verifier.additive import NEARLY_HALF, TOTALS, bin_findings, charge_findings, wrongly_measured
from unveil.verifier.findings import Finding
from unveil.verifier.holdings import Floats
from unveil.verifier.manifests import StatisticsManifest

Places = NDArray[np.int64]
POINTS, SEED = 50_000, 15
SWEEPS = 20
WIDEST = 700
"""From this rate on noise is 0, and floats overflow."""

PAIR, CHOICE = Fraction(5, 100), Fraction(20, 100)
MOST_PAIRS, MOST_GROUPS = 10, 12


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
    yield from charge_findings(manifest, dict(charges(manifest)))


def _affordable(manifest: StatisticsManifest) -> float:
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


def points_of_classes(records: Floats) -> Places:
    """The class of each point."""
    sizes = np.diff(np.rint(POINTS * np.cumsum(records) / records.sum()).astype(np.int64), prepend=0)
    return np.repeat(np.arange(len(records)), sizes)


def strata(shape: Floats, size: int, draw: np.random.Generator) -> Places:
    """This many places, spread evenly over a shape of sum 1, in random order."""
    at = (np.arange(size) + draw.random()) / max(size, 1)
    return draw.permutation(np.minimum(np.searchsorted(np.cumsum(shape), at, side="right"), len(shape) - 1))


def shares(noisy: Floats) -> Floats:
    """The nearest numbers that are not negative and have the same sum, a little above 0, scaled to sum 1."""
    total = noisy.sum()
    if total <= 1:
        return np.full(len(noisy), 1 / len(noisy))
    high = np.sort(noisy)[::-1]
    excess = (np.cumsum(high) - total) / np.arange(1, len(noisy) + 1)
    nearest: Floats = np.maximum(noisy - excess[high > excess][-1], 0) + 1e-9
    nearest /= nearest.sum()
    return nearest


def noise_variance(rate: float) -> float:
    """The variance of the noise on a count."""
    return float(0.5 / sinh(min(rate, WIDEST) / 2) ** 2)


def expected_of_tables(manifest: StatisticsManifest) -> tuple[Places, Floats]:
    """The cells that are listed, as places of their labels, and their weights per class."""
    records = _records(manifest)
    classes = points_of_classes(records)
    bins = _points(manifest, records, classes)
    cells, cell = np.unique(bins, axis=0, return_inverse=True)
    share = records.sum() / POINTS
    kinds = range(len(records))
    weights = np.stack([np.bincount(cell.ravel()[classes == kind], minlength=len(cells)) for kind in kinds], axis=1)
    return cells, weights * share


def _records(manifest: StatisticsManifest) -> Floats:
    """The likely records per class: the mean of what all tables say, each weighed by how little noise it has."""
    rates = {charge.purpose: float(manifest.per_record(charge)) for charge in manifest.ledger}
    known = [(np.array(manifest.totals, dtype=np.float64), noise_variance(rates["class totals"]))]
    for name, table in manifest.tables.items():
        counts = np.array(table, dtype=np.float64)
        known.append((counts.sum(axis=0), len(counts) * noise_variance(rates[f"table of {name}"])))
    trust = [1 / (variance + 1e-12) for _, variance in known]
    sums = sum(weight * counts for weight, (counts, _) in zip(trust, known, strict=True))
    records: Floats = np.maximum(sums / sum(trust), 1.0)
    return records


def _points(manifest: StatisticsManifest, records: Floats, classes: Places) -> Places:
    names, draw = list(manifest.masking), np.random.default_rng(SEED)
    kinds = range(len(records))
    ends = np.searchsorted(classes, np.arange(len(records) + 1)).tolist()
    spans = [slice(start, end) for start, end in pairwise(ends)]
    shapes = {
        name: np.stack([shares(np.array(table, dtype=np.float64)[:, kind]) for kind in kinds], axis=1)
        for name, table in manifest.tables.items()
    }
    bins = np.zeros((POINTS, len(names)), dtype=np.int64)
    for name, above, number in _tied(manifest):
        column = bins[:, names.index(name)]
        if above is None:
            for kind, points in enumerate(spans):
                column[points] = strata(_scaled(shapes[name][:, kind]), points.stop - points.start, draw)
            continue
        table = _with_class(manifest, number, shapes, records / records.sum(), above)
        upper = np.array(manifest.groups[above])[bins[:, names.index(above)]]
        groups, group = np.array(manifest.groups[name]), np.zeros(POINTS, dtype=np.int64)
        for kind, points in enumerate(spans):
            for place, row in enumerate(table[:, :, kind]):
                held = upper[points] == place
                group[points][held] = strata(_scaled(row), int(held.sum()), draw)
        for kind, points in enumerate(spans):
            for place in range(table.shape[1]):
                held, inside = group[points] == place, np.flatnonzero(groups == place)
                column[points][held] = inside[strata(_scaled(shapes[name][inside, kind]), int(held.sum()), draw)]
    return bins


def _scaled(shape: Floats) -> Floats:
    scaled: Floats = shape / shape.sum()
    return scaled


def _tied(manifest: StatisticsManifest) -> Iterator[tuple[str, str | None, int]]:
    """Every attribute after the one that it depends on, if any, with the number of their pair."""
    done: list[str] = []
    for first in manifest.tables:
        waiting: list[tuple[str, str | None, int]] = [] if first in done else [(first, None, -1)]
        while waiting:
            name, above, number = waiting.pop(0)
            done.append(name)
            yield name, above, number
            for place, pair in enumerate(manifest.pairs):
                others = [other for other in pair.attributes if other != name]
                if len(others) == 1 and others[0] not in done:
                    waiting.append((others[0], name, place))


def _with_class(
    manifest: StatisticsManifest, number: int, shapes: dict[str, Floats], classes: Floats, above: str
) -> Floats:
    """A pair and the class, scaled to the noisy counts of the pair and of both attributes in turn."""
    pair = manifest.pairs[number]
    counts = np.array(pair.counts, dtype=np.float64)
    both = shares(counts.ravel()).reshape(counts.shape)
    sides = []
    for name in pair.attributes:
        groups, shape = np.array(manifest.groups[name]), shapes[name] * classes
        sides.append(np.stack([np.bincount(groups, part) for part in shape.T], axis=1))
    one, other = sides
    table = np.einsum("ac,bc->abc", one, other) / classes
    for _ in range(SWEEPS):
        table = table * (both / table.sum(axis=2))[:, :, None]
        table = table * (one / table.sum(axis=1))[:, None, :]
        table = table * (other / table.sum(axis=0))[None, :, :]
    found: Floats = table if pair.attributes[0] == above else table.transpose(1, 0, 2)
    return found
