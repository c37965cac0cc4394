"""The compiled loop that divides the pieces of a box by the histories of people.

Rows, codes and cells are those of `counting.scans`. The rows of a box are in the order of their histories. So the
people of a box with one history are adjacent, and each of these slices is counted by itself.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from unveil.arrays import Array
from unveil.counting.scans import ALL, SPLIT, add, clear


@njit(cache=True, nogil=True)
def slice_end(history: Array, row: int, stop: int) -> int:
    """Where the rows with the history of a row end."""
    end = row + 1
    while end < stop and history[end] == history[row]:
        end += 1
    return end


@njit(cache=True, nogil=True)
def tally_slice(
    codes: Array,
    weight: Array,
    marks: Array,
    targets: int,
    shift: int,
    lookup: Array,
    first: int,
    tally: Array,
    found: Array,
) -> int:
    """Counts the rows of a slice by cell and sensitive value; lists the cells that hold rows, in order."""
    cells = 0
    for i in range(len(codes)):
        cell = lookup[codes[i]] - first
        if tally[cell, 0] == 0:
            found[cells] = cell
            cells += 1
        tally[cell, 0] += weight[i]
        for mark in range(targets, marks.shape[1]):
            tally[cell, marks[i, mark] - shift] += weight[i]
    found[:cells].sort()
    return cells


@njit(cache=True, nogil=True)
def write_pair(pieces: Array, owner: Array, used: int, part: Array, total: Array, candidate: int) -> int:
    """Writes a part of a slice and the rest, if both hold rows; returns the next place."""
    if part[0] == 0 or part[0] == total[0]:
        return used  # the slice is not divided, and holds already
    for place in range(len(part)):
        pieces[used, place], pieces[used + 1, place] = part[place], total[place] - part[place]
    owner[used] = owner[used + 1] = candidate
    return used + 2


@njit(cache=True, nogil=True)
def divide_pieces(
    codes: Array,
    weight: Array,
    marks: Array,
    targets: int,
    shift: int,
    history: Array,
    start: Array,
    stop: Array,
    blocks: Array,
    block_depth: Array,
    block_first: Array,
    cell_of: Array,
    candidates: Array,
    begin: int,
    tally: Array,
    found: Array,
    pieces: Array,
    owner: Array,
) -> tuple[int, int]:
    """Counts the pieces that candidates, from `begin` on, would make of each slice of their boxes.

    Args:
        codes: One row per record, one column per attribute.
        weight: How many records each row represents.
        marks: One row per record, one column per mark.
        targets: How many marks, the first ones, are not counted here.
        shift: What the numbers of the other marks are ahead of their place in a piece.
        history: The history of each row.
        start: Where each box starts.
        stop: Where each box ends.
        blocks: The blocks of each box, one column per attribute.
        block_depth: The depth of the cells of each block.
        block_first: The first of its cells, among those of its depth.
        cell_of: The cell of each code, by depth.
        candidates: One row per candidate, as in `scan_boxes`.
        begin: The first of them.
        tally: Room for the counts by cell, all zero before and after.
        found: Room for the cells of a slice.
        pieces: Room for one row per piece: its size, and its counts by sensitive value.
        owner: Room for the candidate of each piece.

    Returns:
        How many pieces were written, and the next candidate; the same as `begin` if there is too little room for it.
    """
    width = tally.shape[1]
    total, left = np.zeros(width, np.int64), np.zeros(width, np.int64)
    used, at = 0, begin
    while at < len(candidates):
        box, j = candidates[at, 0], candidates[at, 1]
        end = at
        while end < len(candidates) and candidates[end, 0] == box and candidates[end, 1] == j:
            end += 1
        slices, row = 0, start[box]
        while row < stop[box]:
            row = slice_end(history, row, stop[box])
            slices += 1
        if used + 2 * slices * (end - at) + stop[box] - start[box] > len(pieces):
            break
        lookup, first = cell_of[block_depth[blocks[box, j]]], block_first[blocks[box, j]]
        row = start[box]
        while row < stop[box]:
            last = slice_end(history, row, stop[box])
            cells = tally_slice(
                codes[row:last, j], weight[row:last], marks[row:last], targets, shift, lookup, first, tally, found
            )
            clear(total)
            clear(left)
            for place in range(cells):
                add(total, tally[found[place]], 1)
            place = 0
            for candidate in range(at, end):
                way, cut = candidates[candidate, 2], candidates[candidate, 4]
                if way == ALL:
                    for part in range(cells if cells > 1 else 0):
                        for number in range(width):
                            pieces[used, number] = tally[found[part], number]
                        owner[used] = candidate
                        used += 1
                elif way == SPLIT:
                    while place < cells and found[place] < cut:
                        add(left, tally[found[place]], 1)
                        place += 1
                    used = write_pair(pieces, owner, used, left, total, candidate)
                else:
                    used = write_pair(pieces, owner, used, tally[cut], total, candidate)
            for part in range(cells):
                clear(tally[found[part]])
            row = last
        at = end
    return used, at
