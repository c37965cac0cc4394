"""A first spec from a table: what each column seems to be, and why. A person corrects it and makes it a promise."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from unveil.arrays import FloatArray
from unveil.errors import count_text, listed, rows_text
from unveil.masking import days
from unveil.schema import Unit, bound_text, number_of, parse_number, toml_key, widened, widened_days
from unveil.tables.columns import RawColumn, raw_column
from unveil.tables.files import header_doubt
from unveil.tables.sources import FileSource, open_source

CERTAIN = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL")
"""Texts that mean a missing value."""
DOUBTFUL = ("None", "none", "-", ".", "missing", "unknown")
"""Texts that mean a missing value if they are rare, and may be ordinary values otherwise."""
MARKS = (*CERTAIN, *DOUBTFUL)
FREQUENT = 0.2
"""A doubtful text that a larger share of the rows of a column holds is a value."""
IDENTIFIER_NAMES = re.compile(r"(^|[_\W])(id|ids|uuid|name|ssn|e-?mail|phone|address|account|passport)($|[_\W])", re.I)
CODE_NAMES = re.compile(r"(^|[_\W])(codes?|recode)($|[_\W])", re.I)
CLASS_NAMES = re.compile(r"^(class|target|label|outcome|y|income|diagnosis|result|churn|default)$", re.I)
FEW = 20
"""A number with at most this many different values may be a category."""
MOST_LABELS = 20
"""A class has at most this many labels."""

Role = Literal["identifier", "class", "number", "date", "category"]
HEAD = """\
# A first spec for {origin}. Every line marked `guess` was read off the data: check it.
# Domains are observed until you declare them (range, values or taxonomy); only a declared domain is public.
"""
WIDENED = "observed and widened: declare it if it is public"
K = 5


@dataclass(frozen=True)
class Guess:
    """What a column seems to be, and why."""

    name: str
    role: Role
    reason: str
    whole: bool = False
    bounds: tuple[float, float] | None = None
    missing: int = 0
    """How many rows have no value."""


@dataclass(frozen=True)
class TableGuess:
    """What a table seems to be."""

    columns: tuple[Guess, ...]
    marks: tuple[str, ...]
    rows: int
    incomplete: int = 0
    """How many rows lack a value in a column that is released."""
    doubt: str = ""
    """Why the column names may not be names; a clause."""

    @property
    def class_(self) -> Guess:
        """The column that seems to be the class."""
        return next(guess for guess in self.columns if guess.role == "class")


def guess_table(source: object) -> tuple[TableGuess, str]:
    """Looks at a table; gives the guess and what messages call the table."""
    opened = open_source(source)
    origin, table = opened.origin, opened.table(opened.schema.names)
    table = pa.table({name: days(table[name]) for name in table.column_names})
    columns = [raw_column(name, table[name], CERTAIN, origin) for name in table.column_names]
    class_ = _class_of(columns)
    held = set(chain.from_iterable(raw_column(name, table[name], (), origin).distinct for name in table.column_names))
    certain = tuple(mark for mark in CERTAIN if mark in held)
    marks = (*certain, *(mark for mark in DOUBTFUL if mark in held and not _is_value(mark, columns, class_)))
    kept = [raw_column(name, table[name], marks, origin) for name in table.column_names]
    guesses = tuple(
        replace(_guess(column, column.name == class_.name, table.num_rows), missing=int(column.missing.sum()))
        for column in kept
    )
    has_lines = isinstance(opened, FileSource) and opened.is_text
    doubt = header_doubt(table.column_names) if has_lines else ""
    return TableGuess(guesses, marks, table.num_rows, _incomplete(kept, guesses), doubt), origin


def _incomplete(columns: Sequence[RawColumn], guesses: Sequence[Guess]) -> int:
    """How many rows a spec that drops rows with missing values would drop; identifiers are not looked at."""
    missing = [column.missing for column, guess in zip(columns, guesses, strict=True) if guess.role != "identifier"]
    return int(np.logical_or.reduce(missing).sum())


def _is_value(mark: str, columns: Sequence[RawColumn], class_: RawColumn) -> bool:
    """Whether a doubtful text is a value: a label of the class, or frequent somewhere."""
    held = [column for column in columns if mark in column.distinct]
    shares = [np.mean(column.places == column.distinct.index(mark)) for column in held]
    return mark in class_.distinct or max(shares, default=0.0) > FREQUENT


def _class_of(columns: Sequence[RawColumn]) -> RawColumn:
    """By name, or else the last column with a few labels, or else the last column."""
    few = [column for column in columns if 2 <= len(column.distinct) <= MOST_LABELS and not _fractional(column)]
    named = [column for column in few if CLASS_NAMES.match(column.name)]
    return (named or few or list(columns))[-1]


def _fractional(column: RawColumn) -> bool:
    """Whether some value is a number with a fraction: such a column is measured, not a label."""
    return any((parse_number(value) or 0.0) % 1 for value in column.distinct)


def _guess(column: RawColumn, is_class: bool, rows: int) -> Guess:
    name, distinct = column.name, len(column.distinct)
    if is_class:
        return Guess(name, "class", count_text(distinct, "label"))
    if IDENTIFIER_NAMES.search(name):
        return Guess(name, "identifier", "by its name")
    dates = {number_of(value, "date") for value in column.distinct}
    found = [date for date in dates if date is not None]
    if found and len(found) == len(dates):
        return Guess(name, "date", count_text(len(found), "different date"), True, (min(found), max(found)))
    numbers = [parse_number(value) for value in column.distinct]
    if distinct and all(number is not None and np.isfinite(number) for number in numbers):
        return _number(name, np.array(numbers, dtype=np.float64), rows)
    if distinct > 0.9 * rows and distinct > FEW:
        return Guess(name, "identifier", f"{count_text(distinct, 'different value')} in {rows_text(rows)}")
    return Guess(name, "category", count_text(distinct, "different value"))


def _number(name: str, numbers: FloatArray, rows: int) -> Guess:
    distinct, whole = len(numbers), bool((numbers == np.floor(numbers)).all())
    if whole and distinct == rows and distinct > FEW:
        return Guess(name, "identifier", "whole numbers, all different")
    if distinct <= 2:
        return Guess(name, "category", count_text(distinct, "different value"))
    codes = "; if they are codes, it is a category" if whole and (distinct <= FEW or CODE_NAMES.search(name)) else ""
    bounds = float(numbers.min()), float(numbers.max())
    return Guess(name, "number", f"{distinct:,} different numbers{codes}", whole, bounds)


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
    return "\n".join([head, *_table(guess, str(relative), query), *attributes, *_require(guess)])


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
    yield f'missing = {{ values = [{marks}], rows = "drop" }}    # guess: {_missing(guess)}'
    yield ""


def _missing(guess: TableGuess) -> str:
    """What dropping would cost: a mark in a column that nobody needs can take half of the table along."""
    if not guess.incomplete:
        return "no row lacks a value"
    columns = listed(column.name for column in guess.columns if column.missing and column.role != "identifier")
    return f"{guess.incomplete:,} of {rows_text(guess.rows)} would be dropped, for {columns}"


def _attributes(guess: TableGuess, table: Path | None, place: Path) -> Iterator[str]:
    for column in guess.columns:
        if column.role != "class":
            gone = f"; missing in {rows_text(column.missing)}" if column.missing else ""
            yield f"[attributes.{toml_key(column.name)}]    # guess: {column.reason}{gone}"
            yield from _described(column, table, place)
            yield ""


def _described(column: Guess, table: Path | None, place: Path) -> Iterator[str]:
    if column.role == "identifier":
        yield 'role = "identifier"'
        return
    yield f'kind = "{column.role}"'
    if column.role == "category":
        yield from _taxonomy_hint(column.name, table, place)
        return
    if column.role == "date":
        yield f"# range = {_range(widened_days(*column.bounds or (0, 0)), 'date')}    # {WIDENED}"
        return
    if column.whole:
        yield "whole = true    # guess: all observed numbers are"
    if column.bounds is not None:
        yield f"# range = {_range(widened(*column.bounds, whole=column.whole), 'number')}    # {WIDENED}"


def _range(bounds: tuple[float, float], unit: Unit) -> str:
    lo, hi = (bound_text(bound, unit) for bound in bounds)
    return f"[{lo}, {hi}]"


def _taxonomy_hint(name: str, table: Path | None, place: Path) -> Iterator[str]:
    """The key that a taxonomy would have, and for the column of a file the command that drafts it next to the spec."""
    file = "".join(character if character.isalnum() or character in "-_." else "_" for character in name) + ".tree"
    yield f"# taxonomy = {_text(file)}"
    if table is None:
        return
    words = ["unveil", "taxonomy", "draft", "--to", str(place / file), "--", str(table), name]
    if (command := shlex.join(words)).isprintable():
        yield f"# drafted by: {command}"


def _require(guess: TableGuess) -> Iterator[str]:
    names = [_text(column.name) for column in guess.columns if column.role in ("number", "date", "category")]
    yield "# guess: everything that is released can be looked up somewhere. Leave out what nobody can know."
    yield "[[require]]"
    yield 'kind             = "k-anonymity"'
    yield f"quasi-identifier = [{', '.join(names)}]"
    yield f"k                = {K}    # guess"
    yield ""
