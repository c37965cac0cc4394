"""Distinct rows of codes with their weights, gathered chunk by chunk, and where they lie in the trees of boxes.

Where a release shows the mean of a survey weight over groups, that takes the place of the weight of each row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from unveil.arrays import (
    Array,
    BoolArray,
    CodeArray,
    IntArray,
    group_numbers,
    packed_keys,
    run_starts,
    sorted_order,
    unpacked_columns,
)
from unveil.cores import begun, cores, each
from unveil.counting.kernels import merge_runs
from unveil.errors import BrokenPromiseError
from unveil.masking import AnyMasking, AsIs, BoxTree, LeftOut, Masking
from unveil.masking.walk import Walk
from unveil.schema import MILLIONTHS, group_mean
from unveil.tables import Chunk, Outline

SORTED = 1 << 21
"""How many rows are sorted at a time: more are sorted in parts, on several cores, and merged."""
BLOCK = 1 << 18
"""How many rows are unpacked at a time, so that intermediate arrays stay in the cache."""


@dataclass(frozen=True)
class SortedRows:
    """Distinct rows in ascending order, the first column most significant, each packed into a key of few words."""

    sizes: tuple[int, ...]
    """How many codes each column can have."""
    keys: IntArray
    """One row per key, one column per word."""
    weight: IntArray

    def __len__(self) -> int:
        return len(self.weight)

    def columns(self) -> list[Array]:
        """The codes of all rows, column by column, each in the smallest type that holds them."""
        return unpacked(list(self.keys.T), self.sizes)

    def part(self, start: int, stop: int) -> list[Array]:
        """The codes of some rows."""
        return unpacked(list(self.keys[start:stop].T), self.sizes)


def unpacked(words: Sequence[IntArray], sizes: Sequence[int]) -> list[Array]:
    """The codes of packed rows, column by column, each in the smallest type that holds them."""
    rows = len(words[0])
    columns: list[Array] = [
        np.empty(rows, kind.dtype) for kind in unpacked_columns([word[:0] for word in words], sizes)
    ]

    def unpack(start: int) -> None:
        block = slice(start, start + BLOCK)
        for column, codes in zip(columns, unpacked_columns([word[block] for word in words], sizes), strict=True):
            column[block] = codes

    each(unpack, range(0, rows, BLOCK), rows)
    return columns


class DistinctRows:
    """Merges equal rows and adds up their weights.

    A chunk becomes a run of sorted keys, and a run is merged with the previous one unless that is twice as long. So
    each row is merged only a few times, and memory holds about twice the distinct rows, at 16 bytes each if a key fits
    in one word.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        """Starts without rows; `sizes` says how many codes each column can have."""
        self._sizes = tuple(sizes)
        self._sorting: deque[Callable[[], SortedRows]] = deque()
        self._runs: list[SortedRows] = []

    def add(self, codes: Sequence[Array], weight: IntArray | None = None) -> None:
        """Adds rows, which are sorted meanwhile; each counts once if no weight is given."""
        rows = len(codes[0])
        for start in range(0, max(rows, 1), SORTED):
            part = slice(start, start + SORTED)
            run = partial(self._run, [column[part] for column in codes], None if weight is None else weight[part])
            self._sorting.append(begun(run, rows))
            if len(self._sorting) > cores():
                self._take()

    def _run(self, codes: Sequence[Array], weight: IntArray | None) -> SortedRows:
        keys = packed_keys(codes, self._sizes)
        return _counted(keys, self._sizes) if weight is None else _weighed(keys, weight, self._sizes)

    def _take(self) -> None:
        """Takes the run that was begun first."""
        self.add_run(self._sorting.popleft()())

    def add_run(self, run: SortedRows) -> None:
        """Adds distinct rows that are sorted already."""
        self._runs.append(run)
        while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
            self._merge()

    def sorted(self) -> SortedRows:
        """The distinct rows."""
        if not self._runs and not self._sorting:
            self.add([np.zeros(0, dtype=np.int64) for _ in self._sizes])
        while self._sorting:
            self._take()
        while len(self._runs) > 1:
            self._merge()
        return self._runs[0]

    def _merge(self) -> None:
        """Merges the last two runs."""
        last, before = self._runs.pop(), self._runs.pop()
        keys, weight = merge_runs(before.keys, before.weight, last.keys, last.weight)
        self._runs.append(SortedRows(self._sizes, keys, weight))


def _counted(keys: list[IntArray], sizes: tuple[int, ...]) -> SortedRows:
    """Rows that count once each. Sorting one-word keys takes half as long as an argsort."""
    if len(keys) > 1:
        return _weighed(keys, np.ones(len(keys[0]), dtype=np.int64), sizes)
    key = np.sort(keys[0])
    starts = run_starts([key])
    return SortedRows(sizes, key[starts, None], np.diff(starts, append=len(key)))


def _weighed(keys: list[IntArray], weight: IntArray, sizes: tuple[int, ...]) -> SortedRows:
    order = sorted_order(keys)
    in_order = [key[order] for key in keys]
    starts = run_starts(in_order)
    added = np.add.reduceat(weight[order], starts) if len(starts) else weight
    return SortedRows(sizes, np.stack([key[starts] for key in in_order], axis=1), added)


class Placement:
    """Places rows in trees of boxes, chunk by chunk. It is plain data, to be sent to workers."""

    def __init__(self, outline: Outline, columns: dict[str, AnyMasking], boxes: Sequence[BoxTree]) -> None:
        """Looks up where the values of the domains lie in the trees.

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
        """Prepares to find the rows in the leaves that are left out."""
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


class Means(NamedTuple):
    """The released means in ascending order, and the rank of each row's."""

    values: pa.Array
    ranks: CodeArray


@dataclass(frozen=True)
class GroupMeans:
    """What it takes to compute them. It is plain data, to be sent to workers."""

    place: int
    """The position of the weight among the attributes."""
    groups: tuple[int, ...]
    """The positions of the quasi-identifier."""
    step: float
    millionths: IntArray
    """The weight that each code means. Whole numbers add up to the same sum in any order."""

    @classmethod
    def of(cls, outline: Outline, masking: Masking) -> GroupMeans | None:
        """None if the release does not show the means of groups."""
        names = [domain.name for domain in outline.columns]
        for place, domain in enumerate(outline.columns):
            entry = masking[domain.name]
            weight = entry.survey_weight if isinstance(entry, AsIs) else None
            if weight is not None and weight.step is not None and not weight.by_row:
                units = np.rint(np.asarray(domain.values, dtype=np.float64) * MILLIONTHS).astype(np.int64)
                return cls(place, tuple(names.index(name) for name in weight.groups), weight.step, units)
        return None

    def totals(self, chunk: Chunk) -> IntArray:
        """The weight of each row in millionths."""
        return self.millionths[chunk.codes[self.place]]

    def ranked(self, groups: Sequence[Array], totals: IntArray, records: IntArray) -> Means:
        """The means of the groups that rows are in, by the ranks of their released values; totals are in millionths."""
        numbers, count = group_numbers([np.asarray(codes) for codes in groups])
        sums, sizes = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        np.add.at(sums, numbers, totals)
        np.add.at(sizes, numbers, records)
        pairs = zip(sums.tolist(), sizes.tolist(), strict=True)
        values, rank_of = np.unique([group_mean(total, size, self.step) for total, size in pairs], return_inverse=True)
        return Means(pa.array(values, pa.float64()), rank_of[numbers].astype(np.int32))
