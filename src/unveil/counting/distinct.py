"""Distinct rows of codes with their weights, gathered chunk by chunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unveil.arrays import IntArray, packed_keys, run_starts, sorted_order

Array = np.ndarray[Any, np.dtype[Any]]

SAMPLED = 1 << 16
"""Tables with more rows than this are sampled before they are compressed."""
PENDING = 1 << 22
"""So many rows at least are gathered before they are merged with the distinct ones found so far."""


class DistinctRows:
    """Collapses equal rows into one with their weights added up.

    Chunks are collapsed as they come, and what is left of them again when it has grown to more than the distinct rows
    found so far. So every row is sorted a few times at most, and memory holds about twice the distinct rows.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        """Starts without rows.

        Args:
            sizes: How many codes each column can have.
        """
        self._sizes = sizes
        self._types = [np.min_scalar_type(max(size - 1, 0)) for size in sizes]
        self._parts: list[tuple[list[Array], IntArray]] = []
        self._settled = 0
        self._pending = 0

    def add(self, codes: Sequence[Array], weight: IntArray) -> None:
        """Takes rows in."""
        part = compressed(list(codes), self._sizes, weight)
        self._parts.append(([column.astype(kind) for column, kind in zip(part[0], self._types, strict=True)], part[1]))
        self._pending += len(part[1])
        if self._pending > max(self._settled, PENDING) and len(self._parts) > 1:
            self._merge()

    def result(self) -> tuple[list[Array], IntArray]:
        """The distinct rows; a single chunk as it is where fewer than half of its rows are equal to another."""
        if len(self._parts) != 1:
            self._merge()
        codes, weight = self._parts[0]
        return list(codes), weight

    def sorted(self) -> tuple[list[Array], IntArray]:
        """The distinct rows in ascending order, the first column most significant."""
        self._merge()
        return self._parts[0]

    def _merge(self) -> None:
        parts, self._parts = self._parts, []
        codes = [
            np.concatenate([np.zeros(0, kind), *(part[0][place] for part in parts)])
            for place, kind in enumerate(self._types)
        ]
        weight = np.concatenate([np.zeros(0, np.int64), *(part[1] for part in parts)])
        parts.clear()
        self._parts = [_collapsed(codes, packed_keys(codes, self._sizes), weight)]
        self._settled, self._pending = len(self._parts[0][1]), 0


def compressed(codes: list[Array], sizes: Sequence[int], weight: IntArray) -> tuple[list[Array], IntArray]:
    """Collapses equal rows into one with their weights added up, where that halves the table at least."""
    keys = packed_keys(codes, sizes)
    return _collapsed(codes, keys, weight) if _pays(keys) else (codes, weight)


def _collapsed(codes: list[Array], keys: list[IntArray], weight: IntArray) -> tuple[list[Array], IntArray]:
    order = sorted_order(keys)
    starts = run_starts(keys, order)
    first = order[starts]
    return [column[first] for column in codes], np.add.reduceat(weight[order], starts) if len(starts) else weight


def _pays(keys: Sequence[IntArray]) -> bool:
    """Whether at most half of the rows are distinct, judged by a share of the keys with all the rows they have."""
    mixed = np.zeros(len(keys[0]), dtype=np.uint64)
    for key in keys:
        mixed = (mixed ^ key.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    if len(mixed) > SAMPLED:
        share = np.uint64(len(mixed) // SAMPLED)
        mixed = mixed[(mixed >> np.uint64(32)) % share == 0]
    return 2 * len(np.unique(mixed)) <= len(mixed)
