"""Rows counted as they come: what is kept grows with the distinct rows, and not with all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.verifier.columns import Codes, Column, Counts, encode, summed

MERGED = 1 << 18
"""So many rows may wait at least before they are merged with the distinct ones."""


class Vocabulary:
    """The distinct values of a column that is read in batches, numbered as they come."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._values: pa.Array | None = None

    @property
    def values(self) -> pa.Array:
        """The values by their numbers."""
        return pa.nulls(0) if self._values is None else self._values

    def numbers(self, values: pa.Array) -> Codes:
        """The number of each value; a new one gets the next."""
        known = values if self._values is None else pa.concat_arrays([self._values, values])
        encoded = pc.dictionary_encode(known, null_encoding="encode")
        self._values = encoded.dictionary
        numbers: Codes = encoded.indices.to_numpy()[len(known) - len(values) :]
        return numbers

    def column(self, numbers: Codes) -> Column:
        """Rows of numbers as a column whose codes are in the order of its values."""
        ranked = encode(self.name, pa.chunked_array([self.values]))
        return Column(self.name, ranked.values, ranked.codes[numbers])


class Tally:
    """Distinct rows of codes, each with the sum of its amounts."""

    def __init__(self) -> None:
        self._held: tuple[list[Codes], Counts] | None = None
        self._waiting: list[tuple[list[Codes], Counts]] = []

    def add(self, keys: Sequence[Codes], amounts: Counts) -> None:
        """Counts some more rows, by a plain group-by that is merged with those before when enough are waiting."""
        self._waiting.append(summed(keys, amounts))
        held = 0 if self._held is None else len(self._held[1])
        if sum(len(sums) for _, sums in self._waiting) > max(held, MERGED):
            self._merge()

    def result(self) -> tuple[list[Codes], Counts]:
        """The distinct rows as one array per column, and their sums."""
        self._merge()
        if self._held is None:
            raise ValueError("no rows were counted, not even none")
        return self._held

    def _merge(self) -> None:
        parts = [*([] if self._held is None else [self._held]), *self._waiting]
        if len(parts) > 1:
            columns = zip(*(keys for keys, _ in parts), strict=True)
            keys = [np.concatenate(pieces) for pieces in columns]
            self._held = summed(keys, np.concatenate([sums for _, sums in parts]))
        elif parts:
            [self._held] = parts
        self._waiting = []
