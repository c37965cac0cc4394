"""An interactive ε-DP tree learner, the rival that DiffGen is measured against.

After DiffP-C4.5 (Friedman and Schuster, "Data mining with differential privacy", KDD 2010), with the Max operator. Down
to a depth d, every node spends ε' = ε / ((2 + n) d + 2): a noisy count that decides whether to go on, a split point for
each of the n numbers, and the attribute to split on, the last two by the exponential mechanism. A leaf spends another
ε' on its class counts. The nodes of one depth are disjoint, so each depth is charged once. The tree is pruned by C4.5's
pessimistic estimate on the noisy counts, which costs nothing.

Simpler than the paper: split points are drawn from the declared grid of a number, counts get geometric instead of
Laplace noise, and the noisy counts of a node and its children are not made consistent before pruning. A number can be
split again further down, a category cannot.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from reproduce.contingency import domain_places, domain_sizes
from unveil.arrays import IntArray
from unveil.noise import Ledger, Source, TwoSidedGeometric, below, exponential_choice
from unveil.tables import Table

CONFIDENCE = 0.25
"""C4.5's default: how pessimistic pruning is."""

Ranges = tuple[tuple[int, int], ...]
"""For each attribute which places of its domain a node can hold, `[lo, hi)`."""


@dataclass
class TreeNode:
    """A node: noisy class counts if it is a leaf, else an attribute and the children that its values lead to."""

    rows: IntArray
    """Which records it holds while it grows; none in a finished tree, which must not tell."""
    ranges: Ranges
    counts: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    column: int = -1
    starts: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """The first place of each child."""
    children: list[TreeNode] = field(default_factory=list)

    def leaves(self) -> Iterator[TreeNode]:
        """The leaves below this node, or itself."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def forget(self) -> None:
        """Forgets the records."""
        self.rows = self.rows[:0]
        for child in self.children:
            child.forget()

    def prune(self) -> float:
        """Makes leaves of nodes whose children do not pay; gives the pessimistic number of errors of what is left."""
        if not self.children:
            return _pessimistic_errors(self.counts)
        below_ = sum(child.prune() for child in self.children)
        self.counts = np.sum([child.counts for child in self.children], axis=0)
        alone = _pessimistic_errors(self.counts)
        if alone > below_:
            return below_
        self.children = []
        return alone


class PrivateTree:
    """A grown tree. It is ε-DP, and so is everything it says about other rows."""

    def __init__(self, root: TreeNode) -> None:
        self.root = root

    def classify(self, table: Table) -> IntArray:
        """The class of each record of a table with the same declared domains."""
        places = [domain_places(table, column) for column in range(len(table.columns))]
        found = np.zeros(table.rows, dtype=np.int64)
        self._descend(self.root, places, np.arange(table.rows), found)
        return found

    def _descend(self, node: TreeNode, places: Sequence[IntArray], rows: IntArray, found: IntArray) -> None:
        if not node.children:
            found[rows] = int(node.counts.argmax())
            return
        branch = np.searchsorted(node.starts, places[node.column][rows], side="right") - 1
        for number, child in enumerate(node.children):
            self._descend(child, places, rows[branch == number], found)


def grow_private_tree(table: Table, ledger: Ledger, depth: int, source: Source) -> PrivateTree:
    """Learns a tree for all that is left of a budget.

    Args:
        table: The training records; every domain is declared.
        ledger: What the queries are charged to.
        depth: How many attributes a path tests at most.
        source: The randomness.
    """
    return PrivateTree(_Grower(table, ledger, depth, source).grow())


class _Grower:
    def __init__(self, table: Table, ledger: Ledger, depth: int, source: Source) -> None:
        if table.weight is not None:
            raise ValueError("the private tree counts rows and has no use for weights")
        self._sizes = domain_sizes(table)
        self._places = [domain_places(table, column) for column in range(len(table.columns))]
        self._numbers = [column for column, item in enumerate(table.attributes) if item.ordered]
        self._classes = table.classes.codes.astype(np.int64)
        self._width = len(table.classes)
        self._ledger = ledger
        self._depth = depth
        self._source = source
        self._share = ledger.left / ((2 + len(self._numbers)) * depth + 2)
        self._rate = self._share / 2  # the Max operator has sensitivity 1
        self._noise = TwoSidedGeometric(self._share, source)
        # A node is worth splitting while the noise in every child does not hide its classes (Algorithm 1, line 6).
        widest = max(2 if column in self._numbers else size for column, size in enumerate(self._sizes))
        self._enough = math.sqrt(2) / float(self._share) * widest * self._width

    def grow(self) -> TreeNode:
        root = TreeNode(np.arange(len(self._classes)), tuple((0, size) for size in self._sizes))
        level = [root]
        for depth in range(self._depth):
            self._charge(f"counts at depth {depth}")
            going_on = [node for node in level if len(node.rows) + int(self._noise.draw(1)[0]) >= self._enough]
            for column in self._numbers:
                self._charge(f"splits of attribute {column} at depth {depth}")
            self._charge(f"attributes at depth {depth}")
            level = [child for node in going_on for child in self._split(node)]
        self._charge(f"counts at depth {self._depth}")  # the paper counts here too, and then does not look
        self._charge("class counts of the leaves")
        for leaf in root.leaves():
            counts = np.bincount(self._classes[leaf.rows], minlength=self._width)
            leaf.counts = np.maximum(counts + self._noise.draw(self._width), 0)
        root.forget()
        root.prune()
        return root

    def _charge(self, purpose: str) -> None:
        self._ledger.charge(purpose, self._share, "parallel")

    def _split(self, node: TreeNode) -> list[TreeNode]:
        open_ = [column for column, (lo, hi) in enumerate(node.ranges) if hi - lo > 1]
        if not open_:
            return []
        starts = [self._starts(node, column) for column in open_]
        scores = np.array([self._score(node, *option) for option in zip(open_, starts, strict=True)])
        chosen = exponential_choice(scores, self._rate, np.ones_like(scores), self._source)
        node.column, node.starts = open_[chosen], starts[chosen]
        end_of_all = node.ranges[node.column][1]
        ends = [*node.starts[1:].tolist(), end_of_all]
        branch = self._branch(node, node.column, node.starts)
        for number, (start, end) in enumerate(zip(node.starts.tolist(), ends, strict=True)):
            ranges = (*node.ranges[: node.column], (start, end), *node.ranges[node.column + 1 :])
            node.children.append(TreeNode(node.rows[branch == number], ranges))
        return node.children

    def _starts(self, node: TreeNode, column: int) -> IntArray:
        lo, hi = node.ranges[column]
        if column not in self._numbers:
            return np.arange(lo, hi)
        return np.array([lo, self._split_point(node, column, lo, hi)])

    def _split_point(self, node: TreeNode, column: int, lo: int, hi: int) -> int:
        """A place in (lo, hi), by the exponential mechanism; all places between two values divide the rows alike."""
        values, inverse = np.unique(self._places[column][node.rows], return_inverse=True)
        counts = _counted(inverse, self._classes[node.rows], len(values), self._width)
        ends = np.concatenate([[lo], values, [hi - 1]])
        left = np.concatenate([np.zeros((1, self._width), dtype=np.int64), np.cumsum(counts, axis=0)])
        scores = left.max(axis=1) + (left[-1] - left).max(axis=1)
        sizes = np.diff(ends)
        held = np.flatnonzero(sizes > 0)
        chosen = int(held[exponential_choice(scores[held], self._rate, sizes[held], self._source)])
        return int(ends[chosen]) + 1 + below(self._source, int(sizes[chosen]))

    def _branch(self, node: TreeNode, column: int, starts: IntArray) -> IntArray:
        return np.searchsorted(starts, self._places[column][node.rows], side="right") - 1

    def _score(self, node: TreeNode, column: int, starts: IntArray) -> int:
        """The Max operator: how many records the children's majorities have right."""
        counts = _counted(self._branch(node, column, starts), self._classes[node.rows], len(starts), self._width)
        return int(counts.max(axis=1).sum())


def _counted(groups: IntArray, classes: IntArray, size: int, width: int) -> IntArray:
    return np.bincount(groups.ravel() * width + classes, minlength=size * width).reshape(size, width).astype(np.int64)


def _pessimistic_errors(counts: IntArray) -> float:
    """C4.5: the errors of a leaf, and as many more as its confidence limit allows for."""
    total = int(counts.sum())
    wrong = total - int(counts.max())
    if wrong == 0:
        return total * (1 - CONFIDENCE ** (1 / total)) if total else 0.0
    if wrong + 0.5 >= total:
        return float(total)
    z = NormalDist().inv_cdf(1 - CONFIDENCE)
    rate = (wrong + 0.5) / total
    spread = z * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    return total * (rate + z * z / (2 * total) + spread) / (1 + z * z / total)


def private_error(tree: PrivateTree, test: Table) -> float:
    """The share of test records that a tree classifies as what they are not."""
    return float(np.mean(tree.classify(test) != test.classes.codes))
