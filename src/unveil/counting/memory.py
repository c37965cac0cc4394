"""The engine that counts in this process: rows held in memory, or read again batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from unveil.arrays import BoolArray, IntArray
from unveil.counting.distinct import DistinctRows, SortedRows
from unveil.counting.engine import Cells, Pieces
from unveil.counting.kernels import count_pieces, split_groups
from unveil.counting.released import released_rows
from unveil.errors import BrokenPromiseError, listed
from unveil.masking import Block, Masking, Offer, Refinement
from unveil.release import ReleasedRows
from unveil.tables import Rows

Array = np.ndarray[Any, np.dtype[Any]]

ROOM = 1 << 19
"""How many pieces are counted before they are handed up."""


class MemoryEngine:
    """Counts of a table whose distinct rows fit in memory."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._outline = rows.outline

    def histograms(self) -> tuple[IntArray, ...]:
        """For every attribute its `[value, class]` counts, from the first pass."""
        return self._outline.histograms

    def index(self, columns: Sequence[int], sensitive: int | None = None) -> MemoryIndex:
        """The partition index over the distinct rows of a projection."""
        places = [*columns, *([] if sensitive is None else [sensitive])]
        sizes = [len(self._outline.columns[place]) for place in places]
        distinct = DistinctRows(sizes)
        for chunk in self._rows.chunks(places):
            distinct.add([chunk.codes[place] for place in places], chunk.weight)
        rows = distinct.sorted()
        codes, weight = rows.columns(), rows.weight
        secrets = np.zeros(len(weight), dtype=np.uint8) if sensitive is None else codes.pop()
        width = 1 if sensitive is None else sizes.pop()
        return MemoryIndex(columns, codes, sizes, weight, secrets, width)

    def cells(self, cuts: Sequence[Sequence[Block]]) -> Cells:
        """The occupied cells of the product of the cuts, in one pass over the rows."""
        block_of = [block_numbers(len(domain), cut) for domain, cut in zip(self._outline.columns, cuts, strict=True)]
        classes = len(self._outline.classes)
        distinct = DistinctRows([*(len(cut) for cut in cuts), classes])
        for chunk in self._rows.chunks(range(len(cuts))):
            blocks = [lookup[chunk.codes[place]] for place, lookup in enumerate(block_of)]
            distinct.add([*blocks, chunk.classes], chunk.weight)
        return cells_of(distinct.sorted(), classes)

    def released(self, masking: Masking, weight: str | None) -> ReleasedRows:
        """The masked rows, sorted by their values."""
        return released_rows(self._rows, masking, weight)


def cells_of(rows: SortedRows, classes: int) -> Cells:
    """Cells from their sorted blocks and classes: those of one product side by side become one row of counts."""
    *blocks, labels = rows.columns()
    fresh = np.zeros(len(rows), dtype=np.bool_)
    fresh[:1] = True
    for column in blocks:
        fresh[1:] |= column[1:] != column[:-1]
    counts = np.zeros((int(fresh.sum()), classes), dtype=np.int64)
    counts[np.cumsum(fresh) - 1, labels] = rows.weight
    held = [column[fresh].astype(np.int64) for column in blocks]
    return Cells(np.stack(held, axis=1), counts)


def block_numbers(size: int, cut: Sequence[Block]) -> Array:
    """The number of the block that each value is in; each must be in one."""
    block_of = np.full(size, -1, dtype=np.int32)
    for number, block in enumerate(cut):
        block_of[block.codes] = number
    if (block_of < 0).any():
        raise BrokenPromiseError(f"the cut {listed([block.label for block in cut])} leaves out a value of its domain.")
    return block_of


def _narrow(values: Array, narrow: type, wide: type) -> Array:
    """The numbers in the narrow type if it holds them: what every pass reads should be small.

    Two types for each array, not as many as NumPy has, because the loops are compiled for each combination.
    """
    return values.astype(narrow if int(values.max()) <= np.iinfo(narrow).max else wide)


