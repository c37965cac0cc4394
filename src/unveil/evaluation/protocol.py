"""How rows are parted into those to learn from and those to be tested on, and what several runs say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import IntArray
from unveil.errors import TableError, UnveilError, did_you_mean, rows_text

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
            raise UnveilError(f"the share to test on is {self.test:g}, but it must lie between 0 and 1.")
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
            raise UnveilError(f"the number of folds is {self.k}, but there must be 2 at least.")

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


Protocol = Holdout | Folds | Given


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
        raise TableError(f"the table has {rows_text(table.num_rows)}, too few to be parted {least} ways.")
