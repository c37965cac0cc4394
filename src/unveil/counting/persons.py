"""Rows by person, and the compiled loops that count the persons of pieces.

A person whose rows are all alike in the attributes of a projection is always in one group. Such persons are merged: a
row says how many of them it represents; if the rows of a person differ in class or marks, the first does. Only persons
with rows that differ in the attributes are numbered, and rows are in the order of these numbers. Splitting a group
keeps their order, so the rows of a person are adjacent. Only a box that was split ahead of its turn, and is not split
so in the end, has its rows by piece; they are put in order to be counted. So one pass over a group counts persons::

    person   [ 0 0 0 | 1 1 | 2 2 2 ]        0: persons whose rows are all alike
    heads    [ 3 1 7 | 1 1 | 1 1 1 ]        11 persons in three rows, and two more
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unveil.arrays import Array, BoolArray, IntArray, grouped, packed_keys, run_starts
from unveil.counting.distinct import SortedRows, unpacked
from unveil.counting.loops import Loop
from unveil.counting.scans import ALL, SPLIT

NOBODY = -1
PERSON_COUNTS = 7
"""How many numbers `count_box_persons` keeps for each cell."""


class PersonRows(NamedTuple):
    """The distinct rows of a projection by person."""

    codes: list[Array]
    weight: IntArray
    """How many records each row represents."""
    person: IntArray
    """The person of each row, from 1; 0 if it represents persons whose rows are all alike."""
    heads: IntArray
    """How many persons a row represents."""

    @property
    def persons(self) -> int:
        """How many persons there are."""
        return int(self.heads[self.person == 0].sum()) + int(self.person.max(initial=0))


def by_person(rows: SortedRows, words: int, attributes: int) -> PersonRows:
    """Merges persons whose rows are all alike in the attributes, and numbers the others.

    Rows have as many numbers of the person as there are `words`, the codes of the attributes, and other codes.
    """
    columns = rows.columns()
    first = _changes(columns[:words], len(rows))
    moved = np.ones_like(first)  # distinct rows without other codes differ in the person or the attributes
    if len(columns) > words + attributes:
        moved = first | _changes(columns[words : words + attributes], len(rows))
    starts = np.flatnonzero(first)
    lengths = np.diff(starts, append=len(rows))
    parts = np.add.reduceat(moved.astype(np.int64), starts) if len(starts) else lengths
    together = np.repeat(parts == 1, lengths)
    codes = columns[words:]
    merged = _merged([column[together] for column in codes], rows.sizes[words:], rows.weight[together], first[together])
    several = np.flatnonzero(~together)
    person = np.repeat(np.arange(1, int((parts > 1).sum()) + 1), lengths[parts > 1])
    return PersonRows(
        [np.concatenate([column, other[several]]) for column, other in zip(merged.codes, codes, strict=True)],
        np.concatenate([merged.weight, rows.weight[several]]),
        np.concatenate([merged.person, person]),
        np.concatenate([merged.heads, np.ones(len(several), dtype=np.int64)]),
    )


def _merged(codes: Sequence[Array], sizes: Sequence[int], weight: IntArray, first: BoolArray) -> PersonRows:
    """Equal rows as one, with the sums of their weights and of the persons whose first row they are."""
    keys = packed_keys(codes, sizes)
    if len(keys) == 1 and first.all() and (weight == 1).all():
        key = np.sort(keys[0])  # without an order, in half of the time
        starts = run_starts([key])
        counts = np.diff(starts, append=len(key))
        return PersonRows(unpacked([key[starts]], sizes), counts, np.zeros(len(starts), dtype=np.int64), counts)
    order, starts, _ = grouped(keys)
    return PersonRows(
        [column[order[starts]] for column in codes],
        _added(weight[order], starts),
        np.zeros(len(starts), dtype=np.int64),
        _added(first[order].astype(np.int64), starts),
    )


def _changes(columns: Sequence[Array], rows: int) -> BoolArray:
    """Where a row differs from the one before; the first does."""
    fresh = np.zeros(rows, dtype=np.bool_)
    fresh[:1] = True
    for column in columns:
        fresh[1:] |= column[1:] != column[:-1]
    return fresh


def _added(numbers: IntArray, begins: IntArray) -> IntArray:
    """The sums of adjacent numbers."""
    sums: IntArray = np.add.reduceat(numbers, begins) if len(begins) else numbers
    return sums


@Loop
def person_end(person: Array, row: int, stop: int) -> int:
    """Where the rows of the person of a row end; a row of several persons is by itself."""
    end = row + 1
    if person[row] > 0:
        while end < stop and person[end] == person[row]:
            end += 1
    return end


@Loop
def rows_by_person(person: Array, start: int, stop: int) -> tuple[Array, Array]:
    """The rows of a box and their persons, the rows of a person adjacent.

    They are in that order already, unless the box was split ahead of its turn and then stays as it is.
    """
    rows = np.arange(start, stop)
    held = person[start:stop]
    for row in range(1, len(held)):
        if held[row] < held[row - 1]:
            order = np.argsort(held, kind="mergesort")
            return rows[order], held[order]
    return rows, held.copy()


@Loop
def count_person_pieces(
    codes: Array,
    heads: Array,
    person: Array,
    start: Array,
    stop: Array,
    chosen: Array,
    begin: int,
    block_of: Array,
    cell_of: Array,
    first_cell: Array,
    cells: Array,
    watched: Array,
    discloses: Array,
    first_candidate: Array,
    alive: Array,
    columns: int,
    tally: Array,
    pieces: Array,
    owner: Array,
) -> tuple[int, int]:
    """Counts the distinct persons of pieces; arguments and result are those of `kernels.count_pieces`.

    What a disclosed value leaves of a group has all persons of the group but those with no other row in it.
    """
    room = len(pieces)
    active = np.empty(columns, np.int64)
    only = np.zeros(len(tally), np.int64)
    seen = np.zeros(len(tally), np.int64)
    used = 0
    at = begin
    while at < len(chosen):
        first, last = start[chosen[at]], stop[chosen[at]]
        actives = 0
        need = 0
        rests = False
        for j in range(columns):
            block = block_of[codes[first, j]]
            if watched[block] and (discloses[block] or alive[first_candidate[block]]):
                active[actives] = j
                actives += 1
                need += 2 * min(cells[block], last - first)
                rests |= discloses[block]
        if used + need > room:
            break
        if actives == 0:
            at += 1
            continue
        total = 0
        row = first
        while row < last:
            end = person_end(person, row, last)
            who, count = person[row], heads[row]
            total += count
            for a in range(actives):
                j = active[a]
                own = cell_of[codes[row, j]]
                tally[own, 0] += count
                if end > row + 1:  # most persons have one row in a group, and are counted by it
                    one_cell = True
                    seen[own] = who
                    for i in range(row + 1, end):
                        cell = cell_of[codes[i, j]]
                        if cell != own:
                            one_cell = False
                            if seen[cell] != who:
                                tally[cell, 0] += count
                                seen[cell] = who
                    if rests and one_cell:
                        only[own] += count
                elif rests:
                    only[own] += count
            row = end
        for a in range(actives):
            j = active[a]
            block = block_of[codes[first, j]]
            by_rows = last - first < cells[block]
            for step in range(last - first if by_rows else cells[block]):
                cell = cell_of[codes[first + step, j]] if by_rows else first_cell[block] + step
                size = tally[cell, 0]
                if size == 0:
                    continue
                candidate = first_candidate[block]
                if discloses[block]:
                    candidate += cell - first_cell[block]
                    pieces[used, 0] = total - only[cell]
                    owner[used] = candidate
                    used += total > only[cell]
                pieces[used, 0] = size
                owner[used] = candidate
                used += 1
                tally[cell, 0] = only[cell] = seen[cell] = 0
        at += 1
    return used, at


@Loop
def person_runs(rows: Array, person: Array, heads: Array) -> tuple[Array, Array, int]:
    """Of rows in the order of persons: those that are all of their person, where others begin and end, and the persons.

    Runs of several rows of one person are pairs of places in the given order.
    """
    single, several = np.empty(len(rows), np.int64), np.empty((len(rows) // 2, 2), np.int64)
    singles = severals = total = row = 0
    while row < len(rows):
        end = person_end(person, row, len(rows))
        total += heads[rows[row]]
        if end == row + 1:
            single[singles] = rows[row]
            singles += 1
        else:
            several[severals, 0], several[severals, 1] = row, end
            severals += 1
        row = end
    return single[:singles], several[:severals], total


@Loop
def count_box_persons(
    codes: Array,
    weight: Array,
    whose: Array,
    start: Array,
    stop: Array,
    blocks: Array,
    block_depth: Array,
    block_first: Array,
    cell_of: Array,
    candidates: Array,
    room: Array,
    pieces: Array,
    owner: Array,
) -> None:
    """Counts the distinct persons of pieces of boxes, for candidates and pieces that `scans.scan_boxes` found.

    In a box with as many persons as records, as most small boxes are, so it is in its pieces. In others, left of a cut
    are the persons whose lowest cell is left of it, and right of it those whose highest cell is not. What peeling a
    cell leaves has all persons but those with no other cell.

    Args, apart from those of `scans.scan_boxes`:
        whose: The person of each row, and how many persons it represents.
        candidates: One row per candidate: box, attribute, way, a cell that is not used here, and cell.
        room: Room for the numbers of each cell, all zero before and after.
        pieces: One row per piece: the first number is its records, and the last becomes its persons.
        owner: The candidate of each piece.
    """
    alone, held, only, lowest, highest, seen, touched = 0, 1, 2, 3, 4, 5, 6
    last = pieces.shape[1] - 1
    found = np.empty(len(room), np.int64)
    order, person = rows_by_person(whose[:, 0], 0, 0)
    single, several, everybody = person_runs(order, person, whose[:, 1])
    known, records = NOBODY, 0
    at = piece = 0
    while at < len(candidates):
        box, j = candidates[at, 0], candidates[at, 1]
        if box != known:
            order, person = rows_by_person(whose[:, 0], start[box], stop[box])
            single, several, everybody = person_runs(order, person, whose[:, 1])
            known, records = box, weight[start[box] : stop[box]].sum()
        if everybody == records:
            while piece < len(owner) and owner[piece] == at:
                pieces[piece, last] = pieces[piece, 0]
                piece += 1
            at += 1
            continue
        lookup, shift = cell_of[block_depth[blocks[box, j]]], block_first[blocks[box, j]]
        cells = 0
        for row in single:
            cell = lookup[codes[row, j]] - shift
            if room[cell, touched] == 0:
                room[cell, touched] = 1
                found[cells] = cell
                cells += 1
            room[cell, alone] += whose[row, 1]
        for run in range(len(several)):
            row, end = several[run]
            who, count = person[row], whose[order[row], 1]
            low = high = lookup[codes[order[row], j]] - shift
            for i in range(row, end):
                cell = lookup[codes[order[i], j]] - shift
                low, high = min(low, cell), max(high, cell)
                if room[cell, touched] == 0:
                    room[cell, touched] = 1
                    found[cells] = cell
                    cells += 1
                if room[cell, seen] != who:
                    room[cell, held] += count
                    room[cell, seen] = who
            room[low, lowest] += count
            room[high, highest] += count
            if low == high:
                room[low, only] += count
        found[:cells].sort()
        left, right, place = 0, everybody, 0
        while at < len(candidates) and candidates[at, 0] == box and candidates[at, 1] == j:
            way, cut = candidates[at, 2], candidates[at, 4]
            if way == ALL:
                for part in range(cells if cells > 1 else 0):
                    pieces[piece, last] = room[found[part], alone] + room[found[part], held]
                    piece += 1
            elif way == SPLIT:
                while found[place] < cut:
                    left += room[found[place], alone] + room[found[place], lowest]
                    right -= room[found[place], alone] + room[found[place], highest]
                    place += 1
                pieces[piece, last], pieces[piece + 1, last] = left, right
                piece += 2
            else:
                pieces[piece, last] = room[cut, alone] + room[cut, held]
                pieces[piece + 1, last] = everybody - room[cut, alone] - room[cut, only]
                piece += 2
            at += 1
        for part in range(cells):
            for number in range(room.shape[1]):
                room[found[part], number] = 0


def distinct_persons(person: IntArray, heads: IntArray, group: IntArray, groups: int) -> IntArray:
    """The distinct persons of each group, from rows and the group that each is in."""
    several = person > 0
    counts = np.zeros(groups, dtype=np.int64)
    np.add.at(counts, group[~several], heads[~several])
    pairs: Sequence[IntArray] = [group[several], person[several]]
    if several.any():
        order, first, _ = grouped(packed_keys(pairs, [groups, int(person.max()) + 1]))
        np.add.at(counts, pairs[0][order[first]], 1)
    return counts
