"""Publishing under ε-differential privacy by an additive model: rounds, the cut, cells, leaves, and the release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from unveil.arrays import FloatArray, IntArray, grouped, packed_keys
from unveil.counting import Engine, used_rows
from unveil.counting.released import ranked
from unveil.masking import Block
from unveil.noise import Ledger, Source
from unveil.progress import Watcher, unwatched
from unveil.publishers.additive.bins import Bins, block_of_bins, cut_of
from unveil.publishers.additive.cells import LeafTree, corrected, drawn_bins, grown
from unveil.publishers.additive.rounds import Draws, Learned, learn, noise_variance
from unveil.publishers.private import private_claims
from unveil.release import AdditiveManifest, Release, RoundEntry, TreeLeaf, TreeTest
from unveil.schema import WEIGHT, AdditivePlan, Spec
from unveil.tables import Outline

DECIMALS = 6
"""Weights are rounded to this many decimals; a cell whose weight is then zero is not listed."""


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
    learned = learn(table, engine, draws, progress)
    blocks = [_blocks(learned, place) for place in range(len(table.attributes))]
    cuts = [
        cut_of(attribute, domain, bins, held)
        for attribute, domain, bins, held in zip(table.attributes, table.columns, learned.bins, blocks, strict=True)
    ]
    cells = Cells(learned, blocks)
    ranks = [_ranks(learned, place, held) for place, held in enumerate(blocks)]
    leaves = ledger.left
    rate = draws.per_record(leaves)
    tree = grown(_ranked(cells.blocks, ranks), cells.weights, float(rate))
    progress("counting leaves", 0, None)
    counts = _leaf_counts(engine, cuts, tree, ranks, len(table.classes))
    noisy = draws.noisy("counts of the leaves", counts, 1, leaves)
    weights = corrected(cells.weights, tree.of(_ranked(cells.blocks, ranks)), noisy, noise_variance(rate))
    rows = _rows(table, cuts, cells.blocks, np.round(weights, DECIMALS))
    manifest = AdditiveManifest(
        **private_claims(table, spec, plan, ledger, source, cuts, version),
        totals=tuple(learned.totals.tolist()),
        base=tuple(learned.model.base.tolist()),
        bins=_bin_labels(table, learned, cuts, blocks),
        rounds=tuple(_round_entries(table, learned)),
        tree=tuple(_tree_nodes(table, tree, cuts, ranks)),
        leaves=tuple(tuple(row) for row in noisy.tolist()),
        cells=len(cells.blocks),
    )
    return Release(rows, manifest)


class Cells:
    """The cells that the points fall into, and the records that the model expects in each."""

    def __init__(self, learned: Learned, blocks: Sequence[IntArray]) -> None:
        """Draws the points and merges those of one cell; `blocks` has the block of each bin, for every attribute."""
        bins = drawn_bins(learned)
        points = np.stack([held[bins[:, place]] for place, held in enumerate(blocks)], axis=1)
        chances = learned.model.chances(bins) * (learned.model.totals.sum() / len(bins))
        found = grouped(packed_keys(list(points.T), [int(held.max()) + 1 for held in blocks]))
        self.blocks: IntArray = points[found.order[found.starts]]
        """One row per cell, one column per attribute."""
        self.weights: FloatArray = np.add.reduceat(chances[found.order], found.starts, axis=0)
        """The expected records per class."""


def _blocks(learned: Learned, attribute: int) -> IntArray:
    """The block of each bin of an attribute."""
    bins = learned.bins[attribute]
    if bins is None:
        return np.zeros(1, dtype=np.int64)
    return block_of_bins(bins, learned.model.effects(attribute))


def _ranks(learned: Learned, attribute: int, blocks: IntArray) -> IntArray:
    """The rank of each block: by place for a number, by effect for a category."""
    bins = learned.bins[attribute]
    if bins is None or bins.attribute.ordered:
        return np.arange(int(blocks.max()) + 1)
    effects = learned.model.effects(attribute)
    widest = effects[:, int(np.ptp(effects, axis=0).argmax())]
    means = np.bincount(blocks, weights=widest) / np.bincount(blocks)
    ranks: IntArray = np.argsort(np.argsort(means, kind="stable"), kind="stable")
    return ranks


def _ranked(blocks: IntArray, ranks: Sequence[IntArray]) -> IntArray:
    return np.stack([rank[blocks[:, place]] for place, rank in enumerate(ranks)], axis=1)


def _leaf_counts(
    engine: Engine, cuts: Sequence[Sequence[Block]], tree: LeafTree, ranks: Sequence[IntArray], classes: int
) -> IntArray:
    """The records per leaf and class."""
    occupied = engine.cells(cuts)
    counts = np.zeros((tree.leaves, classes), dtype=np.int64)
    if len(occupied.blocks):
        np.add.at(counts, tree.of(_ranked(occupied.blocks, ranks)), occupied.counts)
    return counts


def _rows(table: Outline, cuts: Sequence[Sequence[Block]], blocks: IntArray, weights: FloatArray) -> pa.Table:
    """One row per cell and class whose weight is not zero, sorted by its values as the rows of any release are."""
    cell, class_ = np.nonzero(weights > 0)
    labels = [*(pa.array([block.label for block in cut]) for cut in cuts), table.classes.array]
    names = [*(attribute.name for attribute in table.attributes), table.classes.name]
    codes = [*blocks[cell].T, class_]
    columns = [
        ranked(name, of, np.bincount(held, minlength=len(of)) > 0)
        for name, of, held in zip(names, labels, codes, strict=True)
    ]
    ranks = [column.rank_of[held] for column, held in zip(columns, codes, strict=True)]
    order = grouped(packed_keys(ranks, [len(column.values) for column in columns])).order
    rows = {column.name: column.column(rank[order]) for column, rank in zip(columns, ranks, strict=True)}
    return pa.table({**rows, WEIGHT: pa.array(weights[cell, class_][order])})


def _bin_labels(
    table: Outline, learned: Learned, cuts: Sequence[Sequence[Block]], blocks: Sequence[IntArray]
) -> dict[str, dict[str, str]]:
    """The bins of every attribute that was measured, and the block of each."""
    return {
        table.attributes[place].name: {
            label: cuts[place][block].label
            for label, block in zip(_labels(learned.bins[place], table, place), blocks[place].tolist(), strict=True)
        }
        for place in sorted({done.attribute for done in learned.rounds})
    }


def _labels(bins: Bins | None, table: Outline, place: int) -> tuple[str, ...]:
    if bins is not None and bins.nodes:
        return tuple(node.label for node in bins.nodes)  # a block would take the label of a node above an only child
    single = np.arange(1 if bins is None else bins.size)
    return tuple(block.label for block in cut_of(table.attributes[place], table.columns[place], bins, single))


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
