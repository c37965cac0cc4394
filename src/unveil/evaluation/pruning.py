"""A tree pruned at several costs of a leaf, grown once (Breiman et al. 1984, minimal cost-complexity pruning)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unveil.arrays import FloatArray, IntArray

NOTHING = -1
"""What scikit-learn says of the children of a leaf."""


def leaves_above(tree: Any, costs: Sequence[float]) -> IntArray:
    """For every node and cost, the node that is its leaf in the tree pruned at that cost: itself or one above it.

    At a cost, the smallest of the best trees keeps a split where its subtree does better than one leaf by more than its
    leaves cost. Scikit-learn would grow the tree again for each.

    Args:
        tree: A grown tree of scikit-learn, its parents before their children.
        costs: What a leaf costs, in impurity weighed by the share of the records.
    """
    left, right, nodes = tree.children_left, tree.children_right, range(tree.node_count)
    alone: FloatArray = (tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0])[
        :, None
    ] + costs
    best, split = alone.copy(), np.zeros(alone.shape, dtype=np.bool_)
    for node in reversed(nodes):
        if left[node] != NOTHING:
            below = best[left[node]] + best[right[node]]
            split[node] = below < alone[node]
            best[node] = np.minimum(below, alone[node])
    leaves = np.tile(np.arange(tree.node_count)[:, None], len(costs))
    for node in nodes:
        if left[node] != NOTHING:
            grown = split[node] & (leaves[node] == node)
            for child in (left[node], right[node]):
                leaves[child] = np.where(grown, child, leaves[node])
    return leaves
