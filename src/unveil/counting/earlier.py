"""People in earlier releases: what each of these says about them, and so how a later one must not tell them apart.

The people whom all earlier releases place alike have the same history. On some attributes, a history is the labels in
each earlier release, or that a person is absent from it. Those who joined have a history too: absent everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

from unveil.arrays import IntArray, group_numbers
from unveil.release.history import History, Link
from unveil.tables import places_among


@dataclass(frozen=True)
class Then:
    """The values of a sensitive attribute in an earlier release."""

    column: int
    """The attribute, by its position in the table."""
    values: tuple[str, ...]
    codes: IntArray
    """The value of each known person; one more than the last for those who are absent, or not known."""

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.values) + 1

    @property
    def total(self) -> IntArray:
        """How many people have each value."""
        counts: IntArray = np.bincount(self.codes, minlength=self.size)[:-1].astype(np.int64)
        return counts


class Earlier:
    """Everybody in the earlier releases, by number. One number more is for all who joined."""

    def __init__(self, links: Sequence[Link], history: History) -> None:
        self._history = history
        everybody = np.concatenate([link.people for link in links])
        numbers, count = group_numbers(list(everybody.T))
        self._words = np.empty((count, 2), dtype=np.int64)
        self._words[numbers] = everybody
        self._rows = [_rows_of(self._words, link) for link in links]
        self.links = tuple(links)

    @property
    def hashes(self) -> tuple[str, ...]:
        """The hashes of the rows of the releases."""
        return tuple(link.sha256 for link in self.links)

    def __len__(self) -> int:
        """How many people there are."""
        return len(self._words)

    def numbers(self, words: Sequence[IntArray]) -> IntArray:
        """The number of each person of a table; the last for those who joined."""
        found = places_among(self._words, self._history.keyed(np.stack(words, axis=1)))
        return np.where(found < 0, len(self), found)

    def histories(self, names: Sequence[str]) -> IntArray:
        """The history of each person on some attributes, the last one that of those who joined."""
        columns = []
        for rows, link in zip(self._rows, self.links, strict=True):
            absent = rows < 0
            columns.append(absent.astype(np.int64))
            for name in (name for name in names if name in link.labels):
                codes = _codes(link.labels[name])
                columns.append(np.where(absent, len(codes), np.append(codes, 0)[rows]))
        numbers, count = group_numbers(columns)
        return np.append(numbers, count)

    def then(self, link: int, column: int, name: str, values: Sequence[str], *, ordered: bool) -> Then | None:
        """The values of an attribute in an earlier release; None if it does not say them.

        `values` are those that it has now; if they are `ordered`, they are numbers, which must stay in order.
        """
        if name not in self.links[link].labels:
            return None
        held = self.links[link].labels[name]
        texts = [str(text) for text in held.dictionary.to_pylist()]
        known = (*values, *sorted(set(texts).difference(values)))
        if ordered:
            known = tuple(sorted(known, key=_number))
        place_of = {value: place for place, value in enumerate(known)}
        code_of = np.array([place_of[text] for text in texts], dtype=np.int64)
        rows = np.append(self._rows[link], -1)
        by_row = np.append(code_of[_codes(held)], len(known))
        return Then(column, known, by_row[rows])


def _rows_of(words: IntArray, link: Link) -> IntArray:
    """The row of each person in an entry; -1 if the release does not show that person."""
    rows = np.full(len(words), -1, dtype=np.int64)
    rows[places_among(words, link.people)] = np.arange(len(link.people))
    return rows


def _codes(labels: pa.DictionaryArray) -> IntArray:
    codes: IntArray = labels.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def _number(text: str) -> tuple[bool, Fraction, str]:
    """Numbers in order, and after them the kinds of missing values."""
    try:
        return False, Fraction(text), ""
    except ValueError:
        return True, Fraction(0), text
