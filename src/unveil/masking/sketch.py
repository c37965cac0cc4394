"""A tree of boxes as a reader sees it: its top levels, and how many groups are below."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from unveil.arrays import IntArray
from unveil.errors import count_text
from unveil.masking.boxes import LEAF, BoxTree

LEVELS = 3
MOST = 8
"""So many levels of a tree are shown, and so many parts of a node."""


@dataclass(frozen=True)
class Sketched:
    """A node, with what a reader sees below it."""

    label: str
    """What tells its rows from those of its siblings, such as `age [17, 40)`."""
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


def sketch(tree: BoxTree, records: Sequence[int] | None = None, levels: int = LEVELS, most: int = MOST) -> Sketched:
    """The top of a tree. Values told apart one after the other count as one level.

    If the records are known, leaves without any are no groups, and parts without any are not shown.

    Args:
        tree: The tree.
        records: The records in each leaf, if they are known; the largest parts are then shown first.
        levels: How many levels are shown.
        most: How many parts of a node are shown.
    """
    parent, part = tree.edges()
    is_leaf = np.array(tree.order) == LEAF
    held, groups = np.zeros(len(is_leaf), dtype=np.int64), is_leaf.astype(np.int64)
    if records is not None:
        held[is_leaf] = records
        groups = (held > 0).astype(np.int64)
    totals = _Totals(tree, part, _children(parent), _below(parent, groups), _below(parent, held))
    return totals.sketched(0, "all rows", levels, most)


@dataclass(frozen=True)
class _Totals:
    """What is needed to sketch any node of a tree."""

    tree: BoxTree
    part: IntArray
    children: list[list[int]]
    groups: IntArray
    records: IntArray

    def sketched(self, node: int, label: str, levels: int, most: int) -> Sketched:
        """A node with some levels below it."""
        parts = [one for one in self._parts(node) if self.groups[one[0]]] if levels else []
        shown = sorted(parts, key=lambda one: -self.records[one[0]])[:most]
        return Sketched(
            label,
            int(self.groups[node]),
            int(self.records[node]),
            tuple(self.sketched(child, text, levels - 1, most) for child, text in shown),
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
