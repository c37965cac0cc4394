"""The loops that NumPy cannot express without copying the rows: find groups, split them, and count pieces.

They are compiled because benchmarks show that it pays (docs/decisions/0004). The rows of a group are adjacent, so both
loops read memory in order::

    codes, weight, sensitive   [ . . . | . . | . . . . . ]
                                 group0  g1    group 2          start = [0, 3, 5], stop = [3, 5, 10]

Codes number the values of all attributes together, so that one look-up table serves all columns.

Link[x], the groups that a block masks, is a linked list: `head` has the first group of each block, `following` the next
group, for each attribute.

Rows are copied number by number: to assign a slice, numba compiles the text of an error too, which takes longer than to
compile the loop.
"""

from __future__ import annotations

import numpy as np

from unveil.arrays import Array
from unveil.counting.loops import Loop


@Loop
def linked_groups(first: int, following: Array, column: int) -> Array:
    """The groups of a chain, from the first one; −1 is none."""
    length = 0
    group = first
    while group >= 0:
        length += 1
        group = following[group, column]
    groups = np.empty(length, np.int64)
    group = first
    for place in range(length):
        groups[place] = group
        group = following[group, column]
    return groups


@Loop
def link_new(following: Array, origin: Array, first: int) -> None:
    """Adds new groups, numbered from `first`, to the chains of the groups they come from."""
    for place in range(len(origin)):
        for column in range(following.shape[1]):
            following[first + place, column] = following[origin[place], column]
            following[origin[place], column] = first + place


@Loop
def link_children(
    following: Array, head: Array, groups: Array, codes: Array, start: Array, block_of: Array, column: int
) -> None:
    """Builds the chains of the children of a refined block, from the groups that it masked."""
    for group in groups:
        block = block_of[codes[start[group], column]]
        following[group, column] = head[block]
        head[block] = group


@Loop
def split_groups(
    codes: Array,
    weight: Array,
    sensitive: Array,
    start: Array,
    stop: Array,
    chosen: Array,
    column: int,
    child_of: Array,
    children: int,
) -> tuple[Array, Array, Array]:
    """Moves the rows of the chosen groups so that those of one child are adjacent.

    The first child with rows takes the place of the group, the others become new groups. Empty children vanish.

    Args:
        codes: One row per record, one column per attribute; changed in place, as are the next four.
        weight: How many records each row represents.
        sensitive: The sensitive value of each row.
        start: Where each group starts.
        stop: Where each group ends.
        chosen: The groups to split.
        column: The attribute to split by.
        child_of: For each code of the attribute, the child it belongs to.
        children: How many children there are.

    Returns:
        Starts and stops of the new groups, and the groups they come from.
    """
    longest = 0
    for g in chosen:
        longest = max(longest, stop[g] - start[g])
    width = codes.shape[1]
    code_buffer = np.empty((longest, width), codes.dtype)
    weight_buffer = np.empty(longest, weight.dtype)
    sensitive_buffer = np.empty(longest, sensitive.dtype)
    ends = np.zeros(children + 1, np.int64)
    new_start = np.empty(len(chosen) * (children - 1), np.int64)
    new_stop = np.empty(len(chosen) * (children - 1), np.int64)
    origin = np.empty(len(chosen) * (children - 1), np.int64)
    made = 0
    for g in chosen:
        first, last = start[g], stop[g]
        for c in range(children + 1):
            ends[c] = 0
        for i in range(first, last):
            ends[child_of[codes[i, column]] + 1] += 1
        for c in range(children):
            ends[c + 1] += ends[c]
        placed = False
        for c in range(children):
            lo, hi = first + ends[c], first + ends[c + 1]
            if lo == hi:
                continue
            if not placed:
                start[g], stop[g] = lo, hi
                placed = True
            else:
                new_start[made], new_stop[made], origin[made] = lo, hi, g
                made += 1
        if stop[g] - start[g] == last - first:
            continue
        for i in range(first, last):
            c = child_of[codes[i, column]]
            at = ends[c]
            ends[c] += 1
            for j in range(width):
                code_buffer[at, j] = codes[i, j]
            weight_buffer[at] = weight[i]
            sensitive_buffer[at] = sensitive[i]
        for at in range(last - first):
            for j in range(width):
                codes[first + at, j] = code_buffer[at, j]
            weight[first + at] = weight_buffer[at]
            sensitive[first + at] = sensitive_buffer[at]
    return new_start[:made], new_stop[:made], origin[:made]


