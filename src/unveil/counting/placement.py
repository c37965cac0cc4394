"""Where rows lie in the trees of boxes: their nodes, and whether the search set them aside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from unveil.arrays import BoolArray, CodeArray, IntArray
from unveil.errors import BrokenPromiseError
from unveil.masking import AnyMasking, BoxTree, LeftOut, Masking
from unveil.masking.walk import Walk
from unveil.tables import Chunk, Outline


class Placement:
    """Places rows in trees of boxes, chunk by chunk. It is plain data, to be sent to workers."""

    def __init__(self, outline: Outline, columns: dict[str, AnyMasking], boxes: Sequence[BoxTree]) -> None:
        """Looks up where the values of the domains lie.

        Args:
            outline: The table without its rows.
            columns: How each attribute is masked.
            boxes: The trees.

        Raises:
            BrokenPromiseError: A value that some row holds has no block.
        """
        self.walks = Masking(columns, boxes=boxes).walks
        place_of = {domain.name: place for place, domain in enumerate(outline.columns)}
        self._places = [[place_of[name] for name in walk.attributes] for walk in self.walks]
        self._cells = [[_cells(outline, walk, name, place_of[name]) for name in walk.attributes] for walk in self.walks]

    def nodes(self, chunk: Chunk) -> list[CodeArray]:
        """For each tree the leaf of each row, by its node.

        Raises:
            BrokenPromiseError: A row has no leaf.
        """
        found = []
        for walk, places, cell_of in zip(self.walks, self._places, self._cells, strict=True):
            nodes = walk.nodes([chunk.codes[place] for place in places], cell_of)
            if (walk.leaf_of[nodes] < 0).any():
                names = ", ".join(walk.attributes)
                raise BrokenPromiseError(f"a row is in no group of {{{names}}}; nothing was released.")
            found.append(nodes)
        return found


def _cells(outline: Outline, walk: Walk, name: str, place: int) -> IntArray:
    """The cell of each code of an attribute."""
    cells = walk.cells[name].of(outline.columns[place].plain())
    if (cells[outline.histograms[place].sum(axis=1) > 0] < 0).any():
        raise BrokenPromiseError(f"{name!r} has a value without a block in its boxes; nothing was released.")
    return cells


class Aside:
    """The rows that a search left out."""

    def __init__(self, outline: Outline, masking: Masking, left_out: LeftOut) -> None:
        """Prepares to find them.

        Args:
            outline: The table without its rows.
            masking: How its attributes are masked.
            left_out: The leaves they lie in.
        """
        self._placement = Placement(outline, masking.columns, left_out.boxes)
        self._is_out = [
            np.isin(walk.leaf_of, leaves) for walk, leaves in zip(self._placement.walks, left_out.leaves, strict=True)
        ]
        self.dropped = left_out.labels is None

    def of(self, chunk: Chunk) -> BoolArray:
        """Which rows are left out."""
        found: BoolArray = np.zeros(len(chunk), dtype=np.bool_)
        for is_out, nodes in zip(self._is_out, self._placement.nodes(chunk), strict=True):
            found |= is_out[nodes]
        return found

    def rows(self, chunks: Iterable[Chunk]) -> int:
        """How many rows are left out; with a weight column, a row represents many records."""
        return sum(int(np.count_nonzero(self.of(chunk))) for chunk in chunks)
