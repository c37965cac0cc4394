"""Names for array types, arrays that grow, and several codes packed into one key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
CodeArray = NDArray[np.integer[Any]]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
NumberArray = NDArray[np.int64] | NDArray[np.float64]
Array = np.ndarray[Any, np.dtype[Any]]


class Growing:
    """An array that grows. Its capacity doubles, so adding a row takes constant time on average."""

    def __init__(self, dtype: type, *shape: int) -> None:
        self._room: Array = np.zeros((16, *shape), dtype)
        self._used = 0

    def __len__(self) -> int:
        """The number of rows."""
        return self._used

    @property
    def rows(self) -> Array:
        """The rows so far, as a view that is stale once more rows are added."""
        return self._room[: self._used]

    def add(self, count: int, rows: Any = 0) -> None:
        """Adds `count` rows, with one value for all or one for each."""
        used = self._used + count
        if used > len(self._room):
            more = np.zeros((max(used, 2 * len(self._room)) - self._used, *self._room.shape[1:]), self._room.dtype)
            self._room = np.concatenate([self.rows, more])
        self._room[self._used : used] = rows
        self._used = used


def packed_keys(columns: Sequence[CodeArray], sizes: Sequence[int]) -> list[IntArray]:
    """Packs columns of codes into as few 63-bit keys as possible, most significant column first.

    Comparing the keys in order compares the columns in order, so a sort by one or two keys replaces a sort by a dozen
    columns.
    """
    keys: list[IntArray] = []
    for word in _words(sizes):
        key = columns[word[0]].astype(np.int64)
        for place in word[1:]:
            key *= max(sizes[place], 1)
            key += columns[place]
        keys.append(key)
    return keys


def unpacked_columns(keys: Sequence[IntArray], sizes: Sequence[int]) -> list[CodeArray]:
    """The inverse of `packed_keys`: each column in the smallest type that holds its codes."""
    columns: list[CodeArray] = []
    for key, word in zip(keys, _words(sizes), strict=True):
        held: list[CodeArray] = []
        for place in reversed(word[1:]):
            size = max(sizes[place], 1)
            # NumPy divides by a scalar quickly, but computes remainders slowly.
            above = key // size
            held.append(_smallest(key - above * size, size))
            key = above
        columns += [_smallest(key, sizes[word[0]]), *reversed(held)]
    return columns


def _smallest(codes: CodeArray, size: int) -> CodeArray:
    return codes.astype(np.min_scalar_type(max(size - 1, 0)))


def _words(sizes: Sequence[int]) -> list[range]:
    """The ranges of columns that share a key, as many columns as fit in 63 bits."""
    words, start, room = [], 0, 1
    for place, size in enumerate(sizes):
        if place > start and room * max(size, 1) >= 2**63:
            words.append(range(start, place))
            start, room = place, 1
        room *= max(size, 1)
    return [*words, range(start, len(sizes))] if sizes else []


def sorted_order(keys: Sequence[IntArray]) -> IntArray:
    """The stable order of rows by their keys, none of them negative, the first key most significant.

    NumPy sorts numbers many times as fast as it finds a stable order, so rows are numbered in the last bits of a key.
    """
    first = keys[0].astype(np.int64, copy=False)  # narrower numbers have no room for more bits
    bits = len(first).bit_length()
    if int(first.max(initial=0)) >> 63 - bits == 0:
        order, held = _numbered(first, np.arange(len(first)), bits)
    else:
        order = np.argsort(first)
        fresh = np.diff(first[order], prepend=first[order[:1]]) != 0
        order, held = _numbered(np.cumsum(fresh), order, bits)
    if len(keys) > 1:
        # The first key holds so many columns that few rows are tied on it.
        same = held[1:] == held[:-1]
        tied = np.zeros(len(order), dtype=np.bool_)
        tied[1:] |= same
        tied[:-1] |= same
        rows = order[tied]
        order[tied] = rows[np.lexsort([key[rows] for key in reversed(keys)])]
    return order


def _numbered(key: IntArray, rows: IntArray, bits: int) -> tuple[IntArray, IntArray]:
    """Rows sorted by a key and, where it is equal, by their numbers of so many bits; and the key in that order."""
    held = np.sort(key << bits | rows)
    return held & (1 << bits) - 1, held >> bits


def run_starts(keys: Sequence[CodeArray]) -> IntArray:
    """Where each run of equal rows begins, given their columns of codes or their keys."""
    fresh = np.zeros(len(keys[0]), dtype=np.bool_)
    fresh[:1] = True
    for key in keys:
        fresh[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(fresh)


class Grouped(NamedTuple):
    """Rows grouped by equal keys."""

    order: IntArray
    """The rows, group after group."""
    starts: IntArray
    """Where, in that order, each group begins."""
    numbers: IntArray
    """In that order, the group number of each row."""


def grouped(keys: Sequence[IntArray]) -> Grouped:
    """Groups rows by their keys, in the order of the keys."""
    order = sorted_order(keys)
    starts = run_starts([key[order] for key in keys])
    fresh = np.zeros(len(order), dtype=np.int64)
    fresh[starts[1:]] = 1
    return Grouped(order, starts, np.cumsum(fresh))


def group_numbers(columns: Sequence[CodeArray]) -> tuple[IntArray, int]:
    """For each row the number of its combination of codes, and how many combinations occur."""
    order, starts, run = grouped(packed_keys(columns, [int(codes.max(initial=0)) + 1 for codes in columns]))
    numbers: IntArray = np.empty(len(order), dtype=np.int64)
    numbers[order] = run
    return numbers, len(starts)
