"""The cut: bins that an attribute need not tell apart become one block, never finer than what was measured.

Bins are alike if their effects on the log-odds differ by little. Intervals of a number merge with their neighbours, the
children of a taxonomy node into the node, and values without a taxonomy into `⊥`, the largest set of alike values. This
uses the model only: post-processing.
"""

from __future__ import annotations

import numpy as np

from unveil.arrays import FloatArray, IntArray
from unveil.masking import Block, Scale
from unveil.publishers.additive.bins import Bins
from unveil.schema import SUPPRESSED, Attribute, Node
from unveil.tables import Domain

ALIKE = 0.15
"""Bins of a number whose log-odds differ by no more than this are not told apart."""
ALIKE_LABELS = 0.45
"""Those of a category may differ by more: its labels have no order, so each costs whoever learns from them a test."""
MOST_BLOCKS = 16
"""If there would be more blocks, bins that differ by more are merged too."""
WIDER = 1.25


def block_of_bins(bins: Bins, effects: FloatArray) -> IntArray:
    """The block of each bin, numbered in domain order; the last one is `⊥` if there is one.

    Args:
        bins: What was measured.
        effects: What each bin adds to the log-odds: `[bin, model]`.
    """
    alike = ALIKE if bins.attribute.ordered else ALIKE_LABELS
    while True:
        found = _merged(bins, effects, alike)
        if found.max() < MOST_BLOCKS:
            return found
        alike *= WIDER


def _merged(bins: Bins, effects: FloatArray, alike: float) -> IntArray:
    if bins.attribute.ordered:
        return _intervals(effects, alike)
    return _nodes(bins, effects, alike) if bins.nodes else _disclosed(effects, alike)


def _intervals(effects: FloatArray, alike: float) -> IntArray:
    """Neighbours merge while they are like the first of their interval."""
    blocks = np.zeros(len(effects), dtype=np.int64)
    start = 0
    for place in range(1, len(effects)):
        fresh = np.abs(effects[place] - effects[start]).max() > alike
        start = place if fresh else start
        blocks[place] = blocks[place - 1] + fresh
    return blocks


def _nodes(bins: Bins, effects: FloatArray, alike: float) -> IntArray:
    """The highest nodes whose bins are all alike."""
    starts = np.array([node.lo for node in bins.nodes])
    blocks = np.zeros(len(effects), dtype=np.int64)
    for number, node in enumerate(_highest(bins, effects, alike, starts)):
        blocks[_inside(node, starts)] = number
    return blocks


def _highest(bins: Bins, effects: FloatArray, alike: float, starts: IntArray) -> list[Node]:
    assert bins.attribute.taxonomy is not None  # noqa: S101 - only bins with a taxonomy have nodes
    ends = {node.lo: node.hi for node in bins.nodes}
    waiting, found = [bins.attribute.taxonomy.root], []
    while waiting:
        node = waiting.pop()
        held = effects[_inside(node, starts)]
        if ends.get(node.lo) == node.hi or np.ptp(held, axis=0).max() <= alike:
            found.append(node)
        else:
            waiting += reversed(node.children)
    return found


def _inside(node: Node, starts: IntArray) -> slice:
    return slice(*np.searchsorted(starts, [node.lo, node.hi]))


def _disclosed(effects: FloatArray, alike: float) -> IntArray:
    """Every value is a block, except for the largest set of alike values, which share the last one."""
    near = np.abs(effects[:, None, :] - effects[None, :, :]).max(axis=2) <= alike / 2
    hidden = near[int(near.sum(axis=1).argmax())]
    if hidden.sum() < 2:
        return np.arange(len(effects))
    blocks = np.cumsum(~hidden) - 1
    blocks[hidden] = (~hidden).sum()
    return blocks


def cut_of(attribute: Attribute, domain: Domain, bins: Bins | None, blocks: IntArray) -> list[Block]:
    """The blocks of an attribute with their labels and codes.

    Args:
        attribute: The attribute.
        domain: Its codes.
        bins: What was measured; None if nothing was, for one block.
        blocks: The block of each bin.
    """
    if bins is None:
        return [_whole(attribute, domain)]
    block_of = blocks[bins.of_codes(domain)]
    cut = []
    for number in range(int(blocks.max()) + 1):
        held = np.flatnonzero(blocks == number)
        codes = np.flatnonzero(block_of == number)
        cut.append(_block(bins, held, codes, alone=int(blocks.max()) == 0))
    return cut


def _whole(attribute: Attribute, domain: Domain) -> Block:
    codes = np.arange(len(domain))
    if attribute.range is not None:
        scale = Scale.of(attribute, attribute.range)
        return scale.block(scale.lo, scale.end, codes)
    return Block(SUPPRESSED if attribute.taxonomy is None else attribute.taxonomy.root.label, codes)


def _block(bins: Bins, held: IntArray, codes: IntArray, *, alone: bool) -> Block:
    """The block of some bins."""
    attribute = bins.attribute
    if attribute.range is not None:
        places = (0, *bins.thresholds, bins.grid.total)
        bounds = (bins.grid.value(places[held[0]]), bins.grid.value(places[held[-1] + 1]))
        return Scale.of(attribute, attribute.range).block(*bounds, codes)
    if attribute.taxonomy is not None:
        return Block(_node_label(bins, held), codes)
    values = attribute.values or ()
    return Block(values[held[0]] if len(held) == 1 and not alone else SUPPRESSED, codes)


def _node_label(bins: Bins, held: IntArray) -> str:
    """The highest node that covers these bins and no others."""
    lo, hi = bins.nodes[held[0]].lo, bins.nodes[held[-1]].hi
    assert bins.attribute.taxonomy is not None  # noqa: S101 - only bins with a taxonomy have nodes
    return next(node.label for node in bins.attribute.taxonomy.root.walk() if (node.lo, node.hi) == (lo, hi))
