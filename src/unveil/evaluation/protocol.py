"""How rows are parted into those to learn from and those to be tested on, and what several runs say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import IntArray, grouped, packed_keys
from unveil.errors import TableError, UnveilError, did_you_mean, rows_text
from unveil.masking import dictionary_of

CONFIDENCE = 0.95


class Split(NamedTuple):
    """Numbers of the rows to learn from and of those to be tested on."""

    train: IntArray
    test: IntArray


@dataclass(frozen=True)
class Holdout:
    """Holds out a share of the rows, drawn again for each seed."""

    test: float = 1 / 3
    seeds: Sequence[int] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if not 0 < self.test < 1:
            raise UnveilError(f"the share to test on is {self.test:g}, but it must be between 0 and 1.")
        if not self.seeds:
            raise UnveilError("a hold-out needs at least one seed.")

    def splits(self, table: pa.Table) -> list[Split]:
        """One split per seed."""
        _enough(table, 2)
        held = min(max(round(table.num_rows * self.test), 1), table.num_rows - 1)
        orders = [np.random.default_rng(seed).permutation(table.num_rows) for seed in self.seeds]
        return [Split(np.sort(order[held:]), np.sort(order[:held])) for order in orders]

    def __str__(self) -> str:
        times = "once" if len(self.seeds) == 1 else f"{len(self.seeds)} times"
        return f"{self.test:.0%} of the rows held out, {times}"


@dataclass(frozen=True)
class Folds:
    """Splits the rows into k parts and tests each on what was learned from the others."""

    k: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        if self.k < 2:
            raise UnveilError(f"the number of folds is {self.k}, but there must be at least 2.")

    def splits(self, table: pa.Table) -> list[Split]:
        """One split per part."""
        _enough(table, self.k)
        parts = np.array_split(np.random.default_rng(self.seed).permutation(table.num_rows), self.k)
        return [
            Split(np.sort(np.concatenate([*parts[:place], *parts[place + 1 :]])), np.sort(part))
            for place, part in enumerate(parts)
        ]

    def __str__(self) -> str:
        return f"{self.k}-fold cross-validation"


@dataclass(frozen=True)
class Given:
    """A column of the table says which rows are for which; other rows are left out."""

    column: str
    train: str = "train"
    test: str = "test"

    def splits(self, table: pa.Table) -> list[Split]:
        """The one split that the column tells."""
        if self.column not in table.column_names:
            hint = did_you_mean(self.column, table.column_names) or "."
            raise TableError(f"the table has no column {self.column!r} to tell training rows from test rows{hint}")
        texts = table[self.column].cast(pa.string())
        train, test = (
            np.flatnonzero(pc.equal(texts, value).fill_null(False).to_numpy()) for value in (self.train, self.test)
        )
        for value, rows in ((self.train, train), (self.test, test)):
            if not len(rows):
                raise TableError(f"column {self.column!r}: no row holds {value!r}, so there is no such part.")
        return [Split(train, test)]

    def __str__(self) -> str:
        return f"the rows that {self.column} calls {self.train!r} and {self.test!r}"


@dataclass(frozen=True)
class ByPerson:
    """Splits rows by another protocol, but keeps those of a person on the side of the first of them.

    Otherwise a classifier would be tested on persons that it has learned by heart.
    """

    rows: Holdout | Folds | Given
    person: tuple[str, ...]

    def splits(self, table: pa.Table) -> list[Split]:
        """The splits of the other protocol, with persons as a whole."""
        columns = [dictionary_of(table[name]) for name in self.person]
        sizes = [len(column.dictionary) + 1 for column in columns]
        codes = [
            column.indices.cast(pa.int64()).fill_null(size - 1).to_numpy()
            for column, size in zip(columns, sizes, strict=True)
        ]
        order, starts, numbers = grouped(packed_keys(codes, sizes))
        first = np.empty(len(order), dtype=np.int64)
        first[order] = order[starts][numbers]
        return [self._whole(split, first) for split in self.rows.splits(table)]

    def _whole(self, split: Split, first: IntArray) -> Split:
        side = np.zeros(len(first), dtype=np.int8)
        side[split.train], side[split.test] = 1, 2
        used, sides = side > 0, side[first]
        return Split(np.flatnonzero(used & (sides == 1)), np.flatnonzero(used & (sides == 2)))

    def __str__(self) -> str:
        return f"{self.rows}, with all rows of a person on one side"


Protocol = Holdout | Folds | Given | ByPerson


def by_person(protocol: Protocol, person: tuple[str, ...]) -> Protocol:
    """The protocol, with persons as a whole if columns say whose row each is."""
    return ByPerson(protocol, person) if person and not isinstance(protocol, ByPerson) else protocol


@dataclass(frozen=True)
class Interval:
    """The mean of some runs, and between which bounds it lies."""

    mean: float
    low: float | None
    high: float | None
    n: int


def interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """The t-interval of a mean. One run has no bounds.

    Runs of a hold-out or of folds share training rows, so they are more alike than independent ones: read the interval
    as how far the runs spread, not as a test.
    """
    from scipy.special import stdtrit

    n, mean = len(values), float(np.mean(values))
    if n < 2:
        return Interval(mean, None, None, n)
    reach = float(stdtrit(n - 1, (1 + confidence) / 2) * np.std(values, ddof=1) / np.sqrt(n))
    return Interval(mean, mean - reach, mean + reach, n)


def _enough(table: pa.Table, least: int) -> None:
    if table.num_rows < least:
        raise TableError(f"the table has {rows_text(table.num_rows)}, too few to split {least} ways.")
