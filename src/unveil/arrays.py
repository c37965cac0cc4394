"""Names for the array types that pass between the parts, and the packing of several codes into one key."""

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


def packed_keys(columns: Sequence[CodeArray], sizes: Sequence[int]) -> list[IntArray]:
    """Packs columns of codes into as few 63-bit keys as hold them, most significant column first.

    Comparing the keys in order compares the columns in order, so that a sort over one or two keys replaces
    a sort over a dozen columns.
    """
    keys: list[IntArray] = []
    room = 1
    for column, size in zip(columns, sizes, strict=True):
        size = max(size, 1)
        if keys and room * size < 2**63:
            keys[-1] = keys[-1] * size + column
            room *= size
        else:
            keys.append(column.astype(np.int64))
            room = size
    return keys


def sorted_order(keys: Sequence[IntArray]) -> IntArray:
    """The stable order of rows by their keys, the first key most significant."""
    if len(keys) == 1:
        return np.argsort(keys[0], kind="stable")
    return np.lexsort(tuple(reversed(keys)))


def run_starts(keys: Sequence[IntArray], order: IntArray) -> IntArray:
    """Where, in sorted order, a run of equal rows begins."""
    if len(order) == 0:
        return np.zeros(0, dtype=np.int64)
    fresh = np.zeros(len(order), dtype=np.bool_)
    fresh[0] = True
    for key in keys:
        in_order = key[order]
        fresh[1:] |= in_order[1:] != in_order[:-1]
    return np.flatnonzero(fresh)


class Grouped(NamedTuple):
    """Rows brought into groups of equal keys."""

    order: IntArray
    """The rows, group after group."""
    starts: IntArray
    """Where, in that order, each group begins."""
    numbers: IntArray
    """In that order, the number of the group that each row is in."""


def grouped(keys: Sequence[IntArray]) -> Grouped:
    """Groups rows by their keys; groups stand in the order of the keys."""
    order = sorted_order(keys)
    starts = run_starts(keys, order)
    fresh = np.zeros(len(order), dtype=np.int64)
    fresh[starts[1:]] = 1
    return Grouped(order, starts, np.cumsum(fresh))
