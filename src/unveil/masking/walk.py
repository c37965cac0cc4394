"""The walk down a tree of boxes: from the cells of a row to the node where it ends, and to the labels there.

Cells are whole numbers for values in domain order, so that every label in a tree is a range of them. All rows take a
step at once, by a table of where each cell leads from each node; no loop has to be compiled before. A chain of rests
(one value split off after the other) is walked in one step, because rows would otherwise take thousands of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

import numpy as np

from unveil.arrays import CodeArray, IntArray
from unveil.cores import each
from unveil.errors import ReleaseError
from unveil.masking.boxes import LEAF, BoxTree, Split
from unveil.masking.entries import AnyMasking, AsIs, Discretization, Masked, Suppression
from unveil.schema import value_text

UNSEEN = -1
"""The cell of a value that has no block."""
NONE = -1
TABLE = 1 << 23
"""This many steps are put into a table; a tree with more is searched at every step, which takes six times as long."""
BLOCK = 1 << 17
"""How many rows are placed at a time, so that their cells stay in the cache."""


Range = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one attribute."""

    entry: Masked
    texts: tuple[str, ...]
    """What each cell is: a block, a leaf of a taxonomy, or a disclosed value; no texts for intervals."""
    ranges: dict[str, Range]
    """The first cell of each label, and the one after its last. A rest covers no range itself."""

    @property
    def number(self) -> int:
        """How many there are."""
        if self.entry.local and isinstance(self.entry, Discretization):
            return len(_edges(self.entry)) - 1
        return len(self.texts) + (self.entry.local and isinstance(self.entry, Suppression))

    def of(self, values: Sequence[Any]) -> IntArray:
        """The cell of each value; -1 for one that has no block."""
        entry, other = self.entry, UNSEEN
        if not entry.local:
            texts = entry.labels(values)
        elif isinstance(entry, Discretization):
            edges, numbers = _edges(entry), entry.places(values)
            inside = (numbers >= edges[0]) & (numbers < edges[-1])
            return np.where(inside, np.searchsorted(edges, numbers, side="right") - 1, UNSEEN)
        else:
            texts = [None if value is None else value_text(value) for value in values]
            other = len(self.texts) if isinstance(entry, Suppression) else UNSEEN
        cell_of = {text: cell for cell, text in enumerate(self.texts)}
        return np.array([UNSEEN if text is None else cell_of.get(text, other) for text in texts], dtype=np.int64)


def _cells(name: str, columns: Mapping[str, AnyMasking], tree: BoxTree) -> Cells:
    """The cells of an attribute; refuses a label that covers no range, or of which nothing says what it covers."""
    entry = columns.get(name)
    if entry is None or isinstance(entry, AsIs):
        raise ReleaseError(f"boxes: {name!r} is not a masked attribute.")
    if not entry.shown:
        raise ReleaseError(f"masking: {name!r} has no block.")
    if not entry.local:
        return Cells(entry, entry.shown, _ranges_above(name, entry, _splits(tree, name)))
    if isinstance(entry, Discretization):
        place_of = {edge: place for place, edge in enumerate(_edges(entry).tolist())}
        return Cells(entry, (), {label: (place_of[lo], place_of[hi]) for label, (lo, hi) in entry.spans.items()})
    if isinstance(entry, Suppression):
        return Cells(entry, entry.disclosed, _one_each(entry.disclosed))
    leaves = entry.blocks[0].values
    leaf_of = {leaf: place for place, leaf in enumerate(leaves)}
    blocks = (block for block in entry.blocks if not block.rest)
    return Cells(entry, leaves, {block.label: _range(name, block.label, block.values, leaf_of) for block in blocks})


def _splits(tree: BoxTree, name: str) -> list[Split]:
    """The splits by an attribute."""
    return [split for split in tree.splits if split.attribute == name]


def _one_each(labels: Sequence[str]) -> dict[str, Range]:
    return {label: (place, place + 1) for place, label in enumerate(labels)}


