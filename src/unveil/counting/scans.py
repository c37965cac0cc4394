"""The compiled loops over the rows of boxes that count what every way to split a box would give.

The rows of a box are adjacent. A row has a code per attribute and a code per mark: the class, other target columns and
the sensitive attributes. Codes number the values of all attributes together, and so do marks, so that the counts of a
piece by all marks are one vector::

    codes   [ age sex job | age sex job | … ]        counts of a piece   [ class N, class Y | flu, hiv, … ]
    marks   [ class illness | class illness | … ]                          targets          by sensitive value

A block of an attribute has cells: the intervals between the allowed cuts of a number, the children of a taxonomy label,
or the values that `⊥` hides. `cell_of[depth, code]` is the cell of a value, counted over all blocks of that depth.

Gains are whole numbers in small fractions of a bit, so that sums do not depend on the order of their terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from unveil.arrays import Array, IntArray
from unveil.counting.loops import Loop

SPLIT, ALL, PEEL = 0, 1, 2
"""The ways to refine a block: an interval in two, into all its parts, or into one part and the rest."""
INTERVAL, WHOLE, PEELED = 0, 1, 2
"""The kinds of blocks: intervals, categories that are only refined as a whole, and categories that may be peeled."""
SMALL = 1 << 12
"""Below this many records, x·log₂x is looked up."""
_X = np.arange(SMALL)
LOOKUP = np.where(_X > 0, _X * np.log2(np.maximum(_X, 1)), 0.0)


@Loop
def xlogx(x: int) -> float:
    """x·log₂x, and 0 for 0."""
    return float(LOOKUP[x] if x < SMALL else x * np.log2(x))


@Loop
def purity(counts: Array, sections: Array, targets: int, size: int) -> float:
    """Minus the entropy of the targets in a piece, in bits over its records."""
    total = 0.0
    for target in range(targets):
        for place in range(sections[target], sections[target + 1]):
            total += xlogx(counts[place])
        total -= xlogx(size)
    return total


@Loop
def steps(bits: float, fine: float) -> int:
    """Bits as a whole number of small fractions."""
    return int(np.floor(bits * fine + 0.5))


@Loop
def whole(bits: float, fine: float) -> int:
    """Bits that cannot be negative; below 0 there are only rounding errors."""
    return max(steps(bits, fine), 0)


# The next three copy number by number: compiling array expressions takes numba seconds.
@Loop
def clear(counts: Array) -> None:
    """Sets all counts to 0."""
    for place in range(len(counts)):
        counts[place] = 0


@Loop
def add(counts: Array, more: Array, sign: int) -> None:
    """Adds counts to others, or with the sign −1 takes them away."""
    for place in range(len(counts)):
        counts[place] += sign * more[place]


@Loop
def write_piece(pieces: Array, owner: Array, used: int, counts: Array, private: int, candidate: int) -> int:
    """Writes the size of a piece, its counts by sensitive value and its candidate; returns the next place."""
    pieces[used, 0] = counts[0]
    for place in range(private, len(counts)):
        pieces[used, 1 + place - private] = counts[place]
    owner[used] = candidate
    return used + 1


@Loop
def occupied_cells(tally: Array, classes: int, codes: Array, lookup: Array, shift: int, found: Array) -> int:
    """Adds up the sizes of the cells of a block and lists those that hold rows, in order.

    By the cells, or by the rows if there are fewer. The counts of the first mark, up to `classes`, add up to the size;
    without marks the sizes are there already.
    """
    used = min(len(tally), len(codes))
    if used == len(tally):
        for cell in range(used):
            found[cell] = cell
    else:
        for row in range(used):
            found[row] = lookup[codes[row]] - shift
        found[:used].sort()
    kept = 0
    for place in range(used):
        cell = found[place]
        if kept > 0 and found[kept - 1] == cell:
            continue
        for mark in range(1, classes):
            tally[cell, 0] += tally[cell, mark]
        if tally[cell, 0] > 0:
            found[kept] = cell
            kept += 1
    return kept


@Loop
def scan_boxes(
    codes: Array,
    weight: Array,
    marks: Array,
    sections: Array,
    targets: int,
    start: Array,
    stop: Array,
    blocks: Array,
    begin: int,
    active: Array,
    pure_too: bool,
    block_kind: Array,
    block_depth: Array,
    block_first: Array,
    block_cells: Array,
    cell_of: Array,
    fine: float,
    tally: Array,
    found: Array,
    sizes: Array,
    mixed: Array,
    candidates: Array,
    pieces: Array,
    purities: Array,
    owner: Array,
) -> tuple[int, int, int]:
    """Counts, for boxes from `begin` on, what every way to refine one of their blocks would give.

    Args:
        codes: One row per record, one column per attribute; further columns are not read.
        weight: How many records each row represents.
        marks: One row per record, one column per mark.
        sections: Where the counts of each mark begin, and where those of the last end; the size comes first.
        targets: How many marks, the first ones, are to be distinguished.
        start: Where each box starts.
        stop: Where each box ends.
        blocks: The blocks of each box, one column per attribute.
        begin: The first box to scan.
        active: Which attributes to scan.
        pure_too: Whether boxes are scanned in which no target differs.
        block_kind: The kind of each block.
        block_depth: The depth of its cells.
        block_first: The first of its cells, among those of its depth.
        block_cells: How many cells it has; 0 if it cannot be refined.
        cell_of: The cell of each code, by depth.
        fine: How many small fractions a bit has.
        tally: Room for the counts by cell, all zero before and after.
        found: Room for the occupied cells of a block.
        sizes: Room for the records of each box.
        mixed: Room for whether some target differs in a box.
        candidates: Room for one row per candidate: box, attribute, way, the first cell for which it is the same split,
            cell, gain, and the bits by which it splits the box.
        pieces: Room for one row per piece: its size, and its counts by sensitive value.
        purities: Room for minus the entropy of the targets in each piece.
        owner: Room for the candidate of each piece.

    Returns:
        How many candidates and pieces were written, and the next box to scan.
    """
    columns, width = blocks.shape[1], tally.shape[1]
    private = sections[targets]
    bare = marks.shape[1] == 0
    classes = 1 if bare else sections[1]
    base = np.zeros(columns, np.int64)
    total = np.zeros(width, np.int64)
    left = np.zeros(width, np.int64)
    right = np.zeros(width, np.int64)
    made = used = 0
    box = begin
    while box < len(start):
        first, last = start[box], stop[box]
        need = 0
        cells = 0
        for j in range(columns):
            block = blocks[box, j]
            base[j] = cells
            if active[j]:
                cells += block_cells[block]
                need += min(block_cells[block], last - first)
        if made + need + columns > len(candidates) or used + 3 * need > len(pieces):
            break
        clear(total)
        for i in range(first, last):
            for mark in range(marks.shape[1]):
                total[marks[i, mark]] += weight[i]
            if bare:
                total[0] += weight[i]
        for place in range(1, classes):
            total[0] += total[place]
        size = sizes[box] = total[0]
        mixed[box] = False
        for target in range(targets):
            held = 0
            for place in range(sections[target], sections[target + 1]):
                held += total[place] > 0
            mixed[box] |= held > 1
        if not mixed[box] and not pure_too:
            box += 1
            continue
        for j in range(columns):
            block = blocks[box, j]
            if not active[j] or block_cells[block] == 0:
                continue
            lookup, shift = cell_of[block_depth[block]], block_first[block] - base[j]
            for i in range(first, last):
                cell = lookup[codes[i, j]] - shift
                for mark in range(marks.shape[1]):
                    tally[cell, marks[i, mark]] += weight[i]
                if bare:
                    tally[cell, 0] += weight[i]
        before, spread = purity(total, sections, targets, size), xlogx(size)
        for j in range(columns):
            block = blocks[box, j]
            if not active[j] or block_cells[block] == 0:
                continue
            mine = tally[base[j] : base[j] + block_cells[block]]
            lookup, shift = cell_of[block_depth[block]], block_first[block]
            occupied = occupied_cells(mine, classes, codes[first:last, j], lookup, shift, found)
            if block_kind[block] == INTERVAL:
                clear(left)
                clear(right)
                add(right, total, 1)
                for place in range(1, occupied):
                    add(left, mine[found[place - 1]], 1)
                    add(right, mine[found[place - 1]], -1)
                    pure = purity(left, sections, targets, left[0])
                    pure_rest = purity(right, sections, targets, right[0])
                    after = pure + pure_rest
                    candidates[made, 0], candidates[made, 1], candidates[made, 2] = box, j, SPLIT
                    candidates[made, 3], candidates[made, 4] = found[place - 1] + 1, found[place]
                    candidates[made, 5] = whole(after - before, fine)
                    candidates[made, 6] = whole(spread - xlogx(left[0]) - xlogx(right[0]), fine)
                    purities[used], purities[used + 1] = steps(pure, fine), steps(pure_rest, fine)
                    used = write_piece(pieces, owner, used, left, private, made)
                    used = write_piece(pieces, owner, used, right, private, made)
                    made += 1
            else:
                every = made
                made += 1
                after = bits = 0.0
                for place in range(occupied):
                    part = mine[found[place]]
                    pure = purity(part, sections, targets, part[0])
                    after += pure
                    bits += xlogx(part[0])
                    if occupied > 1:
                        purities[used] = steps(pure, fine)
                        used = write_piece(pieces, owner, used, part, private, every)
                candidates[every, 0], candidates[every, 1], candidates[every, 2] = box, j, ALL
                candidates[every, 3] = candidates[every, 4] = 0
                candidates[every, 5], candidates[every, 6] = whole(after - before, fine), whole(spread - bits, fine)
                for place in range(occupied if occupied > 1 and block_kind[block] == PEELED else 0):
                    part = mine[found[place]]
                    clear(right)
                    add(right, total, 1)
                    add(right, part, -1)
                    pure = purity(part, sections, targets, part[0])
                    pure_rest = purity(right, sections, targets, right[0])
                    after = pure + pure_rest
                    candidates[made, 0], candidates[made, 1], candidates[made, 2] = box, j, PEEL
                    candidates[made, 3] = candidates[made, 4] = found[place]
                    candidates[made, 5] = whole(after - before, fine)
                    candidates[made, 6] = whole(spread - xlogx(part[0]) - xlogx(right[0]), fine)
                    purities[used], purities[used + 1] = steps(pure, fine), steps(pure_rest, fine)
                    used = write_piece(pieces, owner, used, part, private, made)
                    used = write_piece(pieces, owner, used, right, private, made)
                    made += 1
            for place in range(occupied):
                clear(mine[found[place]])
        box += 1
    return made, used, box


@Loop
def first_best(group: Array, scores: Array, groups: int) -> Array:
    """For each group, the first of its members with the highest score; −1 if it has none."""
    best = np.full(groups, -1, np.int64)
    for place in range(len(group)):
        held = best[group[place]]
        if held < 0 or scores[place] > scores[held]:
            best[group[place]] = place
    return best


class Scan(NamedTuple):
    """The ways to refine some boxes, in the order of boxes, attributes and domains, and the pieces that they give."""

    box: IntArray
    column: IntArray
    way: IntArray
    since: IntArray
    """The first cell at which a split would be the same."""
    cell: IntArray
    gain: IntArray
    bits: IntArray
    pieces: IntArray
    """One row per piece: its records, then their counts by the values of each sensitive attribute, then its persons if
    the table says who they are."""
    purity: IntArray
    """Minus the entropy of the targets in each piece, over its records, in the steps of gains."""
    owner: IntArray
    """The candidate of each piece."""
    judged: Callable[[], Iterable[tuple[IntArray, IntArray]]]
    """What must hold: the pieces with their candidates, or after earlier releases the pieces of each history."""

    @property
    def made(self) -> IntArray:
        """How many pieces each candidate gives; 0 if it distinguishes no records."""
        return np.bincount(self.owner, minlength=len(self.box))
