"""Trees of boxes: which labels a row has in a release whose groups are refined one by one.

A box holds one block per attribute of a tree. An inner node splits its box by one attribute, and the leaves are the
groups. A tree may be thousands of nodes deep, so nothing here recurses. A reader sees the top levels of a tree, and how
many groups are below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unveil.arrays import IntArray
from unveil.errors import ReleaseError, count_text
from unveil.masking.entries import Entry

LEAF = -1
"""What the order of a tree has in place of a split where a group is refined no further."""
REST = ", other"
LEVELS = 3
MOST = 8
"""How many levels of a tree are shown, and how many parts of a node."""


def rest_label(label: str) -> str:
    """The label of what is left of a taxonomy node when some of its children are split off.

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
        """Whether the last part covers what the others leave, and not its own values."""
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

        Refuses an order that is not a tree of these splits.
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
    persons: int | None = None
    """How many persons have records among them, if the table says whose they are."""


@dataclass(frozen=True)
class Sketched:
    """A node, with what a reader sees below it."""

    label: str
    """What distinguishes its rows from those of its siblings, such as `age [17, 40)`."""
    groups: int
    records: int
    """How many records it holds; 0 if that is not known."""
    children: tuple[Sketched, ...] = ()
    more: int = 0
    """How many parts are not shown."""

    def lines(self, note: Callable[[Sketched], str]) -> Iterator[str]:
        """The tree as lines of text, each node with a note."""
        yield f"{self.label}: {note(self)}"
        below = [list(child.lines(note)) for child in self.children]
        below += [[f"… {self.more:,} more"]] if self.more else []
        for place, (first, *others) in enumerate(below):
            last = place == len(below) - 1
            yield f"{'└─' if last else '├─'} {first}"
            yield from (f"{'  ' if last else '│ '} {line}" for line in others)


def sketch(tree: BoxTree, records: Sequence[int] | None = None) -> Sketched:
    """The top of a tree. Values split off one after the other count as one level.

    If the records in each leaf are known, leaves without any are not groups, parts without any are not shown, and the
    largest parts come first.
    """
    parent, part = tree.edges()
    is_leaf = np.array(tree.order) == LEAF
    held, groups = np.zeros(len(is_leaf), dtype=np.int64), is_leaf.astype(np.int64)
    if records is not None:
        held[is_leaf] = records
        groups = (held > 0).astype(np.int64)
    totals = _Totals(tree, part, _children(parent), _below(parent, groups), _below(parent, held))
    return totals.sketched(0, "all rows", LEVELS)


@dataclass(frozen=True)
class _Totals:
    """What is needed to sketch any node of a tree."""

    tree: BoxTree
    part: IntArray
    children: list[list[int]]
    groups: IntArray
    records: IntArray

    def sketched(self, node: int, label: str, levels: int) -> Sketched:
        """A node with some levels below it."""
        parts = [one for one in self._parts(node) if self.groups[one[0]]] if levels else []
        shown = sorted(parts, key=lambda one: -self.records[one[0]])[:MOST]
        return Sketched(
            label,
            int(self.groups[node]),
            int(self.records[node]),
            tuple(self.sketched(child, text, levels - 1) for child, text in shown),
            len(parts) - len(shown),
        )

    def _parts(self, node: int) -> list[tuple[int, str]]:
        """The children of a node. A rest that the same attribute splits gives way to its own children."""
        found, waiting = [], [node]
        while waiting:
            above = waiting.pop()
            if self.tree.order[above] == LEAF:
                continue
            split = self.tree.splits[self.tree.order[above]]
            for child in self.children[above]:
                is_rest = split.has_rest and self.part[child] == len(split.into) - 1
                if is_rest and self._attribute(child) == split.attribute:
                    waiting.append(child)
                else:
                    found.append((child, f"{split.attribute} {split.into[self.part[child]]}"))
        return found

    def _attribute(self, node: int) -> str | None:
        return None if self.tree.order[node] == LEAF else self.tree.splits[self.tree.order[node]].attribute


def _children(parent: IntArray) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in parent]
    for node, above in enumerate(parent.tolist()):
        if above >= 0:
            found[above].append(node)
    return found


def _below(parent: IntArray, counts: IntArray) -> IntArray:
    """The counts of each node and all nodes below it; parents come before their children."""
    totals = counts.tolist()
    for node in range(len(totals) - 1, 0, -1):
        totals[parent[node]] += totals[node]
    return np.array(totals, dtype=np.int64)


def groups_text(node: Sketched) -> str:
    """How many groups a node has."""
    return count_text(node.groups, "group")