def _range(name: str, label: str, values: Sequence[str], leaf_of: dict[str, int]) -> Range:
    """The leaves of a taxonomy label, which are next to each other."""
    places = [leaf_of.get(value, UNSEEN) for value in values]
    first = min(places, default=UNSEEN)
    if first == UNSEEN or places != list(range(first, first + len(places))):
        raise ReleaseError(f"masking: {name!r}: the values of {label!r} are not a range of the values of its root.")
    return first, first + len(places)


def _ranges_above(name: str, entry: Masked, splits: Iterable[Split]) -> dict[str, Range]:
    """The blocks of a cut that each label covers, from the blocks themselves up to the root.

    The splits say which blocks a coarser label covers.
    """
    ranges = _one_each(entry.shown)
    parts: dict[str, set[str]] = {}
    for split in splits:
        parts.setdefault(split.block, set()).update(set(split.into) - {split.block})
    try:
        order = list(TopologicalSorter(parts).static_order())
    except CycleError as error:
        raise ReleaseError(f"boxes: {name!r}: {error.args[1][0]!r} is a part of itself.") from error
    for label in order:
        below = [ranges[part] for part in [*parts.get(label, ()), label] if part in ranges]
        if not below:
            raise ReleaseError(f"boxes: {name!r}: nothing says what {label!r} covers.")
        ranges[label] = (min(lo for lo, _ in below), max(hi for _, hi in below))
    return ranges