class MemoryIndex:
    """TIPS for one requirement: the rows of a group side by side, and tables that say what masks a code."""

    def __init__(
        self,
        columns: Sequence[int],
        codes: Sequence[Array],
        sizes: Sequence[int],
        weight: IntArray,
        sensitive: Array,
        width: int,
    ) -> None:
        values = sum(sizes)
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self._column = {column: place for place, column in enumerate(columns)}
        self._first_code = dict(zip(columns, first.tolist(), strict=True))
        # Row by row, so that a visit to a record costs one cache line and not one per attribute.
        self._codes = np.empty((len(weight), len(codes)), dtype=np.uint16 if values < 2**16 else np.uint32)
        for place, column in enumerate(codes):
            np.add(column, first[place], out=self._codes[:, place], casting="unsafe")
        self._weight = _narrow(weight, np.int32, np.int64)
        self._sensitive = _narrow(sensitive, np.uint16, np.uint32)
        self._width = width
        self._start = np.zeros(1, dtype=np.int64)
        self._stop = np.array([len(weight)], dtype=np.int64)
        self._block_of = np.zeros(values, dtype=np.int32)
        self._cell_of = np.zeros(values, dtype=np.int32)
        # Block 0 is that of attributes which cannot be refined at all.
        self._offers: list[Offer | None] = [None]
        self._first_cell = [0]
        self._cells = 0

    def totals(self) -> IntArray:
        """The counts of the group that holds every record."""
        counts = np.bincount(self._sensitive, weights=self._weight, minlength=self._width)
        return counts.astype(np.int64)[None, :]

    def watch(self, offers: Sequence[Offer], alive: BoolArray) -> Iterator[Pieces]:
        """Starts to count the pieces of the first offers."""
        for offer in offers:
            self._enter(offer.column, offer.block, offer)
        yield from self._pieces(np.zeros(1, dtype=np.int64), alive)

    def refine(
        self, refinement: Refinement, column: int, offers: Sequence[Offer], alive: BoolArray
    ) -> Iterator[Pieces]:
        """Splits the groups that hold the refined block and counts the pieces of what they became."""
        chosen = self._holders(column, refinement.block)
        made = self._split(column, refinement.children, chosen)
        offer_of = {offer.block: offer for offer in offers}
        for child in refinement.children:
            # What stays suppressed keeps its name and its candidates; every other child is a new block.
            if child.label != refinement.block.label:
                self._enter(column, child, offer_of.get(child))
        yield from self._pieces(np.concatenate([chosen, made]), alive)

    def _enter(self, column: int, block: Block, offer: Offer | None) -> None:
        base = self._first_code[column]
        self._block_of[base + block.codes] = len(self._offers)
        self._offers.append(offer)
        self._first_cell.append(self._cells)
        for part in offer.parts if offer else ():
            self._cell_of[base + part.codes] = self._cells
            self._cells += 1

    def _holders(self, column: int, block: Block) -> IntArray:
        """The groups masked by a block: Link[x]."""
        if not len(block.codes):
            return np.zeros(0, dtype=np.int64)
        number = self._block_of[self._first_code[column] + block.codes[0]]
        leads = self._codes[self._start, self._column[column]]
        return np.flatnonzero(self._block_of[leads] == number)

    def _split(self, column: int, children: Sequence[Block], chosen: IntArray) -> IntArray:
        """Splits groups among the children; gives the numbers of the new groups."""
        child_of = np.zeros(len(self._block_of), dtype=np.int32)
        for number, child in enumerate(children):
            child_of[self._first_code[column] + child.codes] = number
        start, stop = split_groups(
            self._codes,
            self._weight,
            self._sensitive,
            self._start,
            self._stop,
            chosen,
            self._column[column],
            child_of,
            len(children),
        )
        known = len(self._start)
        self._start = np.concatenate([self._start, start])
        self._stop = np.concatenate([self._stop, stop])
        return np.arange(known, known + len(start))

    def _pieces(self, chosen: IntArray, alive: BoolArray) -> Iterator[Pieces]:
        watched = np.array([offer is not None and offer.alive(alive) for offer in self._offers])
        if not watched.any():
            return
        discloses = np.array([offer is not None and offer.discloses for offer in self._offers])
        first_candidate = np.array([offer.first if offer else 0 for offer in self._offers], dtype=np.int64)
        cells = np.array([len(offer.parts) if offer else 0 for offer in self._offers], dtype=np.int64)
        room = max(ROOM // self._width, 2 * int(cells.max()) * self._codes.shape[1])
        tally = np.zeros((self._cells, self._width), dtype=np.int64)
        counts = np.empty((room, self._width), dtype=np.int64)
        owner = np.empty(room, dtype=np.int64)
        done = 0
        while done < len(chosen):
            used, done = count_pieces(
                self._codes,
                self._weight,
                self._sensitive,
                self._start,
                self._stop,
                chosen,
                done,
                self._block_of,
                self._cell_of,
                np.array(self._first_cell),
                cells,
                watched,
                discloses,
                first_candidate,
                tally,
                counts,
                owner,
            )
            yield Pieces(owner[:used], counts[:used])
