"""Boxes, what they are split by, and the compiled loops that split them: into pieces, a sample, or by histories.

Rows, codes and cells are those of `counting.scans`. After earlier releases, the rows of a box are in the order of the
histories of people. So those with one history are adjacent, and each of these slices is counted by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unveil.arrays import Array, IntArray
from unveil.counting.loops import Loop
from unveil.counting.scans import ALL, PEEL, SPLIT, add, clear


class Shapes(NamedTuple):
    """What the loops need to know about each block, by its number."""

    kind: IntArray
    depth: IntArray
    first: IntArray
    cells: IntArray
    cell_of: Array
    """The cell of each value of all attributes, by depth."""


class Boxes(NamedTuple):
    """Some boxes: where their rows start and stop, and their blocks."""

    start: IntArray
    stop: IntArray
    blocks: IntArray


class Choices(NamedTuple):
    """What each of some boxes is split by."""

    column: IntArray
    """The place of the attribute among those of the projection."""
    way: IntArray
    cell: IntArray


class Parts(NamedTuple):
    """Pieces of boxes that hold rows."""

    box: IntArray
    part: IntArray
    start: IntArray
    stop: IntArray


@Loop
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


@Loop
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


@Loop
def slice_end(history: Array, row: int, stop: int) -> int:
    """Where the rows with the history of a row end."""
    end = row + 1
    while end < stop and history[end] == history[row]:
        end += 1
    return end


@Loop
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


@Loop
def write_pair(pieces: Array, owner: Array, used: int, part: Array, total: Array, candidate: int) -> int:
    """Writes a part of a slice and the rest, if both hold rows; returns the next place."""
    if part[0] == 0 or part[0] == total[0]:
        return used  # the slice is not divided, and holds already
    for place in range(len(part)):
        pieces[used, place], pieces[used + 1, place] = part[place], total[place] - part[place]
    owner[used] = owner[used + 1] = candidate
    return used + 2


@Loop
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

    Args, apart from those of `scans.scan_boxes`:
        targets: How many marks, the first ones, are not counted here.
        shift: What the numbers of the other marks are ahead of their place in a piece.
        history: The history of each row.
        candidates: One row per candidate, as `scan_boxes` writes them.
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
