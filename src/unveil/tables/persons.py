"""Whose row each is: persons as numbers, without their names.

In memory, persons are numbered. Where rows are read in several places, a person is two numbers of 62 bits, from a
cryptographic hash of the values in the person columns: every worker gets the same ones, and no list of persons has to
be kept. Numbers of persons never leave the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b

import numpy as np

from unveil.arrays import BoolArray, CodeArray, IntArray, group_numbers, grouped, packed_keys
from unveil.schema import value_text
from unveil.tables.columns import RawColumn

BITS = 62
"""How many bits of a hash make a number, so that two numbers take part in packed keys."""
WORDS = (1 << BITS, 1 << BITS)
"""How many values each of the two numbers has."""


@dataclass(frozen=True)
class Persons:
    """How many persons a table is about, and how its rows are spread over them."""

    count: int
    several: int
    """How many of them have several rows."""
    most: int
    """The most rows of one person."""
    sizes: tuple[int, ...]
    """How many values each number of a person has, in the chunks of the table."""

    @classmethod
    def of(cls, rows: IntArray, sizes: tuple[int, ...]) -> Persons:
        """From the rows of each person."""
        return cls(len(rows), int((rows > 1).sum()), int(rows.max(initial=0)), sizes)


def person_numbers(columns: Sequence[RawColumn]) -> IntArray:
    """The number of each row's person, from 0. Values of a single column are numbered already."""
    if len(columns) == 1:
        return columns[0].places.astype(np.int64)
    order, _, numbers = grouped(_keys(columns))
    by_row = np.empty(len(order), dtype=np.int64)
    by_row[order] = numbers
    return by_row


def person_words(columns: Sequence[RawColumn]) -> tuple[IntArray, IntArray]:
    """The two numbers of each row's person, the same in every process."""
    order, starts, numbers = grouped(_keys(columns))
    places = [column.places[order[starts]] for column in columns]
    texts = [
        [person_text(column.distinct[place]) for place in held] for column, held in zip(columns, places, strict=True)
    ]
    digests = b"".join(digest(whole) for whole in zip(*texts, strict=True))
    words = (np.frombuffer(digests, dtype="<u8").reshape(-1, 2) >> np.uint64(64 - BITS)).astype(np.int64)
    by_row = np.empty((len(order), 2), dtype=np.int64)
    by_row[order] = words[numbers]
    return by_row[:, 0], by_row[:, 1]


def person_text(value: object) -> str:
    """The text that a person is hashed by, whoever else is in the table.

    A whole number has no decimal point: in pandas, a missing value turns a column of integers into floats.
    """
    if isinstance(value, float | Decimal) and value == value // 1:
        return str(int(value))
    return value_text(value)


class Withheld:
    """People whose rows are held back, as if the table did not have them."""

    def __init__(self, person: Sequence[str], words: IntArray) -> None:
        """Stores the columns that say whose row each is, and the two numbers of each person."""
        self.person, self._words = tuple(person), words

    def of(self, columns: Sequence[RawColumn]) -> BoolArray:
        """Which rows are held back, from the columns that say whose row each is."""
        return places_among(self._words, np.stack(person_words(columns), axis=1)) >= 0


def places_among(known: IntArray, words: IntArray) -> IntArray:
    """The place of each person among known ones, all different; -1 if not there."""
    numbers, count = group_numbers(list(np.concatenate([known, words]).T))
    place = np.full(count, -1, dtype=np.int64)
    place[numbers[: len(known)]] = np.arange(len(known))
    found: IntArray = place[numbers[len(known) :]]
    return found


def digest(texts: Sequence[str]) -> bytes:
    """A hash of some texts; with their lengths, so that no two lists of texts are hashed as the same."""
    return blake2b("".join(f"{len(text)}:{text}" for text in texts).encode(), digest_size=16).digest()


def _keys(columns: Sequence[RawColumn]) -> list[IntArray]:
    places: list[CodeArray] = [column.places for column in columns]
    return packed_keys(places, [len(column.distinct) for column in columns])


class RowsOfPersons:
    """How many rows each person has, counted batch by batch. Memory grows with the persons alone."""

    def __init__(self) -> None:
        self._held = np.zeros((0, 3), dtype=np.int64)
        self._waiting: list[IntArray] = []

    def add(self, words: Sequence[IntArray]) -> None:
        """Counts rows of these persons; merges once as many wait as are known."""
        self._waiting.append(_merged(np.stack([*words, np.ones_like(words[0])], axis=1)))
        if sum(map(len, self._waiting)) > len(self._held):
            self._merge()

    def result(self) -> Persons:
        """What was counted."""
        self._merge()
        return Persons.of(self._held[:, 2], WORDS)

    def _merge(self) -> None:
        self._held = _merged(np.concatenate([self._held, *self._waiting]))
        self._waiting = []


def _merged(counted: IntArray) -> IntArray:
    """One row per person: two numbers, and the sum of the third."""
    order, starts, _ = grouped([counted[:, 0], counted[:, 1]])
    in_order = counted[order]
    if not len(starts):
        return in_order
    return np.column_stack([in_order[starts, :2], np.add.reduceat(in_order[:, 2], starts)])
