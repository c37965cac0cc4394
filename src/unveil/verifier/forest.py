"""The weights of a release by noisy tables, computed again from what its manifest says was measured.

`docs/additive.md` has the formulas; the names below are its words. How points are drawn, both kinds of weights share.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import sinh

import numpy as np
from numpy.typing import NDArray

from unveil.verifier.holdings import Floats
from unveil.verifier.statements import StatisticsManifest

Places = NDArray[np.int64]
POINTS, SEED = 50_000, 15
SWEEPS = 20
WIDEST = 700
"""From this rate on noise is 0, and floats overflow."""


def points_of_classes(records: Floats) -> Places:
    """The class of each point."""
    sizes = np.diff(np.rint(POINTS * np.cumsum(records) / records.sum()).astype(np.int64), prepend=0)
    return np.repeat(np.arange(len(records)), sizes)


def strata(shape: Floats, size: int, draw: np.random.Generator) -> Places:
    """So many places, spread evenly over a shape of sum 1, in random order."""
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