def _edges(entry: Discretization) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Where the intervals of a vocabulary begin and end, in ascending order."""
    return np.unique(list(entry.spans.values()))


class _Ranges(NamedTuple):
    """Ranges of cells and where they lead, in ascending order of the node that holds them and of the cells."""

    holder: IntArray
    start: IntArray
    stop: IntArray
    child: IntArray


class Steps:
    """Where a walk goes from each node."""

    def __init__(self, attribute: IntArray, sizes: IntArray, ranges: _Ranges, rest: IntArray) -> None:
        """Prepares the table of all steps, unless there are too many.

        Args:
            attribute: The attribute that a node tests, by its place in the tree; -1 for a leaf.
            sizes: How many cells each attribute has.
            ranges: The cells that lead from a node to a child of its own.
            rest: The node that all other cells lead to; -1 for none.
        """
        self._attribute, self._ranges, self._rest = attribute, ranges, rest
        self._leaf = attribute == NONE
        self._stride = int(sizes.max(initial=0)) + 1
        self._keys = ranges.holder * self._stride + ranges.start
        width = np.where(self._leaf, 0, sizes[attribute])
        self._first = np.cumsum(width) - width
        self._table: CodeArray | None = None
        if width.sum() <= TABLE:
            node = np.repeat(np.arange(len(attribute)), width)
            self._table = self._searched(node, np.arange(len(node)) - self._first[node]).astype(np.int32)

    def ends(self, cells: CodeArray) -> CodeArray:
        """The node where each row of cells ends: at a leaf, or where its cell is -1 or no part covers it."""
        ends: CodeArray = np.zeros(len(cells), dtype=np.int32)
        live = np.arange(0 if self._leaf[0] else len(cells))
        node, flat = np.zeros(len(live), dtype=np.int64), cells.ravel()
        while len(live):
            following = self._following(node, flat[live * cells.shape[1] + self._attribute[node]])
            ends[live] = np.where(following == NONE, node, following)
            goes_on = ~self._leaf[following]  # the last node, which -1 gives, is a leaf
            live, node = live[goes_on], following[goes_on]
        return ends

    def _following(self, node: IntArray, cell: CodeArray) -> IntArray:
        found = self._searched(node, cell) if self._table is None else self._table[self._first[node] + cell]
        return np.where(cell == UNSEEN, np.int64(NONE), found)

    def _searched(self, node: IntArray, cell: IntArray | CodeArray) -> IntArray:
        """The child that each cell leads to from each node; -1 for none."""
        if not len(self._keys):
            return self._rest[node]
        ranges = self._ranges
        place = np.searchsorted(self._keys, node * self._stride + cell, side="right") - 1
        own = (ranges.holder[place] == node) & (cell >= ranges.start[place]) & (cell < ranges.stop[place])
        return np.where(own, ranges.child[place], self._rest[node])


class Walk:
    """A tree of boxes, ready to place rows."""

    def __init__(self, tree: BoxTree, columns: Mapping[str, AnyMasking]) -> None:
        """Prepares the walk; refuses a tree that does not fit the columns, or is not a tree of boxes."""
        self.tree = tree
        self.attributes = tree.attributes
        self.cells: dict[str, Cells] = {name: _cells(name, columns, tree) for name in tree.attributes}
        self.local = tuple(name for name, held in self.cells.items() if held.entry.local)
        """The attributes whose labels the tree gives; the others have their cut."""
        _check_splits(tree, self.cells)
        self.parent, self._part = tree.edges()
        self._split_at = np.array(tree.order, dtype=np.int64)
        is_leaf = self._split_at == LEAF
        self.leaf_of: IntArray = np.where(is_leaf, np.cumsum(is_leaf) - 1, NONE)
        """The number of the leaf that each node is; -1 for an inner node."""
        self._parts = _Parts(tree, self.cells)
        self._steps = self._prepared()
        self._labels = self._inherited()

    def nodes(self, codes: Sequence[CodeArray], cell_of: Sequence[IntArray]) -> CodeArray:
        """The node where each row ends, from its codes and the cell of each code, per attribute of the tree.

        A row whose cell is -1, or that no part covers, ends at the node that tests it: not at a leaf.
        """
        ends: CodeArray = np.empty(len(codes[0]), dtype=np.int32)
        lookups = [lookup.astype(np.int32) for lookup in cell_of]

        def place(start: int) -> None:
            part = slice(start, start + BLOCK)
            rows = np.stack([cell[code[part]] for cell, code in zip(lookups, codes, strict=True)], axis=1)
            ends[part] = self._steps.ends(rows)

        each(place, range(0, len(ends), BLOCK))
        return ends

    def labels(self, name: str) -> tuple[tuple[str, ...], IntArray]:
        """The labels of an attribute in this tree, and for each node the place of its label among them."""
        column = self.attributes.index(name)
        return self._parts.labels[column], self._labels[:, column]

    def _prepared(self) -> Steps:
        """The ranges of all nodes, each chain of rests gathered in its first node."""
        parts, above = self._parts, self.parent[1:]
        edge = parts.first[self._split_at[above]] + self._part[1:]
        inner = self._split_at != LEAF
        attribute = np.where(inner, parts.attribute_of_split[self._split_at], NONE)
        into_rest = np.zeros(len(inner), dtype=np.bool_)
        into_rest[1:] = parts.is_rest[edge]
        with_rest = inner & parts.has_rest[self._split_at]
        chained = into_rest & with_rest & (attribute == attribute[self.parent])
        owner = _last(np.where(chained, self.parent, np.arange(len(inner))))
        rest = np.full(len(inner), NONE, dtype=np.int64)
        nodes = np.arange(1, len(inner))
        np.maximum.at(rest, owner[above[parts.is_rest[edge]]], nodes[parts.is_rest[edge]])
        own = ~parts.is_rest[edge]
        holder, start, stop, child = owner[above[own]], parts.start[edge[own]], parts.stop[edge[own]], nodes[own]
        order = np.lexsort((start, holder))
        holder, start, stop = holder[order], start[order], stop[order]
        if ((holder[1:] == holder[:-1]) & (start[1:] < stop[:-1])).any():
            raise ReleaseError("boxes: two parts of a split overlap.")
        sizes = np.array([self.cells[name].number for name in self.attributes], dtype=np.int64)
        return Steps(attribute, sizes, _Ranges(holder, start, stop, child[order]), rest)

    def _inherited(self) -> IntArray:
        """The label of every attribute at every node."""
        parts, nodes = self._parts, np.arange(1, len(self.parent))
        edge = parts.first[self._split_at[self.parent[1:]]] + self._part[1:]
        found: IntArray = np.empty((len(self.parent), len(self.attributes)), dtype=np.int64)
        for place in range(len(self.attributes)):
            changes = parts.attribute_of_part[edge] == place
            source = _last(np.concatenate([[0], np.where(changes, nodes, self.parent[1:])]))
            found[:, place] = np.concatenate([[0], parts.label_of_part[edge]])[source]
        inner = np.flatnonzero(self._split_at != LEAF)
        number = self._split_at[inner]
        wrong = found[inner, parts.attribute_of_split[number]] != parts.block_of_split[number]
        if wrong.any():
            node = int(inner[np.argmax(wrong)])
            split = self.tree.splits[self.tree.order[node]]
            raise ReleaseError(f"boxes: node {node} does not hold {split.block!r} of {split.attribute!r} to split it.")
        return found


class _Parts:
    """The parts of all splits, one after the other."""

    def __init__(self, tree: BoxTree, held: Mapping[str, Cells]) -> None:
        place_of = {name: place for place, name in enumerate(tree.attributes)}
        numbers: list[dict[str, int]] = [_numbered(name, tree, held[name]) for name in tree.attributes]
        self.labels = [tuple(labels) for labels in numbers]
        self.first = np.cumsum([0, *(len(split.into) for split in tree.splits)])
        self.attribute_of_split = _ints(place_of[split.attribute] for split in tree.splits)
        self.block_of_split = _ints(numbers[place_of[split.attribute]][split.block] for split in tree.splits)
        self.has_rest = np.array([*(split.has_rest for split in tree.splits), False], dtype=np.bool_)
        parts = [(split, label) for split in tree.splits for label in split.into]
        self.attribute_of_part = _ints(place_of[split.attribute] for split, _ in parts)
        self.label_of_part = _ints(numbers[place_of[split.attribute]][label] for split, label in parts)
        self.is_rest = np.array([split.has_rest and label == split.into[-1] for split, label in parts], dtype=np.bool_)
        ranges = [
            (0, 0) if rest else held[split.attribute].ranges[label]
            for (split, label), rest in zip(parts, self.is_rest, strict=True)
        ]
        self.start, self.stop = (_ints(bounds[end] for bounds in ranges) for end in (0, 1))


def _numbered(name: str, tree: BoxTree, held: Cells) -> dict[str, int]:
    """The labels of an attribute, that of the root first: the block of its first split, or else of the vocabulary."""
    labels = [label for split in _splits(tree, name) for label in (split.block, *split.into)]
    root = held.entry.marker if isinstance(held.entry, Suppression) else held.entry.shown[0]
    return {label: place for place, label in enumerate(dict.fromkeys(labels or [root]))}


def _check_splits(tree: BoxTree, held: Mapping[str, Cells]) -> None:
    for split in tree.splits:
        if split.attribute not in held:
            raise ReleaseError(f"boxes: a split is about {split.attribute!r}, which is not an attribute of its tree.")
        own = split.into[:-1] if split.has_rest else split.into
        if strange := [label for label in own if label not in held[split.attribute].ranges]:
            raise ReleaseError(f"boxes: {split.attribute!r}: nothing says what {strange[0]!r} covers.")


def _ints(numbers: Iterable[int]) -> IntArray:
    """The numbers, and one more that no node uses: a leaf has the split -1."""
    return np.array([*numbers, 0], dtype=np.int64)


def _last(above: IntArray) -> IntArray:
    """Where each node ends up if it goes on until a node leads to itself: every round doubles the way."""
    while True:
        further = above[above]
        if np.array_equal(further, above):
            return above
        above = further
