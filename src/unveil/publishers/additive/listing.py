"""From points to a release: the cells they fall into, the listed rows, and the labels of bins. All post-processing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa

from unveil.arrays import FloatArray, IntArray, grouped, packed_keys
from unveil.counting.released import ranked
from unveil.masking import Block
from unveil.publishers.additive.bins import Bins, cut_of
from unveil.schema import WEIGHT
from unveil.tables import Outline

DECIMALS = 6
"""Weights are rounded to this many decimals; a cell whose weight is then zero is not listed."""


class Cells:
    """The cells that points fall into, and the records that are expected in each."""

    def __init__(self, bins: IntArray, blocks: Sequence[IntArray], records: FloatArray) -> None:
        """Merges the points of one cell.

        Args:
            bins: One row per point, one column per attribute.
            blocks: For every attribute the block of each bin.
            records: How many records a point represents, per class.
        """
        points = np.stack([held[bins[:, place]] for place, held in enumerate(blocks)], axis=1)
        found = grouped(packed_keys(list(points.T), [int(held.max()) + 1 for held in blocks]))
        self.blocks: IntArray = points[found.order[found.starts]]
        """One row per cell, one column per attribute."""
        self.weights: FloatArray = np.add.reduceat(records[found.order], found.starts, axis=0)
        """The expected records per class."""


def listed_rows(table: Outline, cuts: Sequence[Sequence[Block]], blocks: IntArray, weights: FloatArray) -> pa.Table:
    """One row per cell and class whose weight is not zero, sorted by its values as the rows of any release are."""
    weights = np.round(weights, DECIMALS)
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


def bin_labels(
    table: Outline,
    measured: Collection[int],
    bins: Sequence[Bins | None],
    cuts: Sequence[Sequence[Block]],
    blocks: Sequence[IntArray],
) -> dict[str, dict[str, str]]:
    """The bins of every attribute that was measured, and the block of each."""
    return {
        table.attributes[place].name: {
            label: cuts[place][block].label
            for label, block in zip(_labels(bins[place], table, place), blocks[place].tolist(), strict=True)
        }
        for place in sorted(measured)
    }


def _labels(bins: Bins | None, table: Outline, place: int) -> tuple[str, ...]:
    if bins is not None and bins.nodes:
        return tuple(node.label for node in bins.nodes)  # a block would take the label of a node above an only child
    single = np.arange(1 if bins is None else bins.size)
    return tuple(block.label for block in cut_of(table.attributes[place], table.columns[place], bins, single))
