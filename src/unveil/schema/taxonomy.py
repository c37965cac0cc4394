"""Taxonomy trees: what a categorical value may be generalized to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass

from unveil import html
from unveil.errors import TaxonomyError, count_text

SUPPRESSED = "⊥"
"""The label of a suppressed value."""

OBSERVED = "observed:"
"""How a comment begins that marks a taxonomy as drafted from the data."""

DEEPEST = 100
"""How many levels a taxonomy may have. More than people use; trees are walked recursively."""

Branch = tuple[str, list["Branch"]]
"""A tree as read from a file: a label and the branches below it."""


@dataclass(frozen=True)
class Node:
    """A node of the taxonomy. It covers the leaves `[lo, hi)` in tree order."""

    label: str
    children: tuple[Node, ...]
    lo: int
    hi: int

    @property
    def height(self) -> int:
        """The longest way down to a leaf."""
        return max((1 + child.height for child in self.children), default=0)

    def walk(self) -> Iterator[Node]:
        """This node and all below it, parents before children."""
        yield self
        for child in self.children:
            yield from child.walk()

    def level(self, depth: int) -> list[Node]:
        """The nodes at a depth below this one, and the leaves that end above it."""
        if depth == 0 or not self.children:
            return [self]
        return [below for child in self.children for below in child.level(depth - 1)]


class Taxonomy:
    """A tree of distinct labels. Leaves are numbered in tree order, so that every node is a range of leaves."""

    def __init__(self, branch: Branch, origin: str = "taxonomy", observed: str | None = None) -> None:
        """Builds the tree and checks it.

        Args:
            branch: The tree, labels only.
            origin: What error messages call it: a file name.
            observed: For a tree that was drafted from data, how; its leaves are then not public.
        """
        self.origin = origin
        self.observed = observed
        self._leaves: list[str] = []
        self._nodes: dict[str, Node] = {}
        self.root = self._grow(branch, path=())
        if not self.root.children:
            raise TaxonomyError(f"{origin}: the root {self.root.label!r} has nothing below it.")
        self.leaves = tuple(self._leaves)

    def _grow(self, branch: Branch, path: tuple[str, ...]) -> Node:
        label, below = branch
        while len(below) == 1 and below[0][0] == label:
            # ARX repeats a value that does not change on the next level: it is the same block.
            label, below = below[0]
        self._check_label(label, path)
        lo = len(self._leaves)
        if not below:
            self._leaves.append(label)
        children = tuple(self._grow(child, (*path, label)) for child in below)
        node = Node(label, children, lo, len(self._leaves))
        if label in self._nodes:
            kind = "leaf" if not below else "label"
            raise TaxonomyError(f"{self.origin}: the {kind} {label!r} appears twice.")
        self._nodes[label] = node
        return node

    def _check_label(self, label: str, path: tuple[str, ...]) -> None:
        if label in path:
            raise TaxonomyError(f"{self.origin}: the label {label!r} is below itself: a cycle.")
        if not label:
            raise TaxonomyError(f"{self.origin}: a label is empty.")
        if len(path) >= DEEPEST:
            raise TaxonomyError(f"{self.origin}: the label {label!r} is more than {DEEPEST} levels deep.")
        if label == SUPPRESSED:
            raise TaxonomyError(f"{self.origin}: the label {SUPPRESSED!r} is reserved for suppressed values.")

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels, parents before children."""
        return tuple(node.label for node in self.root.walk())

    @property
    def inner_labels(self) -> frozenset[str]:
        """The labels that are not raw values."""
        return frozenset(node.label for node in self.root.walk() if node.children)

    def node(self, label: str) -> Node:
        """The node with this label."""
        return self._nodes[label]

    def leaves_of(self, label: str) -> tuple[str, ...]:
        """The raw values below a label."""
        node = self._nodes[label]
        return self.leaves[node.lo : node.hi]

    def __contains__(self, label: object) -> bool:
        return label in self._nodes

    def declared(self) -> Taxonomy:
        """The same tree without the `observed:` mark: the owner says that its leaves are public."""
        same = copy(self)
        same.observed = None
        return same

    def with_leaves(self, labels: Sequence[str]) -> Taxonomy:
        """The same tree with more leaves, right below the root."""
        label, below = _branch(self.root)
        return Taxonomy((label, [*below, *((leaf, []) for leaf in labels)]), self.origin, self.observed)

    @property
    def depth(self) -> int:
        """The number of levels, with the root and the leaves."""
        return 1 + self.root.height

    def __str__(self) -> str:
        """The tree in the project's own format, with the `observed:` mark if it has one."""
        mark = [] if self.observed is None else [f"# {OBSERVED} {self.observed}"]
        return "\n".join([*mark, *_lines(self.root, 0)])

    def __repr__(self) -> str:
        return f"Taxonomy({self.origin}: {count_text(len(self.leaves), 'value')} below {self.root.label!r})"

    def _repr_html_(self) -> str:
        """The tree, for notebooks; it opens on a click, since there may be thousands of values."""
        return html.folded(f"{self.origin}: {count_text(len(self.leaves), 'value')}", html.preformatted(self))


def _branch(node: Node) -> Branch:
    return node.label, [_branch(child) for child in node.children]


def _lines(node: Node, depth: int) -> Iterator[str]:
    yield "  " * depth + line_label(node.label)
    for child in node.children:
        yield from _lines(child, depth + 1)


def line_label(label: str) -> str:
    """A label as a line of a tree file: unchanged, or as JSON text if it would be read differently."""
    plain = label == label.strip() and not label.startswith(("#", '"', "\ufeff")) and not set(label) & set("\r\n")
    return label if plain else json.dumps(label, ensure_ascii=False)
