"""Contributions: which rows of a person are used where ε is about one person.

*The rule.* Of a person with more than m rows, the m with the smallest numbers are used. The number of a row is a hash
of its person, of its values and, among equal rows of the person, of a counter. Values are hashed by their places in
the declared domains and not by their codes, since codes count what other persons hold.

*Why it gives neighbours.* The number of a row depends on its person's rows alone, and rows with equal numbers are equal
or, once in 2^64, taken in the order of their values. So the multiset of a person's rows decides which of them are used,
whatever the order of the file and whoever else is in it. One person more or less adds or removes the rows that are used
of this person, at most m, and leaves all others as they are.

*Why ε / m per row gives ε per person.* Between such tables lies a chain of at most m steps, each of one row. If one
row changes the probability of any set of releases by a factor of at most exp(ε / m), then m rows change it by at most
exp(ε). So every draw that may cost ε for a person is made as one that costs ε / m for a row: the sensitivity of counts,
sums and utilities is m times that of a row. This also holds where one charge covers the two halves of an interval,
although a person can have rows in both: a rows in one and b in the other cost a + b ≤ m parts. It would not hold for a
sensitivity that is less than m times that of a row, such as the whole range of information gain, whatever m is.

The hash need not be secret. It spreads the choice over persons, so that no kind of row is preferred by all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unveil.arrays import Array, IntArray, grouped, packed_keys, run_starts
from unveil.counting.distinct import DistinctRows, SortedRows
from unveil.errors import BrokenPromiseError
from unveil.schema import grid_of
from unveil.tables import WORDS, Outline, Table

if TYPE_CHECKING:
    from unveil.counting.engine import Engine

Hashes = NDArray[np.uint64]


def used_rows(table: Outline, engine: Engine, most: int | None) -> tuple[Outline, Engine]:
    """What a private release counts: all rows, or at most this many of each person.

    Refuses a table that says whose row each is where nothing bounds the rows of a person.
    """
    if most is not None:
        return engine.bounded(most)
    if table.persons is not None:
        raise BrokenPromiseError("a private release by persons needs a bound on the rows of each.")
    return table, engine


def used_counts(rows: SortedRows, places: Sequence[IntArray], most: int) -> IntArray:
    """How many of each kind of row are used: of each person, at most so many rows.

    The rows have the numbers of the person, the codes of all attributes and the class. For the codes of each attribute
    and of the class, `places` are those in the declared domain.
    """
    columns = rows.columns()
    person, codes = columns[: len(WORDS)], columns[len(WORDS) :]
    starts = run_starts([column.astype(np.int64) for column in person])
    lengths = np.diff(starts, append=len(rows))
    held = np.add.reduceat(rows.weight, starts) if len(starts) else starts
    over = np.flatnonzero(np.repeat(held > most, lengths))
    number_of = np.repeat(np.arange(len(starts)), lengths)[over]
    values = [column[over] for column in person]
    values += [place[column[over]] for place, column in zip(places, codes, strict=True)]
    used = rows.weight.copy()
    used[over] = _least(number_of, _hashed(values), rows.weight[over], most)
    return used


def used_places(table: Table, most: int) -> IntArray:
    """Which rows of a table in memory are used; of equal rows of a person, the first."""
    columns: list[Array] = [*table.words, *(column.codes for column in table.columns), table.classes.codes]
    sizes = [*WORDS, *map(len, table.columns), len(table.classes)]
    distinct = DistinctRows(sizes)
    distinct.add(columns)
    order, starts, kind = grouped(packed_keys(columns, sizes))
    used = used_counts(distinct.sorted(), public_places(table), most)
    return np.sort(order[np.arange(len(order)) - starts[kind] < used[kind]])


def _least(person: IntArray, number: Hashes, rows: IntArray, most: int) -> IntArray:
    """How many of several equal rows each are used: those of their person with the smallest numbers."""
    kind = np.repeat(np.arange(len(rows)), rows)
    copy = np.arange(len(kind)) - np.repeat(np.cumsum(rows) - rows, rows)
    order = np.lexsort([_mixed(number[kind] ^ copy.astype(np.uint64)), person[kind]])
    starts = run_starts([person[kind[order]]])
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    return np.bincount(kind[order[rank < most]], minlength=len(rows))


def _hashed(columns: Sequence[Array]) -> Hashes:
    """A number of 64 bits for each row of some whole numbers."""
    number = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        number = _mixed(number ^ column.astype(np.uint64))
    return number


def _mixed(number: Hashes) -> Hashes:
    """A permutation of the numbers of 64 bits in which every bit depends on all others (SplitMix64)."""
    number = number + np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = number ^ (number >> np.uint64(31))
    return mixed


def public_places(table: Outline) -> list[IntArray]:
    """For the codes of every attribute and of the class, their places in the declared domain.

    A category and the class are coded by these places. The codes of a number are the ranks of its observed values.
    """
    places: list[IntArray] = []
    for attribute, column in zip(table.attributes, table.columns, strict=True):
        grid = grid_of(attribute) if attribute.ordered else None
        if grid is None or isinstance(column.values, tuple):
            places.append(np.arange(len(column)))
        else:
            places.append(grid.places(column.values))
    return [*places, np.arange(len(table.classes))]
