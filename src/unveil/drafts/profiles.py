"""How the values of each column are distributed: what an owner looks at before any guess is trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unveil.arrays import FloatArray, IntArray
from unveil.drafts.facts import Facts
from unveil.drafts.guesses import Guess, TableGuess, columns_of, doubt_of, guess_columns
from unveil.schema import Unit, bound_text
from unveil.tables import FrameSource, raw_source

BARS = 24
"""So many bars a distribution has at most."""
LISTED = 500
"""So many values of a column are listed, the most frequent ones."""


class Bar(NamedTuple):
    """A value, or the numbers from one bound to the next, and how many rows hold it."""

    label: str
    rows: int


@dataclass(frozen=True)
class Profile:
    """The values of a column."""

    name: str
    distinct: int
    missing: int
    """How many rows have no value."""
    ordered: bool
    """Whether the bars are of numbers or dates, from the lowest to the highest, or of the most frequent values."""
    bars: tuple[Bar, ...]
    values: tuple[str, ...]
    """The most frequent values first."""


@dataclass(frozen=True)
class Look:
    """A table that is held in memory, what its columns hold, and what they seem to be."""

    rows: FrameSource
    guess: TableGuess
    profiles: tuple[Profile, ...]


def look_at(source: Any) -> Look:
    """Reads a table once and looks at every column."""
    opened = raw_source(source)
    rows = FrameSource(opened.table(opened.schema.names), opened.origin)
    columns = columns_of(rows.frame, rows.origin)
    guess = guess_columns(columns, doubt_of(opened))
    profiles = (profile_of(column, found, guess.marks) for column, found in zip(columns, guess.columns, strict=True))
    return Look(rows, guess, tuple(profiles))


def profile_of(column: Facts, guess: Guess, marks: Sequence[str]) -> Profile:
    """How the values of a column are distributed; those of a number or a date by their size."""
    held = column.held(marks)
    counts = column.counts[:-1][held]
    numbers, unit = _numbers(column, held, guess)
    values = column.examples(held, LISTED)
    bars = _frequent(values, column) if numbers is None else _histogram(numbers, counts, unit)
    return Profile(column.name, guess.distinct, guess.missing, numbers is not None, bars, tuple(values))


def _numbers(column: Facts, held: np.ndarray, guess: Guess) -> tuple[FloatArray | None, Unit]:
    if guess.role == "date" and (days := column.dates(held)) is not None:
        return np.array(days), "date"
    return (column.numbers[held] if guess.role == "number" else None), "number"


def _histogram(numbers: FloatArray, counts: IntArray, unit: Unit) -> tuple[Bar, ...]:
    """Bars of equal width."""
    rows, bounds = np.histogram(numbers, bins=min(BARS, max(len(numbers), 1)), weights=counts)
    texts = (bound_text(float(bound if unit == "number" else round(bound)), unit) for bound in bounds[:-1])
    return tuple(Bar(text, int(held)) for text, held in zip(texts, rows, strict=True))


def _frequent(values: Sequence[str], column: Facts) -> tuple[Bar, ...]:
    texts = [str(value) for value in column.values.to_pylist()]
    rows = dict(zip(texts, column.counts[:-1].tolist(), strict=True))
    return tuple(Bar(value, rows[value]) for value in values[:BARS])
