"""Rows by person, and the compiled loop that counts the persons of pieces.

A person whose rows are all alike in a projection is always in one group. Such persons are merged: a row says how many
of them it represents. Only persons with rows that differ are numbered, and the rows of each are adjacent in every
group, because splitting a group keeps the order of its rows. So one pass over a group counts persons::

    person   [ 0 0 0 | 1 1 | 2 2 2 ]        0: persons whose rows are all alike
    heads    [ 3 1 7 | 1 1 | 1 1 1 ]        11 persons in three rows, and two more
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from unveil.arrays import Array, IntArray, grouped, packed_keys, run_starts
from unveil.counting.distinct import SortedRows


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


def by_person(rows: SortedRows, words: int) -> PersonRows:
    """Merges persons whose rows are all alike, and numbers the others.

    Args:
        rows: Distinct rows, the numbers of the person first and then the codes.
        words: How many numbers a person has.
    """
    columns = rows.columns()
    codes, sizes = columns[words:], rows.sizes[words:]
    starts = run_starts([word.astype(np.int64) for word in columns[:words]])
    lengths = np.diff(starts, append=len(rows))
    alone = np.repeat(lengths == 1, lengths)
    single = [column[alone] for column in codes]
    order, first, _ = grouped(packed_keys(single, sizes))
    heads = np.diff(first, append=len(order))
    weight = np.add.reduceat(rows.weight[alone][order], first) if len(first) else np.zeros(0, dtype=np.int64)
    several = np.flatnonzero(~alone)
    person = np.repeat(np.arange(1, int((lengths > 1).sum()) + 1), lengths[lengths > 1])
    return PersonRows(
        [np.concatenate([mine[order[first]], column[several]]) for mine, column in zip(single, codes, strict=True)],
        np.concatenate([weight, rows.weight[several]]),
        np.concatenate([np.zeros(len(first), dtype=np.int64), person]),
        np.concatenate([heads, np.ones(len(several), dtype=np.int64)]),
    )


@njit(cache=True, nogil=True)
def person_end(person: Array, row: int, stop: int) -> int:
    """Where the rows of the person of a row end; a row of several persons is by itself."""
    end = row + 1
    if person[row] > 0:
        while end < stop and person[end] == person[row]:
            end += 1
    return end


@njit(cache=True, nogil=True)
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
        for j in range(columns):
            block = block_of[codes[first, j]]
            if watched[block] and (discloses[block] or alive[first_candidate[block]]):
                active[actives] = j
                actives += 1
                need += 2 * min(cells[block], last - first)
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
                one_cell = True
                for i in range(row, end):
                    cell = cell_of[codes[i, j]]
                    one_cell &= cell == own
                    if who == 0 or seen[cell] != who:
                        tally[cell, 0] += count
                        seen[cell] = who
                if one_cell:
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
