"""Distinct rows of codes with their weights, gathered chunk by chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unveil.arrays import Array, IntArray, packed_keys, run_starts, sorted_order, unpacked_columns

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
        return list(unpacked_columns(list(self.keys[start:stop].T), self.sizes))


def unpacked(words: Sequence[IntArray], sizes: Sequence[int]) -> list[Array]:
    """The codes of packed rows, column by column, each in the smallest type that holds them."""
    rows = len(words[0])
    columns: list[Array] = [
        np.empty(rows, kind.dtype) for kind in unpacked_columns([word[:0] for word in words], sizes)
    ]
    for start in range(0, rows, BLOCK):
        block = slice(start, start + BLOCK)
        for column, codes in zip(columns, unpacked_columns([word[block] for word in words], sizes), strict=True):
            column[block] = codes
    return columns


class DistinctRows:
    """Merges equal rows and adds up their weights.

    A chunk becomes a run of sorted keys, and a run is merged with the previous one unless that is twice as long. So
    each row is merged only a few times, and memory holds about twice the distinct rows, at 16 bytes each if a key fits
    in one word.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        """Starts without rows.

        Args:
            sizes: How many codes each column can have.
        """
        self._sizes = tuple(sizes)
        self._runs: list[SortedRows] = []

    def add(self, codes: Sequence[Array], weight: IntArray | None = None) -> None:
        """Adds rows; each counts once if no weight is given."""
        keys = packed_keys(codes, self._sizes)
        self._runs.append(_counted(keys, self._sizes) if weight is None else _weighed(keys, weight, self._sizes))
        while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
            self._merge()

    def sorted(self) -> SortedRows:
        """The distinct rows."""
        if not self._runs:
            self.add([np.zeros(0, dtype=np.int64) for _ in self._sizes])
        while len(self._runs) > 1:
            self._merge()
        return self._runs[0]

    def _merge(self) -> None:
        """Merges the last two runs."""
        # Compiled loops take time to load, and a single run needs none.
        from unveil.counting.kernels import merge_runs

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
