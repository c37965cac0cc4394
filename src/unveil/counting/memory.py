"""The engine that holds the table in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from unveil.arrays import BoolArray, IntArray, grouped, packed_keys, run_starts, sorted_order
from unveil.counting.engine import Cells, Pieces
from unveil.counting.kernels import count_pieces, split_groups
from unveil.masking import Block, Offer, Refinement
from unveil.tables import Table

Array = np.ndarray[Any, np.dtype[Any]]

SAMPLED = 1 << 16
"""Tables with more rows than this are sampled before they are compressed."""
ROOM = 1 << 19
"""How many pieces are counted before they are handed up."""


class MemoryEngine:
    """Counts of a table that fits in memory."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def histograms(self) -> tuple[IntArray, ...]:
        """For every attribute its `[value, class]` counts, in one pass each."""
        classes = self._table.classes
        return tuple(
            np.bincount(
                column.codes.astype(np.int64) * len(classes) + classes.codes,
                weights=self._table.weight,
                minlength=len(column) * len(classes),
            )
            .astype(np.int64)
            .reshape(len(column), len(classes))
            for column in self._table.columns
        )

    def index(self, columns: Sequence[int], sensitive: int | None = None) -> MemoryIndex:
        """The partition index over the distinct rows of a projection."""
        held = [self._table.columns[column] for column in columns]
        secret = None if sensitive is None else self._table.columns[sensitive]
        weight = self._table.weight
        if weight is None:
            weight = np.ones(self._table.rows, dtype=np.int64)
        codes: list[Array] = [column.codes for column in held] + ([secret.codes] if secret else [])
        sizes = [len(column) for column in held] + ([len(secret)] if secret else [])
        codes, weight = compressed(codes, sizes, weight)
        secrets = codes.pop() if secret else np.zeros(len(weight), dtype=np.uint8)
        return MemoryIndex(columns, codes, sizes[: len(held)], weight, secrets, len(secret) if secret else 1)

    def cells(self, cuts: Sequence[Sequence[Block]]) -> Cells:
        """The occupied cells of the product of the cuts, in one pass over the rows."""
        held = []
        for column, cut in zip(self._table.columns, cuts, strict=True):
            block_of = np.zeros(len(column), dtype=np.int32)
            for number, block in enumerate(cut):
                block_of[block.codes] = number
            held.append(block_of[column.codes])
        order, starts, cell = grouped(packed_keys(held, [len(cut) for cut in cuts]))
        classes = self._table.classes
        flat = cell * len(classes) + classes.codes[order]
        weight = None if self._table.weight is None else self._table.weight[order]
        counts = np.bincount(flat, weights=weight, minlength=len(starts) * len(classes)).astype(np.int64)
        blocks = np.stack([column[order[starts]] for column in held], axis=1).astype(np.int64)
        return Cells(blocks, counts.reshape(len(starts), len(classes)))


def compressed(codes: list[Array], sizes: Sequence[int], weight: IntArray) -> tuple[list[Array], IntArray]:
    """Collapses equal rows into one with their weights added up, where that halves the table at least."""
    keys = packed_keys(codes, sizes)
    if not _pays(keys):
        return codes, weight
    order = sorted_order(keys)
    starts = run_starts(keys, order)
    first = order[starts]
    return [column[first] for column in codes], np.add.reduceat(weight[order], starts)


def _pays(keys: Sequence[IntArray]) -> bool:
    """Whether at most half of the rows are distinct, judged by a share of the keys with all the rows they have."""
    mixed = np.zeros(len(keys[0]), dtype=np.uint64)
    for key in keys:
        mixed = (mixed ^ key.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    if len(mixed) > SAMPLED:
        share = np.uint64(len(mixed) // SAMPLED)
        mixed = mixed[(mixed >> np.uint64(32)) % share == 0]
    return 2 * len(np.unique(mixed)) <= len(mixed)


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
        watched = np.array([offer is not None and _alive(offer, alive) for offer in self._offers])
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


def _alive(offer: Offer, alive: BoolArray) -> bool:
    return bool(alive[offer.first : offer.first + offer.candidates].any())
