"""What an owner sees of a table first: how its values are distributed, and the text of a first spec, to correct."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unveil.arrays import FloatArray, IntArray
from unveil.drafts.facts import Facts
from unveil.drafts.guesses import Guess, TableGuess, columns_of, doubt_of, guess_columns
from unveil.errors import listed, rows_text
from unveil.schema import Unit, bound_text, toml_key, tree_file, widened, widened_days
from unveil.tables import FrameSource, raw_source

BARS = 24
"""This many bars a distribution has at most."""
LISTED = 500
"""This many values of a column are listed, the most frequent ones."""

HEAD = """\
# A first spec for {origin}. Every line marked `guess` was read off the data: check it.
# Domains are observed until you declare them (range, values or taxonomy); only a declared domain is public.
"""
DRAFT = "draft = true    # nothing is published until you have read this spec and removed this line\n"
WIDENED = "observed and widened: declare it if it is public"
K = 5
FEW = 2
"""A category with at most this many values needs no taxonomy."""


def spec_text(guess: TableGuess, origin: str, table: Path, target: Path | None = None, query: str | None = None) -> str:
    """The text of a first spec for a table, whose path is written relative to where the spec will be.

    The table is a file or folder, or the database that a query is put to.
    """
    folder = (target or Path("spec.toml")).absolute().parent
    source = Path(table).absolute()
    relative = source.relative_to(folder) if source.is_relative_to(folder) else source
    place = (target or Path("spec.toml")).parent
    attributes = _attributes(guess, table if query is None else None, place)
    head = HEAD.format(origin=origin) + (f"# But {guess.doubt}.\n" if guess.doubt else "")
    return "\n".join([head + DRAFT, *_table(guess, str(relative), query), *attributes, *_require(guess)])


def _text(value: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(value, ensure_ascii=False)


def _table(guess: TableGuess, source: str, query: str | None) -> Iterator[str]:
    marks = ", ".join(_text(mark) for mark in guess.marks or ("",))
    yield "[table]"
    yield f"source  = {_text(source)}"
    if query is not None:
        yield f"query   = {_text(query)}"
    yield f"class   = {_text(guess.class_.name)}    # guess: {guess.class_.reason}"
    if guess.person is not None:
        yield f"person  = {_text(guess.person.name)}    # guess: {guess.person.reason}, and it repeats"
    rows = "keep" if guess.keeps_missing else "drop"
    yield f'missing = {{ values = [{marks}], rows = "{rows}" }}    # guess: {_missing(guess)}'
    yield ""


def _missing(guess: TableGuess) -> str:
    """What dropping would cost: a mark in a column that nobody needs can take half of the table along."""
    if not guess.incomplete:
        return "no row lacks a value"
    columns = listed(column.name for column in guess.columns if column.missing and column.role != "identifier")
    use = "lack a value" if guess.keeps_missing else "would be dropped"
    return f"{guess.incomplete:,} of {rows_text(guess.rows)} {use}, for {columns}"


def _attributes(guess: TableGuess, table: Path | None, place: Path) -> Iterator[str]:
    for column in guess.columns:
        if column.role == "class" and not (column.missing and guess.keeps_missing):
            continue
        gone = f"; missing in {rows_text(column.missing)}" if column.missing else ""
        risk = f"; {column.risk}" if column.risk else ""
        yield f"[attributes.{toml_key(column.name)}]    # guess: {column.reason}{gone}{risk}"
        yield from _described(column, table, place, guess.above(column))
        yield from _gone(column, keeps=guess.keeps_missing)
        yield ""


def _gone(column: Guess, *, keeps: bool) -> Iterator[str]:
    """What happens to rows without a value, where the policy of the table does not fit, or another one might."""
    if not column.missing or column.role == "identifier":
        return
    if column.role in ("class", "survey-weight"):
        if keeps:
            yield 'missing = "drop"    # every row needs it'
    elif keeps:
        yield '# missing = "drop"    # then these rows are left out'
    else:
        yield '# missing = "keep"    # then these rows stay, and what is missing is a value'


def _described(column: Guess, table: Path | None, place: Path, above: str | None) -> Iterator[str]:
    match column.role:
        case "identifier":
            yield 'role = "identifier"'
        case "survey-weight":
            yield 'role = "survey-weight"'
            yield '# release = "group-mean"    # or "rounded", each with a step; or "exact", which may identify'
        case "category":
            yield 'kind = "category"'
            if column.distinct > FEW:
                yield from _taxonomy_hint(column.name, table, place, above)
        case "date":
            yield 'kind = "date"'
            yield f"# range = {_range(widened_days(*column.bounds or (0, 0)), 'date')}    # {WIDENED}"
        case "number":
            yield 'kind = "number"'
            if column.whole:
                yield "whole = true    # guess: all observed numbers are"
            if column.bounds is not None:
                yield f"# range = {_range(widened(*column.bounds, whole=column.whole), 'number')}    # {WIDENED}"


def _range(bounds: tuple[float, float], unit: Unit) -> str:
    lo, hi = (bound_text(bound, unit) for bound in bounds)
    return f"[{lo}, {hi}]"


def _taxonomy_hint(name: str, table: Path | None, place: Path, above: str | None) -> Iterator[str]:
    """The key that a taxonomy would have, and for the column of a file the command that drafts it next to the spec.

    If another column says what each value belongs to, its values are the labels above.
    """
    file = tree_file(name)
    yield f"# taxonomy = {_text(file)}"
    if table is None:
        return
    pairs = [] if above is None else ["--above", above]
    words = ["unveil", "taxonomy", "draft", *pairs, "--to", str(place / file), "--", str(table), name]
    if (command := shlex.join(words)).isprintable():
        yield f"# drafted by: {command}"


def _require(guess: TableGuess) -> Iterator[str]:
    yield "# guess: what others can know or look up. Add what is missing, and remove what nobody can know."
    yield "[[require]]"
    yield 'kind             = "k-anonymity"'
    yield "quasi-identifier = ["
    for column in guess.quasi_identifier:
        yield f"  {_text(column.name)},    # guess: {column.known or 'others might know it'}"
    yield "]"
    yield f"k                = {K}    # guess"
    yield ""


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
