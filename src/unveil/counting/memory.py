"""The engine that holds the table in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from unveil.arrays import BoolArray, IntArray, packed_keys, run_starts, sorted_order
from unveil.counting.engine import Pieces
from unveil.counting.kernels import count_pieces, split_groups
from unveil.masking import Block, Offer, Refinement
from unveil.tables import Table

Array = np.ndarray[Any, np.dtype[Any]]

SAMPLE = 1 << 16
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
        codes = [column.codes for column in held] + ([secret.codes] if secret else [])
        sizes = [len(column) for column in held] + ([len(secret)] if secret else [])
        codes, weight = compressed(codes, sizes, weight)
        secrets = codes.pop() if secret else np.zeros(len(weight), dtype=np.uint8)
        return MemoryIndex(columns, codes, sizes[: len(held)], weight, secrets, len(secret) if secret else 1)


def compressed(codes: list[Array], sizes: Sequence[int], weight: IntArray) -> tuple[list[Array], IntArray]:
    """Collapses equal rows into one with their weights added up, where a sample says that it pays."""
    keys = packed_keys(codes, sizes)
    sample = slice(None, None, max(1, len(weight) // SAMPLE))
    few = [key[sample] for key in keys]
    distinct = len(run_starts(few, sorted_order(few)))
    if distinct > 0.98 * len(few[0]):
        return codes, weight
    order = sorted_order(keys)
    starts = run_starts(keys, order)
    first = order[starts]
    return [column[first] for column in codes], np.add.reduceat(weight[order], starts)


class MemoryIndex:
    """TIPS for one requirement: rows in groups, each a contiguous slice, and the tables that say what masks a code."""

    def __init__(
        self,
        columns: Sequence[int],
        codes: Sequence[Array],
        sizes: Sequence[int],
        weight: IntArray,
        sensitive: Array,
        width: int,
    ) -> None:
        # Row by row, so that a visit to a record costs one cache line and not one per attribute.
        small = np.uint16 if max(sizes) < 2**16 else np.uint32
        self._codes = np.ascontiguousarray(np.stack(codes, axis=1).astype(small))
        self._weight = weight
        self._sensitive = sensitive
        self._width = width
        self._column = {column: place for place, column in enumerate(columns)}
        self._rows = np.arange(len(weight), dtype=np.uint32)
        self._start = np.zeros(1, dtype=np.int64)
        self._stop = np.array([len(weight)], dtype=np.int64)
        self._offset = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        self._block_of = np.zeros(sum(sizes), dtype=np.int32)
        self._part_of = np.zeros(sum(sizes), dtype=np.int32)
        self._offers: list[Offer | None] = []

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
        place = self._column[column]
        chosen = self._holders(place, refinement.block)
        made = self._split(place, refinement.children, chosen)
        offer_of = {offer.block: offer for offer in offers}
        for child in refinement.children:
            # What stays suppressed keeps its name and its candidates; every other child is a new block.
            if child.label != refinement.block.label:
                self._enter(column, child, offer_of.get(child))
        yield from self._pieces(np.concatenate([chosen, made]), alive)

    def _enter(self, column: int, block: Block, offer: Offer | None) -> None:
        base = self._offset[self._column[column]]
        self._block_of[base + block.codes] = len(self._offers)
        for number, part in enumerate(offer.parts if offer else ()):
            self._part_of[base + part.codes] = number
        self._offers.append(offer)

    def _holders(self, place: int, block: Block) -> IntArray:
        """The groups masked by a block: Link[x]."""
        if not len(block.codes):
            return np.zeros(0, dtype=np.int64)
        number = self._block_of[self._offset[place] + block.codes[0]]
        leads = self._codes[self._rows[self._start], place]
        return np.flatnonzero(self._block_of[self._offset[place] + leads] == number)

    def _split(self, place: int, children: Sequence[Block], chosen: IntArray) -> IntArray:
        """Splits groups among the children; gives the numbers of the new groups."""
        size = max(int(child.codes[-1]) for child in children if len(child.codes)) + 1
        child_of = np.zeros(size, dtype=np.int32)
        for number, child in enumerate(children):
            child_of[child.codes] = number
        start, stop = split_groups(
            self._codes, self._rows, self._start, self._stop, chosen, place, child_of, len(children)
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
        first = np.array([offer.first if offer else 0 for offer in self._offers], dtype=np.int64)
        parts = int(self._part_of.max()) + 1
        room = max(ROOM, 2 * parts * len(self._offset))
        counts = np.empty((room, self._width), dtype=np.int64)
        owner = np.empty(room, dtype=np.int64)
        done = 0
        while done < len(chosen):
            used, done = count_pieces(
                self._codes,
                self._weight,
                self._sensitive,
                self._rows,
                self._start,
                self._stop,
                chosen,
                done,
                self._offset,
                self._block_of,
                self._part_of,
                watched,
                discloses,
                first,
                counts,
                owner,
            )
            yield Pieces(owner[:used], counts[:used])


def _alive(offer: Offer, alive: BoolArray) -> bool:
    return bool(alive[offer.first : offer.first + offer.candidates].any())
