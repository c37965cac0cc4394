"""The weights of a release by an additive model, computed again from what its manifest says was measured.

If they are what the noisy numbers make them, nothing else of the raw table is in them. `docs/additive.md` has the
formulas; the names below are its words.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from unveil.errors import rows_text
from unveil.verifier.additive import STEP
from unveil.verifier.claims import MANIFEST, PARQUET
from unveil.verifier.columns import group
from unveil.verifier.cuts import twice_findings
from unveil.verifier.data import Data
from unveil.verifier.findings import Finding
from unveil.verifier.holdings import Floats
from unveil.verifier.manifests import WEIGHT, AdditiveManifest, StatisticsManifest, TreeLeaf, WeightsManifest
from unveil.verifier.private import label_places
from unveil.verifier.statistics import (
    POINTS,
    SEED,
    Places,
    expected_of_tables,
    noise_variance,
    points_of_classes,
    shares,
    strata,
)

REACH = 16 * STEP
DECIMALS = 6
NEARLY = 2e-6
"""How far two weights may be apart that were rounded by two machines; larger ones in proportion."""


def check_weights(manifest: WeightsManifest, data: Data) -> Iterator[Finding]:
    """Every cell and class appears once, with a weight that the noisy numbers make it."""
    columns = [data.columns[name] for name in manifest.labels]
    yield from twice_findings(group(columns, data.counts))
    yield from _form_findings(data)


def _form_findings(data: Data) -> Iterator[Finding]:
    """A weight is above zero and has six decimals."""
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
