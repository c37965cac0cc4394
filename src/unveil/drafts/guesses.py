"""What each column of a table seems to be, why, and what is risky about it. A person decides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import pyarrow as pa

from unveil.arrays import BoolArray, FloatArray
from unveil.drafts.facts import CERTAIN, DOUBTFUL, MARKS, Dependency, Facts, dependencies, facts_of
from unveil.drafts.labels import NAMES as DIAGNOSES
from unveil.drafts.labels import recognised
from unveil.drafts.values import ENOUGH
from unveil.errors import count_text, listed, rows_text
from unveil.tables.files import header_doubt
from unveil.tables.sources import FileSource, Source, open_source

FREQUENT = 0.2
"""A doubtful text that a larger share of the rows of a column holds is a value."""
_WORD = r"(^|[_\W]){}($|[_\W])"
IDENTIFIER_NAMES = re.compile(_WORD.format("(id|ids|uuid|name|ssn|e-?mail|phone|address|account|passport)"), re.I)
NUMBER_NAMES = re.compile(
    _WORD.format("(nbr|number|num|no|nr|key|serial|serialno|mrn|pid|person|patient|member)"), re.I
)
CODE_NAMES = re.compile(_WORD.format("(codes?|recode)"), re.I)
CLASS_NAMES = re.compile(r"^(class|target|label|outcome|y|income|diagnosis|result|churn|default)$", re.I)
WEIGHT_NAMES = re.compile(r"(^|[_\W])(weights?|wgt|[pfh]?nlwgt|[ph]?wgtp?|[ph]e?rwt|hhwt)($|[_\W])", re.I)
KNOWN_NAMES = re.compile(
    _WORD.format(
        "(age|aged|birth(day|date|place)?|born|dob|sex|gender|race|ethnic\\w*|hispanic|nationality|native|country|citizen\\w*"
        "|zip\\w*|post(al|code)\\w*|plz|city|town|village|place|region|state|county|district|marital|married|relationship"
        "|household|family|children|education|school|degree|occupation|job|profession|industry|employ\\w*|workclass"
        "|worker|language|religion|veterans?|disab\\w*|income|salary|wages?)"
    ),
    re.I,
)
"""Names of what others can know about a person, or look up."""
FEW = 20
"""A number with at most this many different values may be a category."""
LONGEST_NUMBER = 2
"""Where most values are as short, they are numbers of diagnoses, not codes."""
MOST_CODES = 1000
"""A column that is called a code and has at most this many values is a category."""
MOST_LABELS = 20
"""A class has at most this many labels."""
PERSONAL = 0.1
"""A number of persons has at least this share of different values."""
OWN = 0.1
"""A column nearly identifies if this share of the rows holds a unique value."""
COSTLY = 0.05
"""To drop a larger share of the rows is said on the screen."""
ODD_TEXTS, NUMBERS_EACH = 3, 10
"""A column is a number with marks of missing values if it has at most this many texts, each for this many numbers."""
SHOWN = 5

Role = Literal["identifier", "survey-weight", "class", "number", "date", "category"]


@dataclass(frozen=True)
class Guess:
    """What a column seems to be, why, and what is risky about it."""

    name: str
    role: Role
    reason: str
    whole: bool = False
    bounds: tuple[float, float] | None = None
    missing: int = 0
    """How many rows have no value."""
    distinct: int = 0
    person: bool = False
    """Whether an identifier repeats, as one that says whose row it is does."""
    risk: str = ""
    """What to look at before the guess is trusted; a clause."""
    known: str = ""
    """Why others can know it, so that it is a quasi-identifier; empty if nothing says so."""


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
    dependencies: tuple[Dependency, ...] = ()

    @property
    def class_(self) -> Guess:
        """The column that seems to be the class."""
        return next(guess for guess in self.columns if guess.role == "class")

    @property
    def released(self) -> list[Guess]:
        """The attributes that the draft releases."""
        return [guess for guess in self.columns if guess.role in ("number", "date", "category")]

    @cached_property
    def quasi_identifier(self) -> list[Guess]:
        """What others can know, by name or because it nearly identifies; all attributes if that is less than two."""
        known = [guess for guess in self.released if guess.known]
        return known if len(known) > 1 else self.released

    @property
    def keeps_missing(self) -> bool:
        """Whether the draft keeps what is missing as a value, since dropping it would cost too many rows."""
        return self.incomplete > COSTLY * self.rows

    def above(self, column: Guess) -> str | None:
        """A category with fewer values that each value of a column belongs to; of several, the one with the most."""
        coarser = {item.determined for item in self.dependencies if item.by == column.name and item.exact}
        held = [item for item in self.released if item.name in coarser and item.role == "category"]
        fewer = [item for item in held if 1 < item.distinct <= column.distinct / 2]
        return max(fewer, key=lambda item: item.distinct).name if fewer else None

    @property
    def person(self) -> Guess | None:
        """The column that seems to say whose row it is: of identifiers that repeat, the one with the most values."""
        whose = [guess for guess in self.columns if guess.person and not guess.missing]
        return max(whose, key=lambda item: item.distinct, default=None)

    @property
    def warnings(self) -> list[str]:
        """What the owner must know before reading the draft, in sentences."""
        return list(_warnings(self))


def guess_table(source: object) -> tuple[TableGuess, str]:
    """Looks at a table; gives the guess and what messages call the table."""
    opened = open_source(source)
    columns = columns_of(opened.table(opened.schema.names), opened.origin)
    return guess_columns(columns, doubt_of(opened)), opened.origin


def columns_of(table: pa.Table, origin: str) -> list[Facts]:
    """What each column of a table holds."""
    return [facts_of(name, table[name], origin) for name in table.column_names]


def doubt_of(source: Source) -> str:
    """Why the column names of a csv file may not be names; a clause."""
    return header_doubt(source.schema.names) if isinstance(source, FileSource) and source.is_text else ""


def guess_columns(columns: Sequence[Facts], doubt: str) -> TableGuess:
    """What the columns of a table seem to be."""
    class_ = _class_of(columns)
    marks = _marks(columns, class_)
    guesses = [_guess(column, column is class_, marks) for column in columns]
    determined = tuple(dependencies([column.coded() for column in columns]))
    guesses = [_judged(guess, column, determined) for guess, column in zip(guesses, columns, strict=True)]
    missing = [
        column.missing(marks) for column, guess in zip(columns, guesses, strict=True) if guess.role != "identifier"
    ]
    incomplete = int(np.logical_or.reduce(missing).sum())
    return TableGuess(tuple(guesses), marks, columns[0].rows, incomplete, doubt, determined)


def _marks(columns: Sequence[Facts], class_: Facts) -> tuple[str, ...]:
    """The texts that mean a missing value: usual ones, and rare texts among numbers."""
    held = set().union(*(column.places for column in columns if len(column.values)))
    certain = [mark for mark in CERTAIN if mark in held]
    doubtful = [mark for mark in DOUBTFUL if mark in held and not _is_value(mark, columns, class_)]
    marks = [*certain, *doubtful]
    for column in columns:
        odd = _odd_texts(column, marks)
        others = [other for other in columns if other is not column and not _odd_texts(other, marks)]
        marks += [mark for mark in odd if mark not in marks and not any(mark in other.places for other in others)]
    return tuple(marks)


def _odd_texts(column: Facts, marks: Sequence[str]) -> list[str]:
    """Texts in a column of numbers, if they are few. Diagnoses have codes with letters."""
    if not column.is_text or DIAGNOSES.search(column.name):
        return []
    held = column.held(marks)
    odd = held & np.isnan(column.numbers)
    numbers = int(held.sum()) - int(odd.sum())
    few = 0 < odd.sum() <= ODD_TEXTS and numbers >= NUMBERS_EACH * odd.sum()
    return column.examples(odd, ODD_TEXTS) if few else []


def _is_value(mark: str, columns: Sequence[Facts], class_: Facts) -> bool:
    """Whether a doubtful text is a value: a label of the class, or frequent somewhere."""
    shares = [column.counts[column.places[mark]] / column.rows for column in columns if mark in column.places]
    return mark in class_.places or max(shares, default=0.0) > FREQUENT


def _class_of(columns: Sequence[Facts]) -> Facts:
    """By name, or else the last column with a few labels, or else the last column."""
    few = [column for column in columns if 2 <= int(column.held(CERTAIN).sum()) <= MOST_LABELS]
    few = [column for column in few if not (np.nan_to_num(column.numbers) % 1).any()]
    named = [column for column in few if CLASS_NAMES.match(column.name)]
    return (named or few or list(columns))[-1]


def _guess(column: Facts, is_class: bool, marks: Sequence[str]) -> Guess:
    held = column.held(marks)
    guess = _role(column, held, is_class)
    odd = [mark for mark in marks if mark not in MARKS and mark in column.places and not np.isnan(column.numbers).all()]
    risk = f"{listed(odd)} is taken for missing" if odd and guess.role == "number" else ""
    return replace(guess, missing=int(column.missing(marks).sum()), distinct=int(held.sum()), risk=risk)


def _role(column: Facts, held: np.ndarray, is_class: bool) -> Guess:
    name, distinct, rows = column.name, int(held.sum()), column.rows
    if is_class:
        return Guess(name, "class", count_text(distinct, "label"))
    repeated = PERSONAL * rows <= distinct < rows and distinct > FEW
    if IDENTIFIER_NAMES.search(name):
        return Guess(name, "identifier", "by its name", person=repeated)
    numbers = column.numbers[held]
    if CODE_NAMES.search(name) and distinct <= min(MOST_CODES, rows / 2):
        return Guess(name, "category", f"by its name, and {count_text(distinct, 'different value')}")
    numeric = bool(distinct) and bool(np.isfinite(numbers).all())
    if numeric and distinct > FEW and WEIGHT_NAMES.search(name) and (numbers > 0).all():
        return Guess(name, "survey-weight", f"by its name, and {distinct:,} different numbers")
    if NUMBER_NAMES.search(name) and repeated and (not numeric or (numbers % 1 == 0).all()):
        return Guess(name, "identifier", f"by its name, and {distinct:,} different values", person=True)
    if DIAGNOSES.search(name) and (revision := _revision(column, held)):
        return Guess(name, "category", f"{distinct:,} codes of {revision.upper()}")
    if (dates := column.dates(held)) is not None:
        return Guess(name, "date", count_text(len(set(dates)), "different date"), True, (min(dates), max(dates)))
    if numeric:
        return _number(name, numbers, rows)
    if distinct > 0.9 * rows and distinct > FEW:
        return Guess(name, "identifier", f"{count_text(distinct, 'different value')} in {rows_text(rows)}")
    return Guess(name, "category", count_text(distinct, "different value"))


def _revision(column: Facts, held: BoolArray) -> str:
    """The revision of ICD that most values are codes of; empty if there is none."""
    codes = [str(value) for value in column.values.filter(pa.array(held)).to_pylist()]
    revision, known = recognised(codes)
    long = sum(len(code) > LONGEST_NUMBER for code in known)
    return revision if codes and len(known) >= ENOUGH * len(codes) and long >= len(codes) / 2 else ""


def _number(name: str, numbers: FloatArray, rows: int) -> Guess:
    distinct, whole = len(np.unique(numbers)), bool((numbers == np.floor(numbers)).all())
    if whole and distinct == rows and distinct > FEW:
        return Guess(name, "identifier", "whole numbers, all different")
    if distinct <= 2:
        return Guess(name, "category", count_text(distinct, "different value"))
    codes = "; if they are codes, it is a category" if whole and distinct <= FEW else ""
    bounds = float(numbers.min()), float(numbers.max())
    return Guess(name, "number", f"{distinct:,} different numbers{codes}", whole, bounds)


def _judged(guess: Guess, column: Facts, determined: Sequence[Dependency]) -> Guess:
    """The guess with what is risky about it, and whether others can know it."""
    if guess.role in ("identifier", "survey-weight", "class"):
        return guess
    own = _own(guess, column)
    risks = [guess.risk] if guess.risk else []
    if guess.distinct == 1:
        risks.append("constant, so it says nothing")
    if own >= OWN:
        risks.append(f"{own:.0%} of the rows have a unique value")
    risks += [_dependency(item) for item in determined if item.determined == guess.name]
    known = "known by its name" if KNOWN_NAMES.search(guess.name) else "it nearly identifies" if own >= OWN else ""
    return replace(guess, risk="; ".join(risks), known="" if guess.distinct == 1 else known)


def _own(guess: Guess, column: Facts) -> float:
    """Which share of the rows holds a unique value; of a date, a day."""
    held = column.counts[:-1] > 0
    counts = column.counts[:-1][held]
    if guess.role == "date" and (dates := column.dates(held)) is not None:
        counts = np.bincount(np.unique(dates, return_inverse=True)[1], weights=counts)
    return int((counts == 1).sum()) / max(1, column.rows)


def _dependency(item: Dependency) -> str:
    if item.mutual:
        return f"says the same as {item.by!r}"
    # A share below 1 never reads as all.
    rows = "" if item.exact else f" for {min(item.share, 0.999):.1%} of the rows"
    return f"determined by {item.by!r}{rows}"


def _warnings(guess: TableGuess) -> Iterator[str]:
    if guess.doubt:
        yield f"But {guess.doubt}."
    if guess.keeps_missing:
        lacking = sorted((item for item in guess.columns if item.role != "identifier"), key=lambda item: -item.missing)
        most = ", ".join(f"{item.name!r} ({item.missing:,})" for item in lacking[:SHOWN] if item.missing)
        share = f"{guess.incomplete:,} of {rows_text(guess.rows)} ({guess.incomplete / guess.rows:.0%})"
        yield (
            f"{share} lack a value: the draft keeps them, and what is missing becomes a value. Most are in {most}; "
            "leave out columns that nobody needs."
        )
    for item in guess.columns:
        if item.person:
            use = "the draft counts persons by it" if item is guess.person else "check whose row it says"
            values = f"{item.distinct:,} values in {rows_text(guess.rows)}"
            yield f"{item.name!r} repeats ({values}), so people seem to have several rows; {use}."
        if item.role == "survey-weight":
            yield (
                f"{item.name!r} seems to be the weight of a survey: the draft does not release it, and uses it for "
                "population estimates alone."
            )
    exact = [item for item in guess.dependencies if item.determined in {column.name for column in guess.released}]
    if exact:
        more = f" and {len(exact) - SHOWN:,} more" if len(exact) > SHOWN else ""
        pairs = ", ".join(f"{item.determined!r} by {item.by!r}" for item in exact[:SHOWN]) + more
        columns = count_text(len(exact), "column")
        yield f"{columns} can be derived from another one: {pairs}. Do not mask one and release the other."
    protected = {item.name for item in guess.quasi_identifier}
    if free := [item.name for item in guess.released if item.name not in protected]:
        verb = "it is" if len(free) == 1 else "they are"
        yield f"The draft releases {listed(free, SHOWN)} as {verb}: put what others can know into the quasi-identifier."
