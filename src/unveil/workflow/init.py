"""Init: a first spec from a table, with every guess marked. A person reads it, corrects it and makes it a promise."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

from unveil.errors import listed, rows_text
from unveil.schema import Unit, bound_text, widened, widened_days
from unveil.tables import Guess, TableGuess

HEAD = """\
# A first spec for {origin}. Every line marked `guess` was read off the data: check it.
# Domains are observed until you declare them (range, values or taxonomy); only a declared domain is public.
"""
WIDENED = "observed and widened: declare it if it is public"
K = 5


def spec_text(guess: TableGuess, origin: str, table: Path, target: Path | None = None, query: str | None = None) -> str:
    """The text of a first spec for a table; sources are written relative to where the spec will be.

    Args:
        guess: What the table seems to be.
        origin: What messages call it.
        table: A file or folder, or the database that a query is put to.
        target: Where the spec will be; here if it is not given.
        query: The query, for a database.
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


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else _text(name)


def _table(guess: TableGuess, source: str, query: str | None) -> Iterator[str]:
    marks = ", ".join(_text(mark) for mark in guess.marks or ("",))
    yield "[table]"
    yield f"source  = {_text(source)}"
    if query is not None:
        yield f"query   = {_text(query)}"
    yield f"class   = {_text(guess.class_)}    # guess: {_reason(guess)}"
    yield f'missing = {{ values = [{marks}], rows = "drop" }}    # guess: {_missing(guess)}'
    yield ""


def _missing(guess: TableGuess) -> str:
    """What dropping would cost: a mark in a column that nobody needs can take half of the table along."""
    if not guess.incomplete:
        return "no row lacks a value"
    columns = listed(column.name for column in guess.columns if column.missing and column.role != "identifier")
    return f"{guess.incomplete:,} of {rows_text(guess.rows)} would be dropped, for {columns}"


def _reason(guess: TableGuess) -> str:
    return next(column.reason for column in guess.columns if column.role == "class")


def _attributes(guess: TableGuess, table: Path | None, place: Path) -> Iterator[str]:
    for column in guess.columns:
        if column.role != "class":
            gone = f"; missing in {rows_text(column.missing)}" if column.missing else ""
            yield f"[attributes.{_key(column.name)}]    # guess: {column.reason}{gone}"
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
