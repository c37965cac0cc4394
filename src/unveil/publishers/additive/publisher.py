"""Publishing weights under ε-differential privacy: from an additive model of the class, or from noisy tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from unveil.arrays import IntArray
from unveil.counting import Engine, used_rows
from unveil.masking import Block
from unveil.noise import Ledger, Source
from unveil.progress import Watcher, unwatched
from unveil.publishers.additive.bins import Bins, block_of_bins, cut_of
from unveil.publishers.additive.cells import LeafTree, bin_labels, corrected, drawn_bins, grown, listed_rows, merged
from unveil.publishers.additive.forest import drawn_points
from unveil.publishers.additive.rounds import Draws, Learned, learn, noise_variance
from unveil.publishers.additive.tables import measure
from unveil.publishers.private import private_claims
from unveil.release import (
    AdditiveManifest,
    PairEntry,
    Release,
    RoundEntry,
    StatisticsManifest,
    TreeLeaf,
    TreeTest,
)
from unveil.schema import AdditivePlan, Spec, StatisticsPlan
from unveil.tables import Outline

Claims = Callable[[Sequence[Sequence[Block]]], dict[str, Any]]
"""What a manifest says besides what was measured, given the blocks of each attribute."""


def publish_additive(
    table: Outline,
    spec: Spec,
    plan: AdditivePlan,
    engine: Engine,
    source: Source,
    version: str,
    progress: Watcher = unwatched,
) -> Release:
    """Draws a differentially private release of weights; one from a seeded source says that it is not private.

    Progress is reported in numbers that depend on noisy totals only.
    """
    ledger = Ledger(plan.epsilon)
    draws = Draws(ledger, source, plan.apart)
    table, engine = used_rows(table, engine, plan.contributions)
    claims: Claims = partial(private_claims, table, spec, plan, ledger, source, version)
    publish = _by_tables if isinstance(plan, StatisticsPlan) else _by_model
    return publish(table, engine, draws, claims, progress)


def _by_model(table: Outline, engine: Engine, draws: Draws, claims: Claims, progress: Watcher) -> Release:
    """A release of weights to learn the class from."""
    learned = learn(table, engine, draws, progress)
    blocks = [
        np.zeros(1, dtype=np.int64) if bins is None else block_of_bins(bins, learned.model.effects(place))
        for place, bins in enumerate(learned.bins)
    ]
    cuts = _cuts(table, learned.bins, blocks)
    points = drawn_bins(learned)
    chances = learned.model.chances(points) * (learned.model.totals.sum() / len(points))
    cells, expected = merged(points, blocks, chances)
    ranks = [_ranks(learned, place, held) for place, held in enumerate(blocks)]
    places = _ranked(cells, ranks)
    leaves = draws.ledger.left
    rate = draws.per_record(leaves)
    tree = grown(places, expected, float(rate))
    progress("counting leaves", 0, None)
    counts = _leaf_counts(engine, cuts, tree, ranks, len(table.classes))
    noisy = draws.noisy("counts of the leaves", counts, 1, leaves)
    weights = corrected(expected, tree.of(places), noisy, noise_variance(rate))
    manifest = AdditiveManifest(
        **claims(cuts),
        totals=tuple(learned.totals.tolist()),
        base=tuple(learned.model.base.tolist()),
        bins=bin_labels(table, {done.attribute for done in learned.rounds}, learned.bins, cuts, blocks),
        rounds=tuple(_round_entries(table, learned)),
        tree=tuple(_tree_nodes(table, tree, cuts, ranks)),
        leaves=_nested(noisy),
        cells=len(cells),
    )
    return Release(listed_rows(table, cuts, cells, weights), manifest)


def _by_tables(table: Outline, engine: Engine, draws: Draws, claims: Claims, progress: Watcher) -> Release:
    """A release of weights whose tables of counts are close to the true ones."""
    tables = measure(table, engine, draws, progress)
    blocks = [np.arange(1 if bins is None else bins.size) for bins in tables.bins]
    cuts = _cuts(table, tables.bins, blocks)
    classes, points = drawn_points(tables.star, tables.groups, tables.pairs, len(blocks))
    share = tables.star.records.sum() / len(points)
    names = [attribute.name for attribute in table.attributes]
    cells, weights = merged(points, blocks, np.eye(len(table.classes))[classes] * share)
    manifest = StatisticsManifest(
        **claims(cuts),
        totals=tuple(tables.totals.tolist()),
        bins=bin_labels(table, tables.tables, tables.bins, cuts, blocks),
        tables={names[place]: _nested(held) for place, held in tables.tables.items()},
        groups={names[place]: tuple(held.tolist()) for place, held in tables.groups.items()},
        pairs=tuple(
            PairEntry(attributes=(names[one], names[other]), counts=_nested(pair.counts))
            for pair in tables.pairs
            for one, other in [pair.places]
        ),
        cells=len(cells),
    )
    return Release(listed_rows(table, cuts, cells, weights), manifest)


def _cuts(table: Outline, bins: Sequence[Bins | None], blocks: Sequence[IntArray]) -> list[list[Block]]:
    """The cut of each attribute, by the block of each of its bins."""
    columns = zip(table.attributes, table.columns, bins, blocks, strict=True)
    return [cut_of(attribute, domain, binned, held) for attribute, domain, binned, held in columns]


def _nested(counts: IntArray) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in counts.tolist())


def _ranks(learned: Learned, attribute: int, blocks: IntArray) -> IntArray:
    """The rank of each block: by place for a number, by effect for a category."""
    bins = learned.bins[attribute]
    if bins is None or bins.attribute.ordered:
        return np.arange(int(blocks.max()) + 1)
    effects = learned.model.effects(attribute)
    widest = effects[:, int(np.ptp(effects, axis=0).argmax())]
    means = np.bincount(blocks, weights=widest) / np.bincount(blocks)
    return np.argsort(np.argsort(means, kind="stable"), kind="stable")


def _ranked(blocks: IntArray, ranks: Sequence[IntArray]) -> IntArray:
    return np.stack([rank[blocks[:, place]] for place, rank in enumerate(ranks)], axis=1)


def _leaf_counts(
    engine: Engine, cuts: Sequence[Sequence[Block]], tree: LeafTree, ranks: Sequence[IntArray], classes: int
) -> IntArray:
    """The records per leaf and class, by cells that differ in what the tree tests."""
    tested = set(tree.attribute.tolist())
    whole = [cut if place in tested else _one_block(cut) for place, cut in enumerate(cuts)]
    occupied = engine.cells(whole)
    counts = np.zeros((tree.leaves, classes), dtype=np.int64)
    if len(occupied.blocks):
        np.add.at(counts, tree.of(_ranked(occupied.blocks, ranks)), occupied.counts)
    return counts


def _one_block(cut: Sequence[Block]) -> list[Block]:
    return [Block("", np.concatenate([block.codes for block in cut]))]


def _round_entries(table: Outline, learned: Learned) -> Iterator[RoundEntry]:
    for done in learned.rounds:
        yield RoundEntry(
            attribute=table.attributes[done.attribute].name,
            class_=str(table.classes.values[int(learned.model.positive[done.model])]),
            unit=done.unit,
            against=tuple(done.against.tolist()),
            within=tuple(done.within.tolist()),
            steps=tuple(done.steps.tolist()),
        )


def _tree_nodes(
    table: Outline, tree: LeafTree, cuts: Sequence[Sequence[Block]], ranks: Sequence[IntArray]
) -> Iterator[TreeTest | TreeLeaf]:
    for node in range(len(tree.attribute)):
        place = int(tree.attribute[node])
        if place < 0:
            yield TreeLeaf(leaf=int(tree.leaf[node]))
            continue
        below = np.flatnonzero(ranks[place] <= tree.threshold[node]).tolist()
        yield TreeTest(
            attribute=table.attributes[place].name,
            labels=tuple(cuts[place][block].label for block in below),
            left=int(tree.left[node]),
            right=int(tree.right[node]),
        )
