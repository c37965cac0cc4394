"""The rows that hold each value, for attributes with many suppressed values: disclosing one touches only its rows.

The groups that hold `⊥` shrink with every disclosure, and so does what disclosing any other value would leave. Counting
that for all values after each step takes quadratic time. So it is counted on demand, from the rows of one value and the
sizes of the groups they are in.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from unveil.arrays import Array, Growing, IntArray
from unveil.counting.loops import Loop


class Holders:
    """Where each row is now, and which rows hold each value of some attributes."""

    def __init__(
        self,
        codes: Array,
        weight: Array,
        sensitive: Array,
        width: int,
        first: Mapping[int, int],
        starts: IntArray,
    ) -> None:
        """Records the rows of each value, while no group is split.

        `codes` has one column per attribute and one for the number of the row, `weight` says how many records each row
        represents, `first` names the columns to look values up in, with the first code of each, and `starts` says where
        each group starts.
        """
        self._first = first
        self._rows = {column: np.argsort(codes[:, column], kind="stable") for column in first}
        self._ends = {column: np.cumsum(np.bincount(codes[:, column] - low)) for column, low in first.items()}
        self._at = np.arange(len(codes))
        self._group = groups_of(starts, len(codes))
        self._total = Growing(np.int64, width)
        self._total.add(len(starts), initial_counts(starts, weight, sensitive, width))
        self._tally = Growing(np.int64, width)
        self._tally.add(len(starts))

    def moved(self, codes: Array, weight: Array, sensitive: Array, start: Array, stop: Array, groups: IntArray) -> None:
        """Records that groups were created or split."""
        for array in (self._total, self._tally):
            array.add(len(start) - len(array))
        _locate(codes, weight, sensitive, start, stop, groups, self._at, self._group, self._total.rows)

    def take_out(
        self, codes: Array, weight: Array, sensitive: Array, start: Array, stop: Array, column: int, code: int
    ) -> tuple[Array, Array, Array, Array]:
        """Moves the rows of a value to the ends of their groups, where they become new groups.

        Gives the groups that held the value; starts and stops of the new groups, and those that they come from.
        """
        left, ends = _take_out(codes, weight, sensitive, stop, self._of(column, code), self._at, self._group)
        groups, first = np.unique(left, return_index=True)
        ends = ends[first]
        # A group whose rows all hold the value stays as it is.
        whole = stop[groups] == start[groups]
        stop[groups[whole]] = ends[whole]
        origin = groups[~whole]
        return groups, stop[origin], ends[~whole], origin

    def taken_out(self, made: IntArray, origin: IntArray) -> None:
        """Subtracts new groups from the groups they come from."""
        self._total.rows[origin] -= self._total.rows[made]

    def pieces(self, weight: Array, sensitive: Array, column: int, codes: IntArray) -> tuple[Array, Array]:
        """The pieces that disclosing each of some values would make of the groups that hold it.

        They are given by the place of the value that each belongs to, and its counts.
        """
        ends = self._ends[column]
        places = codes - self._first[column]
        starts = np.where(places > 0, ends[places - 1], 0)
        held = self._rows[column], starts, ends[places], self._at, self._group
        return _disclosed(*held, weight, sensitive, self._total.rows, self._tally.rows)

    def _of(self, column: int, code: int) -> IntArray:
        """The rows that hold a value."""
        ends, place = self._ends[column], code - self._first[column]
        return self._rows[column][ends[place - 1] if place else 0 : ends[place]]


def groups_of(starts: IntArray, rows: int) -> IntArray:
    """The group of each row, given where the groups start."""
    return np.repeat(np.arange(len(starts)), np.diff(starts, append=rows))


def initial_counts(starts: IntArray, weight: Array, sensitive: Array, width: int) -> IntArray:
    """The counts of groups of adjacent rows by sensitive value."""
    if width == 1:
        return np.add.reduceat(weight, starts, dtype=np.int64)[:, None]
    cells = groups_of(starts, len(weight)) * width + sensitive
    counts = np.bincount(cells, weights=weight, minlength=len(starts) * width)
    return counts.astype(np.int64).reshape(len(starts), width)


@Loop
def _locate(
    codes: Array,
    weight: Array,
    sensitive: Array,
    start: Array,
    stop: Array,
    groups: Array,
    at: Array,
    group_of: Array,
    total: Array,
) -> None:
    """Records position and group of the rows of some groups, and counts the groups."""
    number = codes.shape[1] - 1
    for group in groups:
        for s in range(total.shape[1]):
            total[group, s] = 0
        for place in range(start[group], stop[group]):
            row = codes[place, number]
            at[row] = place
            group_of[row] = group
            total[group, sensitive[place]] += weight[place]


@Loop
def _take_out(
    codes: Array, weight: Array, sensitive: Array, stop: Array, rows: Array, at: Array, group_of: Array
) -> tuple[Array, Array]:
    """Swaps rows with the last ones of their groups, which then end before them.

    Returns:
        For each row the group that it left, and where that group ended.
    """
    number = codes.shape[1] - 1
    groups = np.empty(len(rows), np.int64)
    ends = np.empty(len(rows), np.int64)
    for step in range(len(rows)):
        row = rows[step]
        place, group = at[row], group_of[row]
        groups[step], ends[step] = group, stop[group]
        last = stop[group] - 1
        stop[group] = last
        other = codes[last, number]
        for column in range(codes.shape[1]):
            codes[place, column], codes[last, column] = codes[last, column], codes[place, column]
        weight[place], weight[last] = weight[last], weight[place]
        sensitive[place], sensitive[last] = sensitive[last], sensitive[place]
        at[other], at[row] = place, last
    return groups, ends


@Loop
def _disclosed(
    rows: Array,
    starts: Array,
    stops: Array,
    at: Array,
    group_of: Array,
    weight: Array,
    sensitive: Array,
    total: Array,
    tally: Array,
) -> tuple[Array, Array]:
    """For each value, whose rows are adjacent: its part of every group that holds it, and the rest of the group."""
    width = total.shape[1]
    room = 2 * (stops - starts).sum()
    owner = np.empty(room, np.int64)
    pieces = np.empty((room, width), np.int64)
    used = 0
    for value in range(len(starts)):
        for place in range(starts[value], stops[value]):
            row = rows[place]
            tally[group_of[row], sensitive[at[row]]] += weight[at[row]]
        for place in range(starts[value], stops[value]):
            group = group_of[rows[place]]
            size = 0
            rest = 0
            for s in range(width):
                pieces[used, s] = tally[group, s]
                size += tally[group, s]
                rest += total[group, s] - tally[group, s]
            if size == 0:
                continue
            owner[used] = value
            used += 1
            if rest > 0:
                for s in range(width):
                    pieces[used, s] = total[group, s] - tally[group, s]
                owner[used] = value
                used += 1
            for s in range(width):
                tally[group, s] = 0
    return owner[:used], pieces[:used]
