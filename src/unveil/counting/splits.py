"""The compiled loops that move the rows of boxes: into the pieces of a split, and into a sample.

Rows, codes and cells are those of `counting.scans`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from unveil.arrays import Array
from unveil.counting.scans import ALL, PEEL, SPLIT


@njit(cache=True, nogil=True)
def split_boxes(
    codes: Array,
    weight: Array,
    marks: Array,
    whose: Array,
    start: Array,
    stop: Array,
    chosen: Array,
    lookups: Array,
    cell_of: Array,
    first_cell: Array,
    cells: Array,
) -> Array:
    """Moves the rows of each box so that those of one piece are adjacent, in the order that they have.

    Args:
        codes: One row per record, one column per attribute; changed in place, as are the next three.
        weight: How many records each row represents.
        marks: One row per record, one column per mark.
        whose: The person of each row and how many persons it represents, or no columns.
        start: Where each box starts.
        stop: Where each box ends.
        chosen: What each box is split by: attribute, way and cell.
        lookups: The depth of the cells of the block that is refined.
        cell_of: The cell of each code, by depth.
        first_cell: The first cell of the block that is refined.
        cells: How many cells it has.

    Returns:
        One row per piece with rows: its box, its number among the pieces of the box, its start and its stop.
    """
    longest = widest = room = 0
    for box in range(len(start)):
        longest = max(longest, stop[box] - start[box])
        parts = cells[box] if chosen[box, 1] == ALL else 2
        widest = max(widest, parts)
        room += min(parts, stop[box] - start[box])
    code_room = np.empty((longest, codes.shape[1]), codes.dtype)
    weight_room = np.empty(longest, weight.dtype)
    mark_room = np.empty((longest, marks.shape[1]), marks.dtype)
    whose_room = np.empty((longest, whose.shape[1]), whose.dtype)
    part_of = np.empty(longest, np.int64)
    ends = np.zeros(widest + 1, np.int64)
    found = np.empty((room, 4), np.int64)
    made = 0
    for box in range(len(start)):
        first, last = start[box], stop[box]
        if first == last:
            continue
        column, way, cell = chosen[box, 0], chosen[box, 1], chosen[box, 2]
        lookup, shift = cell_of[lookups[box]], first_cell[box]
        parts = cells[box] if way == ALL else 2
        for place in range(parts + 1):
            ends[place] = 0
        for i in range(first, last):
            part = lookup[codes[i, column]] - shift
            if way == SPLIT:
                part = np.int64(part >= cell)
            elif way == PEEL:
                part = np.int64(part != cell)
            part_of[i - first] = part
            ends[part + 1] += 1
        for part in range(parts):
            if ends[part + 1] > 0:
                found[made, 0], found[made, 1] = box, part
                found[made, 2], found[made, 3] = first + ends[part], first + ends[part] + ends[part + 1]
                made += 1
            ends[part + 1] += ends[part]
        if found[made - 1, 2] == first:
            continue
        for i in range(first, last):
            at = ends[part_of[i - first]]
            ends[part_of[i - first]] += 1
            weight_room[at] = weight[i]
            for j in range(codes.shape[1]):
                code_room[at, j] = codes[i, j]
            for j in range(marks.shape[1]):
                mark_room[at, j] = marks[i, j]
            for j in range(whose.shape[1]):
                whose_room[at, j] = whose[i, j]
        for i in range(first, last):
            weight[i] = weight_room[i - first]
            for j in range(codes.shape[1]):
                codes[i, j] = code_room[i - first, j]
            for j in range(marks.shape[1]):
                marks[i, j] = mark_room[i - first, j]
            for j in range(whose.shape[1]):
                whose[i, j] = whose_room[i - first, j]
    return found[:made]


@njit(cache=True, nogil=True)
def drawn_rows(
    codes: Array, columns: int, marks: Array, start: Array, stop: Array, halvings: Array
) -> tuple[Array, Array]:
    """A sample of the rows of each box: one of 2^halvings on average, the same whatever the order of the rows.

    It depends on the codes of the first `columns`, the attributes.

    Returns:
        The rows, box after box, and where those of each box end.
    """
    room = 0
    for box in range(len(start)):
        room += stop[box] - start[box]
    rows = np.empty(room, np.int64)
    ends = np.empty(len(start), np.int64)
    used = 0
    for box in range(len(start)):
        mask = (np.uint64(1) << np.uint64(halvings[box])) - np.uint64(1)
        for i in range(start[box], stop[box]):
            lot = np.uint64(0)
            if mask:
                for j in range(columns):
                    lot = (lot ^ np.uint64(codes[i, j])) * np.uint64(0x9E3779B97F4A7C15)
                    lot ^= lot >> np.uint64(29)
                for j in range(marks.shape[1]):
                    lot = (lot ^ np.uint64(marks[i, j])) * np.uint64(0x9E3779B97F4A7C15)
                    lot ^= lot >> np.uint64(29)
            if lot & mask == 0:
                rows[used] = i
                used += 1
        ends[box] = used
    return rows[:used], ends