@Loop
def count_pieces(
    codes: Array,
    weight: Array,
    sensitive: Array,
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
    """Counts the pieces into which each watched block of each chosen group would be refined.

    A piece is a vector: the weight of its records per sensitive value, or one number if there is none. A block that is
    refined into all its parts gives one piece per part. A block that discloses one value at a time gives two
    pieces for each value: the records with the value, and the rest. Empty pieces do not exist.

    Args:
        codes: One row per record, one column per attribute and perhaps more.
        weight: How many records each row represents.
        sensitive: The sensitive value of each row, 0 if there is none.
        start: Where each group starts.
        stop: Where each group ends.
        chosen: The groups to count.
        begin: The first of them that is not counted yet.
        block_of: The block that masks a code.
        cell_of: The cell that counts a code: one for each part of each block.
        first_cell: The cell of a block's first part.
        cells: How many parts a block has.
        watched: Which blocks to count: those that had a candidate and, among those that disclose values one at a time,
            those that still have one.
        discloses: Which blocks disclose one value at a time.
        first_candidate: The candidate of a block, or of its first value.
        alive: Which candidates are still of interest.
        columns: How many attributes there are.
        tally: Room for the counts, `[cell, sensitive value]`, all zero before and after.
        pieces: Room for the pieces, one row each.
        owner: Room for the candidate that each piece belongs to.

    Returns:
        How many pieces were written, and the next group to count: the number of chosen groups when all are done.
    """
    room, width = pieces.shape
    active = np.empty(columns, np.int64)
    total = np.zeros(width, np.int64)
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
        for s in range(width):
            total[s] = 0
        for i in range(first, last):
            w, s = np.int64(weight[i]), sensitive[i]
            total[s] += w
            for a in range(actives):
                tally[cell_of[codes[i, active[a]]], s] += w
        for a in range(actives):
            j = active[a]
            block = block_of[codes[first, j]]
            # Visit each cell once: by the cells of the block, or by the rows if there are fewer.
            by_rows = last - first < cells[block]
            for step in range(last - first if by_rows else cells[block]):
                cell = cell_of[codes[first + step, j]] if by_rows else first_cell[block] + step
                size = 0
                for s in range(width):
                    size += tally[cell, s]
                if size == 0:
                    continue
                candidate = first_candidate[block]
                if discloses[block]:
                    candidate += cell - first_cell[block]
                    rest = 0
                    for s in range(width):
                        pieces[used, s] = total[s] - tally[cell, s]
                        rest += pieces[used, s]
                    owner[used] = candidate
                    used += rest > 0
                for s in range(width):
                    pieces[used, s] = tally[cell, s]
                    tally[cell, s] = 0
                owner[used] = candidate
                used += 1
        at += 1
    return used, at


@Loop
def merge_runs(keys: Array, weight: Array, other_keys: Array, other_weight: Array) -> tuple[Array, Array]:
    """Merges two runs of ascending keys. A key in both appears once, with the sum of both weights.

    Args:
        keys: One row for each key, one column per word.
        weight: How many records each key represents.
        other_keys: The keys of the other run.
        other_weight: How many records each of them represents.
    """
    n, m, words = len(keys), len(other_keys), keys.shape[1]
    merged = np.empty((n + m, words), np.int64)
    total = np.empty(n + m, np.int64)
    i = j = at = 0
    while i < n or j < m:
        order = 0
        if i == n or j == m:
            order = 1 if i == n else -1
        else:
            for word in range(words):
                if keys[i, word] != other_keys[j, word]:
                    order = -1 if keys[i, word] < other_keys[j, word] else 1
                    break
        total[at] = 0
        if order <= 0:
            for word in range(words):
                merged[at, word] = keys[i, word]
            total[at] += weight[i]
            i += 1
        if order >= 0:
            for word in range(words):
                merged[at, word] = other_keys[j, word]
            total[at] += other_weight[j]
            j += 1
        at += 1
    return merged[:at], total[:at]
