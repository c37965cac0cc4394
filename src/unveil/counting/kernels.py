"""The two loops over rows that NumPy cannot write without making the rows anew: split groups, and count pieces.

They are compiled because the benchmark shows that it pays (docs/decisions/0004). A group is one contiguous slice of
`rows`, a permutation of the row numbers::

    rows   [ 7 2 9 | 0 4 | 1 3 8 5 6 ]
             group0  g1    group 2          start = [0, 3, 5], stop = [3, 5, 10]

`tables` are the look-up tables that turn the code of a value into the block that masks it now and into the part of that
block it would fall into next. All attributes share them; attribute j begins at `offset[j]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

Array = np.ndarray[Any, np.dtype[Any]]


@njit(cache=True)
def split_groups(
    codes: Array, rows: Array, start: Array, stop: Array, chosen: Array, column: int, child: Array, children: int
) -> tuple[Array, Array]:
    """Splits the chosen groups by the child their rows fall into; rows keep their order within a child.

    The first child with rows takes the place of the group, the others become new groups. Empty children vanish.

    Args:
        codes: One row per distinct record, one column per attribute.
        rows: The permutation, changed in place.
        start: Where each group starts, changed in place.
        stop: Where each group ends, changed in place.
        chosen: The groups to split.
        column: The attribute to split by.
        child: For each code of the attribute, the child it belongs to.
        children: How many children there are.

    Returns:
        Starts and stops of the new groups.
    """
    longest = 0
    for g in chosen:
        longest = max(longest, stop[g] - start[g])
    buffer = np.empty(longest, rows.dtype)
    counts = np.zeros(children + 1, np.int64)
    new_start = np.empty(len(chosen) * (children - 1), np.int64)
    new_stop = np.empty(len(chosen) * (children - 1), np.int64)
    made = 0
    for g in chosen:
        first, last = start[g], stop[g]
        counts[:] = 0
        for i in range(first, last):
            counts[child[codes[rows[i], column]] + 1] += 1
        for c in range(children):
            counts[c + 1] += counts[c]
        placed = False
        for c in range(children):
            lo, hi = first + counts[c], first + counts[c + 1]
            if lo == hi:
                continue
            if not placed:
                start[g], stop[g] = lo, hi
                placed = True
            else:
                new_start[made], new_stop[made] = lo, hi
                made += 1
        for i in range(first, last):
            c = child[codes[rows[i], column]]
            buffer[counts[c]] = rows[i]
            counts[c] += 1
        rows[first:last] = buffer[: last - first]
    return new_start[:made], new_stop[:made]


@njit(cache=True)
def count_pieces(
    codes: Array,
    weight: Array,
    sensitive: Array,
    rows: Array,
    start: Array,
    stop: Array,
    chosen: Array,
    begin: int,
    offset: Array,
    block_of: Array,
    part_of: Array,
    watched: Array,
    discloses: Array,
    first_candidate: Array,
    pieces: Array,
    owner: Array,
) -> tuple[int, int]:
    """Counts the pieces that each watched block of each chosen group would fall into if it were refined.

    A piece is a vector: the weight of its records per sensitive value, or one number where none is asked for. A block
    that is refined into all its parts gives one piece per part. A block that discloses one value at a time gives two
    pieces for each value: the records with the value, and the rest. Empty pieces do not exist.

    Args:
        codes: One row per distinct record, one column per attribute.
        weight: How many records a row stands for.
        sensitive: The sensitive value of each row, 0 where none is asked for.
        rows: The permutation of the rows.
        start: Where each group starts.
        stop: Where each group ends.
        chosen: The groups to count.
        begin: The first of them that is not counted yet.
        offset: Where each attribute begins in the look-up tables.
        block_of: The block that masks a code.
        part_of: The part of that block a code belongs to.
        watched: Which blocks still have a candidate.
        discloses: Which blocks disclose one value at a time.
        first_candidate: The candidate of a block, or of its first value.
        pieces: Room for the pieces, one row each.
        owner: The candidate that each piece belongs to.

    Returns:
        How many pieces were written, and the next group to count: the number of chosen groups when all are done.
    """
    columns = codes.shape[1]
    room, width = pieces.shape
    parts = 0
    for value in part_of:
        parts = max(parts, value + 1)
    counts = np.zeros((columns, parts, width), np.int64)
    touched = np.empty((columns, parts), np.int64)
    touches = np.zeros(columns, np.int64)
    active = np.empty(columns, np.int64)
    seen = np.zeros((columns, parts), np.bool_)
    total = np.zeros(width, np.int64)
    used = 0
    at = begin
    while at < len(chosen):
        g = chosen[at]
        lead = rows[start[g]]
        actives = 0
        need = 0
        for j in range(columns):
            if watched[block_of[offset[j] + codes[lead, j]]]:
                active[actives] = j
                actives += 1
                need += 2 * min(parts, stop[g] - start[g])
        if used + need > room:
            break
        total[:] = 0
        for i in range(start[g], stop[g]):
            r = rows[i]
            w, s = weight[r], sensitive[r]
            total[s] += w
            for a in range(actives):
                j = active[a]
                part = part_of[offset[j] + codes[r, j]]
                if not seen[j, part]:
                    seen[j, part] = True
                    touched[j, touches[j]] = part
                    touches[j] += 1
                counts[j, part, s] += w
        for a in range(actives):
            j = active[a]
            block = block_of[offset[j] + codes[lead, j]]
            for t in range(touches[j]):
                part = touched[j, t]
                if discloses[block]:
                    owner[used] = first_candidate[block] + part
                    pieces[used] = counts[j, part]
                    used += 1
                    if touches[j] > 1:
                        owner[used] = first_candidate[block] + part
                        pieces[used] = total - counts[j, part]
                        used += 1
                else:
                    owner[used] = first_candidate[block]
                    pieces[used] = counts[j, part]
                    used += 1
                counts[j, part] = 0
                seen[j, part] = False
            touches[j] = 0
        at += 1
    return used, at
