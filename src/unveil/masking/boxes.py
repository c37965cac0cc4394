"""Trees of boxes: which labels a row has in a release whose groups are refined one by one.

A box holds one block per attribute of a tree. An inner node splits its box by one attribute, and the leaves are the
groups. A tree may be thousands of nodes deep, so nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unveil.arrays import IntArray
from unveil.errors import ReleaseError
from unveil.masking.entries import Entry

LEAF = -1
"""What the order of a tree has in place of a split where a group is refined no further."""
REST = ", other"


def rest_label(label: str) -> str:
    """The label of what is left of a taxonomy node when some of its children are told apart.

    A rest that is refined further keeps its label, and so does `⊥`.
    """
    return label + REST


class Split(Entry):
    """A refinement of a block. The parts partition it; a rest comes last and covers what the others leave."""

    attribute: str
    block: str
    into: tuple[str, ...]

    @property
    def has_rest(self) -> bool:
        """Whether the last part covers what the others leave, and not values of its own."""
        return bool(self.into) and self.into[-1] in (self.block, rest_label(self.block))


class BoxTree(Entry):
    """A tree of boxes over some attributes.

    Leaves are numbered from 0 in the order in which they appear in `order`.
    """

    attributes: tuple[str, ...]
    splits: tuple[Split, ...]
    """The distinct splits, in the order of their first use."""
    order: tuple[int, ...]
    """The nodes in preorder: the place of an inner node's split in `splits`, -1 for a leaf. The children of a node
    follow in the order of the parts of its split."""

    @property
    def leaves(self) -> int:
        """The number of leaves, empty ones among them."""
        return self.order.count(LEAF)

    def edges(self) -> tuple[IntArray, IntArray]:
        """For each node its parent, and which part of the parent's split it is; -1 for the root.

        Raises:
            ReleaseError: The order is not a tree of these splits.
        """
        parent, part = [LEAF] * len(self.order), [LEAF] * len(self.order)
        unfinished: list[int] = []
        following = [0] * len(self.order)
        for node, number in enumerate(self.order):
            if node and not unfinished:
                raise ReleaseError(f"boxes: the tree ends at node {node}, but its order has {len(self.order)}.")
            if not LEAF <= number < len(self.splits) or (number != LEAF and not self.splits[number].into):
                raise ReleaseError(f"boxes: node {node} has the split {number}, which the tree does not have.")
            if unfinished:
                above = unfinished[-1]
                parent[node], part[node] = above, following[above]
                following[above] += 1
                if following[above] == len(self.splits[self.order[above]].into):
                    unfinished.pop()
            if number != LEAF:
                unfinished.append(node)
        if unfinished or not self.order:
            raise ReleaseError(f"boxes: the order of a tree ends after {len(self.order)} nodes and is not complete.")
        return np.array(parent, dtype=np.int64), np.array(part, dtype=np.int64)


@dataclass(frozen=True)
class LeftOut:
    """The rows that a search sets aside: a row is left out if it lies in such a leaf of any tree."""

    boxes: tuple[BoxTree, ...]
    """The trees of the search, one per set of attributes: those of the masking if it is local. A global release does
    not publish them; the splits say which blocks of its cuts a coarser label covers."""
    leaves: tuple[Sequence[int], ...]
    """For each tree the numbers of the leaves whose rows are left out, in any order."""
    records: int
    """How many records these are, as the search counted them. An engine that finds another number releases nothing."""
    labels: Mapping[str, str] | None = None
    """The root label of every masked attribute, if the rows are released with these; None if they are dropped."""
