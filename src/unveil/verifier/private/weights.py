"""The weights of a release, computed again from what its manifest says was measured, by a model or in tables.

If they are what the noisy numbers make them, nothing else of the raw table is in them. `docs/additive.md` has the
formulas; the names below are its words. How points are drawn, both kinds of weights share.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import sinh

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from unveil.errors import rows_text
from unveil.verifier.claims import MANIFEST, PARQUET, Finding
from unveil.verifier.data import Data, group
from unveil.verifier.holdings import Floats
from unveil.verifier.manifests import WEIGHT, AdditiveManifest, StatisticsManifest, TreeLeaf, WeightsManifest
from unveil.verifier.private import label_places
from unveil.verifier.private.measured import STEP
from unveil.verifier.records import twice_findings

REACH = 16 * STEP
DECIMALS = 6
NEARLY = 2e-6
"""How far two weights may be apart that were rounded by two machines; larger ones in proportion."""
Places = NDArray[np.int64]
POINTS, SEED = 50_000, 15
SWEEPS = 20
WIDEST = 700
"""From this rate on noise is 0, and floats overflow."""


def check_weights(manifest: WeightsManifest, data: Data) -> Iterator[Finding]:
    """Every cell and class appears once, with a weight that is above zero and has six decimals."""
    columns = [data.columns[name] for name in manifest.labels]
    yield from twice_findings(group(columns, data.counts))
    column = data.columns[WEIGHT]
    values: Floats = column.values.to_numpy(zero_copy_only=False).astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        wrong = ~(np.isfinite(values) & (values > 0) & (values == np.round(values, DECIMALS)))
    if wrong[column.codes].any():
        value, rows = values[np.argmax(wrong)], rows_text(data.rows_of(wrong[column.codes]))
        message = f"a weight is {value}, but weights are above 0 and have {DECIMALS} decimals (wrong in {rows})"
        yield Finding("weight", f"{PARQUET}: {message}.")


def check_origin(manifest: AdditiveManifest | StatisticsManifest, data: Data) -> Iterator[Finding]:
    """The listed weights are those that the measured numbers make. All else must hold before this can be said."""
    made_of = expected_of_tables(manifest) if isinstance(manifest, StatisticsManifest) else expected(manifest)
    cells, weights = made_of
    if manifest.cells != len(cells):
        claimed, counted = f"{manifest.cells:,}", f"{len(cells):,}"
        yield Finding("cells", f"{MANIFEST} says that cells is {claimed}, but what was measured makes {counted}.")
    names = list(manifest.labels)
    columns = [data.columns[name] for name in names]
    listed = [label_places(manifest.labels[item.name], item.texts())[item.codes] for item in columns]
    cell, class_ = np.nonzero(np.round(weights, DECIMALS) > 0)
    amounts = data.columns[WEIGHT].values.to_numpy(zero_copy_only=False)[data.columns[WEIGHT].codes]
    rows = [np.concatenate([one, other]) for one, other in zip(listed, [*cells[cell].T, class_], strict=True)]
    found = np.concatenate([amounts, np.zeros(len(cell))])
    made = np.concatenate([np.zeros(len(amounts)), weights[cell, class_]])
    sums = pa.table([*rows, found, made], names=[*map(str, range(len(rows))), "found", "made"])
    sums = sums.group_by([str(place) for place in range(len(rows))]).aggregate([("found", "sum"), ("made", "sum")])
    found, made = sums["found_sum"].to_numpy(), sums["made_sum"].to_numpy()
    wrong = np.abs(found - made) > NEARLY + 1e-9 * made
    if wrong.any():
        worst = int(np.argmax(np.abs(found - made)))
        places = zip(names, (int(sums[str(place)][worst].as_py()) for place in range(len(rows))), strict=True)
        labels = ", ".join(f"{name}={manifest.labels[name][place]!r}" for name, place in places)
        message = f"({labels}) has the weight {found[worst]:g}, but what was measured makes it {made[worst]:g}"
        yield Finding("weights", f"{PARQUET}: {message} ({rows_text(int(wrong.sum()))} differ).")


def expected(manifest: AdditiveManifest) -> tuple[Places, Floats]:
    """The cells that are listed, as places of their labels, and their weights per class."""
    bins = _points(manifest)
    block_of = [
        [manifest.labels[name].index(block) for block in manifest.bins[name].values()] if name in manifest.bins else [0]
        for name in manifest.masking
    ]
    points = np.stack([np.array(blocks)[bins[:, place]] for place, blocks in enumerate(block_of)], axis=1)
    chances = _chances(manifest, bins)
    cells, cell = np.unique(points, axis=0, return_inverse=True)
    share = sum(manifest.records) / POINTS
    weights: Floats = np.stack([np.bincount(cell.ravel(), part * share, len(cells)) for part in chances.T], axis=1)
    return cells, _corrected(manifest, weights, leaves_of(manifest, cells))


def _points(manifest: AdditiveManifest) -> Places:
    """Points with the bins of all attributes: for each class its share, spread evenly over the measured shapes."""
    classes = points_of_classes(np.array(manifest.records, dtype=np.float64))
    draw = np.random.default_rng(SEED)
    bins = np.zeros((POINTS, len(manifest.masking)), dtype=np.int64)
    for place, name in enumerate(manifest.masking):
        if name not in manifest.bins:
            continue
        for number, class_ in enumerate(manifest.classes):
            held = classes == number
            bins[held, place] = strata(_shape(manifest, name, class_), int(held.sum()), draw)
    return bins


def _shape(manifest: AdditiveManifest, name: str, class_: str) -> Floats:
    """How a class spreads over the bins: by the first sums within it, or else by the first against another."""
    rounds = [done for done in manifest.rounds if done.attribute == name]
    own = [np.array(done.within) / done.unit for done in rounds if done.class_ == class_]
    other = [np.array(done.against) / done.unit for done in rounds if done.class_ != class_]
    return shares((own or other)[0])


def _chances(manifest: AdditiveManifest, bins: Places) -> Floats:
    """The probability of each class at each point, by the scores of its bins."""
    scores = {name: np.zeros((len(held), len(manifest.models)), dtype=np.int64) for name, held in manifest.bins.items()}
    for done in manifest.rounds:
        scores[done.attribute][:, manifest.models.index(done.class_)] += done.steps
    odds = np.tile(np.array(manifest.base), (len(bins), 1))
    for place, name in enumerate(manifest.masking):
        if name in scores:
            odds += scores[name][bins[:, place]]
    part = 1 / (1 + np.exp(-np.clip(odds, -REACH, REACH) / STEP))
    if len(manifest.classes) == 2:
        return np.concatenate([1 - part, part], axis=1)
    chances: Floats = part / part.sum(axis=1, keepdims=True)
    return chances


def leaves_of(manifest: AdditiveManifest, cells: Places) -> Places:
    """The leaf of each cell."""
    names = list(manifest.masking)
    leaf = np.zeros(len(cells), dtype=np.int64)
    waiting = [(0, np.arange(len(cells)))]
    while waiting:
        place, held = waiting.pop()
        node = manifest.tree[place]
        if isinstance(node, TreeLeaf):
            leaf[held] = node.leaf
            continue
        left = np.array([label in node.labels for label in manifest.labels[node.attribute]])
        goes = left[cells[held, names.index(node.attribute)]]
        waiting += [(node.left, held[goes]), (node.right, held[~goes])]
    return leaf


def _corrected(manifest: AdditiveManifest, weights: Floats, leaf: Places) -> Floats:
    """Totals and odds of the leaves, moved towards their noisy counts as far as the noise lets one trust these."""
    counts = np.array(manifest.leaves, dtype=np.float64)
    classes = counts.shape[1]
    variance = noise_variance(float(manifest.per_record(manifest.ledger[-1])))
    expected = np.stack([np.bincount(leaf, column, len(counts)) for column in weights.T], axis=1)
    sums, noisy = np.maximum(expected.sum(axis=1), 1e-9), counts.sum(axis=1)
    trust = max(np.sum((noisy - sums) ** 2 - classes * variance - sums) / np.sum(sums**2), 0.01) * sums**2
    totals = np.maximum((noisy * trust + sums * classes * variance) / (trust + classes * variance), 1e-3)
    chances = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)
    for class_ in [1] if classes == 2 else range(classes):
        chance = np.clip(expected[:, class_] / sums, 1e-4, 1 - 1e-4)
        residual, information = counts[:, class_] - noisy * chance, totals * chance * (1 - chance)
        noise = variance * ((1 - chance) ** 2 + (classes - 1) * chance**2)
        spread = np.sum(residual**2 - information - noise) / max(np.sum(information**2), 1e-9)
        moved = max(spread, 0) * residual * information / (max(spread, 0) * information**2 + information + noise)
        chances[:, class_] *= np.exp(np.clip(moved, -8, 8))[leaf]
    chances /= np.maximum(chances.sum(axis=1, keepdims=True), 1e-12)
    corrected: Floats = chances * (weights.sum(axis=1) * (totals / sums)[leaf])[:, None]
    return corrected


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
    bins = _table_points(manifest, records, classes)
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


def _table_points(manifest: StatisticsManifest, records: Floats, classes: Places) -> Places:
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
                shape = shapes[name][:, kind]
                column[points] = strata(shape / shape.sum(), points.stop - points.start, draw)
            continue
        table = _with_class(manifest, number, shapes, records / records.sum(), above)
        upper = np.array(manifest.groups[above])[bins[:, names.index(above)]]
        groups, group = np.array(manifest.groups[name]), np.zeros(POINTS, dtype=np.int64)
        for kind, points in enumerate(spans):
            for place, row in enumerate(table[:, :, kind]):
                held = upper[points] == place
                group[points][held] = strata(row / row.sum(), int(held.sum()), draw)
        for kind, points in enumerate(spans):
            for place in range(table.shape[1]):
                held, inside = group[points] == place, np.flatnonzero(groups == place)
                shape = shapes[name][inside, kind]
                column[points][held] = inside[strata(shape / shape.sum(), int(held.sum()), draw)]
    return bins


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
