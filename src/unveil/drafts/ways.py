"""Ways to draft a taxonomy: as dates, bands, diagnoses, places, numbers, codes with a common prefix, or by frequency.

The way is the one that was asked for, or the first that fits the values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from unveil.drafts.labels import LISTS_MISSING, by_bands, by_diagnoses, by_places, has_lists
from unveil.drafts.values import Paths, Proposal, UnfitError, Values, by_pairs, column_values, tree_of
from unveil.errors import TableError, TaxonomyError, count_text, did_you_mean
from unveil.schema import Taxonomy, decimal_text, fraction, parse_number, printable

_TIME = r"(?P<time>[T ]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?(Z|[+-]\d{2}(:?\d{2})?))?)?"
_YEAR, _MONTH, _DAY = r"(?P<year>\d{4})", r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})"


class Moment(NamedTuple):
    """What a value says about when: a day at least from a month on, and perhaps a time of the day."""

    day: date
    text: str
    path: tuple[str, ...]
    """The labels above the value: as many of decade, year, month and day as it is finer than."""


FORMS = {
    "year-month-day": f"{_YEAR}-{_MONTH}-{_DAY}{_TIME}",
    "year/month/day": f"{_YEAR}/{_MONTH}/{_DAY}{_TIME}",
    "day.month.year": rf"{_DAY}\.{_MONTH}\.{_YEAR}{_TIME}",
    "day/month/year": f"{_DAY}/{_MONTH}/{_YEAR}{_TIME}",
    "month/day/year": f"{_MONTH}/{_DAY}/{_YEAR}{_TIME}",
    "day-month-year": f"{_DAY}-{_MONTH}-{_YEAR}{_TIME}",
    "month-day-year": f"{_MONTH}-{_DAY}-{_YEAR}{_TIME}",
    "yearmonthday": r"(?P<year>(19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})",
    "year-month": f"{_YEAR}-{_MONTH}",
}
"""Ways to write dates, as regular expressions."""
YEARS = {"year": _YEAR}
"""Years alone are numbers as well, so they are taken for dates only if asked."""


def by_dates(values: Values, *, asked: bool) -> Proposal:
    """All values are dates of one form."""
    forms = {**FORMS, **YEARS} if asked else FORMS
    found = {name: moments for name, form in forms.items() if (moments := _moments(values, form)) is not None}
    if not found:
        raise UnfitError(_why_not(values, forms.values()))
    name, *also = found
    moments = found[name]
    example = f"dates written as {name}, such as {moments[0].text!r}"
    doubt = f"; {also[0]} fits as well" if also else ""
    paths: Paths = {moment.text: moment.path for moment in moments}
    return Proposal(paths, f"all {len(paths):,} values are {example}{doubt}")


def _moments(values: Values, form: str) -> list[Moment] | None:
    moments = []
    for text in values.counts:
        moment = _moment(text, form)
        if moment is None:
            return None
        moments.append(moment)
    return sorted(moments)


def _moment(text: str, form: str) -> Moment | None:
    match = re.fullmatch(form, text, re.ASCII)
    if match is None:
        return None
    found = match.groupdict()
    try:
        day = date(int(found["year"]), int(found.get("month") or 1), int(found.get("day") or 1))
    except ValueError:
        return None
    levels = 1 + ("month" in found) + ("day" in found) + bool(found.get("time"))
    labels = (f"{day.year // 10 * 10:04d}s", f"{day.year:04d}", f"{day.year:04d}-{day.month:02d}", day.isoformat())
    return Moment(day, text, labels[:levels])


def _why_not(values: Values, forms: Collection[str]) -> str:
    for text in values.counts:
        if all(_moment(text, form) is None for form in forms):
            return f"the value {text!r} is not a date"
    return "the values are dates of different forms"


RUNS = 4
LEAST = 0.01
"""Shares below this are not written out."""


def by_frequency(values: Values, *, asked: bool) -> Proposal:
    """Any values; nothing is known about them but how often they occur.

    Values are ordered by frequency and cut into four runs that hold about as many rows each. A run of one value is a
    leaf; a longer one is cut again. So a value that a quarter of the rows hold can be released after one
    specialization, and values that few rows hold take many, which is where a requirement would stop anyway.
    """
    ordered = sorted(values.counts, key=lambda text: (-values.counts[text], text))
    paths: Paths = {}
    _place(ordered, [values.counts[text] for text in ordered], (), "", paths)
    share = values.counts[ordered[0]] / sum(values.counts.values())
    kinds = count_text(len(ordered), "value")
    most = f"{share:.0%}" if share >= LEAST else f"less than {LEAST:.0%}"
    return Proposal(paths, f"{kinds} by how many rows hold them, {ordered[0]!r} first with {most}")


def _place(texts: Sequence[str], counts: Sequence[int], above: tuple[str, ...], number: str, paths: Paths) -> None:
    """Values alone come first, in the order of their characters, so that the order says no more than the tree."""
    runs = _runs(counts)
    for text in sorted(texts[start] for start, stop in runs if stop - start == 1):
        paths[text] = above
    longer = [run for run in runs if run[1] - run[0] > 1]
    for place, (start, stop) in enumerate(longer, start=1):
        name = f"{number}{place}"
        _place(texts[start:stop], counts[start:stop], (*above, f"Group {name}"), f"{name}.", paths)


def _runs(counts: Sequence[int]) -> list[tuple[int, int]]:
    """Up to four runs with about as many rows each; every run has a value."""
    runs: list[tuple[int, int]] = []
    start, rest = 0, sum(counts)
    for left in range(min(RUNS, len(counts)), 0, -1):
        stop, held = start + 1, counts[start]
        while stop < len(counts) - left + 1 and (left == 1 or held * left < rest):
            held += counts[stop]
            stop += 1
        runs.append((start, stop))
        start, rest = stop, rest - held
    return runs


FEWER = Fraction(2, 3)
"""A level is worth having if it leaves at most this share of the groups below it."""


@dataclass(frozen=True)
class Numbers:
    """Numbers in ascending order as integers of a unit, since fractions would be slow to compare."""

    counts: list[int]
    unit: Fraction

    def cells(self, width: Fraction) -> list[int]:
        """For each number, which interval of a width it lies in; the interval 0 begins at zero."""
        ratio = width / self.unit
        return [count * ratio.denominator // ratio.numerator for count in self.counts]

    def intervals(self, width: Fraction) -> list[str]:
        """For each number the label of its interval."""
        cells = self.cells(width)
        labels = {cell: f"[{_text(cell * width)}, {_text((cell + 1) * width)})" for cell in set(cells)}
        return [labels[cell] for cell in cells]


def by_numbers(values: Values, *, asked: bool) -> Proposal:
    """All values are finite numbers. Years and codes of digits are numbers too, if nothing else was found in them."""
    ordered = sorted((_number(text), text) for text in values.counts)
    exact = [fraction(number) for number, _ in ordered]
    unit = Fraction(1, math.lcm(*{number.denominator for number in exact}))
    numbers = Numbers([number.numerator * (unit.denominator // number.denominator) for number in exact], unit)
    widths = _levels(numbers)
    columns = [numbers.intervals(width) for width in reversed(widths)]
    paths: Paths = {text: tuple(column[place] for column in columns) for place, (_, text) in enumerate(ordered)}
    steps = f"; the intervals have widths of {', '.join(map(_text, widths))}" if widths else ""
    span = f"from {ordered[0][1]} to {ordered[-1][1]}"
    return Proposal(paths, f"all {len(paths):,} values are numbers {span}{steps}")


def _text(number: Fraction) -> str:
    """A bound as it is written; a whole one may lie beyond the largest float."""
    return str(number) if number.denominator == 1 else decimal_text(number)


def _number(text: str) -> float:
    number = parse_number(text)
    if number is None or not math.isfinite(number):
        raise UnfitError(f"the value {text!r} is not a number")
    return number


def _levels(numbers: Numbers) -> list[Fraction]:
    """The widths of the intervals, each a multiple of the one before, until two intervals hold everything."""
    groups = len(set(numbers.counts))
    if groups < 3:
        return []
    kept: list[Fraction] = []
    for width in _widths((numbers.counts[-1] - numbers.counts[0]) * numbers.unit / groups):
        cells = len(set(numbers.cells(width)))
        if 1 < cells <= FEWER * groups:
            kept.append(width)
            groups = cells
        if cells <= 2:
            break
    return kept


def _widths(gap: Fraction) -> Iterator[Fraction]:
    """Round numbers from below a gap on: 1, 5, 10, 50 and so on. Each divides the next, so that intervals nest."""
    width = Fraction(10) ** math.floor(math.log10(gap.numerator) - math.log10(gap.denominator))
    while True:
        yield width
        yield 5 * width
        width *= 10


LONGEST = 40
"""Codes are not longer than this; texts are."""
CODE_NAMES = re.compile(r"(^|[_\W])(zip|zip-?code|postal|post-?code|plz|fips|icd\d*|naics|sic|code)($|[_\W])", re.I)
_CODE = re.compile(r"(?=.*\d)[0-9A-Z]+([-. /][0-9A-Z]+)*", re.ASCII)


def by_prefix(values: Values, *, asked: bool) -> Proposal:
    """All values are codes of one length; some begin alike."""
    codes = sorted(values.counts)
    length = len(codes[0])
    if odd := [code for code in codes if len(code) != length]:
        raise UnfitError(f"{codes[0]!r} and {odd[0]!r} are not of the same length")
    if length > LONGEST:
        raise UnfitError(f"{codes[0]!r} is longer than {LONGEST} characters")
    if not asked:
        _check_codes(values, codes)
    starts = [size for size in range(1, length) if len({code[:size] for code in codes}) < len(codes)]
    paths: Paths = {code: tuple(code[:size] + "*" * (length - size) for size in starts) for code in codes}
    if not starts:
        raise UnfitError("no two codes begin alike")
    return Proposal(paths, f"all {len(codes):,} values are codes of {length} characters, such as {codes[0]!r}")


def _check_codes(values: Values, codes: list[str]) -> None:
    """Digits alone are a number, unless they begin with a zero or the column is called a code."""
    if odd := [code for code in codes if not _CODE.fullmatch(code)]:
        raise UnfitError(f"the value {odd[0]!r} does not look like a code")
    digits = all(code.isdigit() for code in codes)
    zeros = len(codes[0]) > 1 and any(code.startswith("0") for code in codes)
    if digits and not zeros and not CODE_NAMES.search(values.attribute):
        raise UnfitError("the values are plain numbers")


class Way(Protocol):
    """A way to draft; raises `UnfitError` where it does not fit. What was asked for need fit less well than a guess."""

    def __call__(self, values: Values, *, asked: bool) -> Proposal:
        """The paths of the values and why the way fits."""
        ...


WAYS: dict[str, Way] = {
    "dates": by_dates,
    "bands": by_bands,
    "diagnoses": by_diagnoses,
    "countries": by_places,
    "prefix": by_prefix,
    "numbers": by_numbers,
    "frequency": by_frequency,
}
"""All ways, in the order in which they are tried; the last fits always."""


@dataclass(frozen=True)
class Draft:
    """A proposed taxonomy, and what was guessed about the column."""

    values: Values
    by: str
    reason: str
    taxonomy: Taxonomy


def draft(
    table: Any,
    attribute: str,
    by: str | None = None,
    missing: Sequence[str] | None = None,
    above: Sequence[str] = (),
) -> Draft:
    """Proposes a taxonomy over the values of a column, by the first of `WAYS` that fits if none is asked for.

    If columns are named that lie `above` it, the coarsest first, their values are the labels above each value.
    """
    if above:
        if by is not None:
            raise TaxonomyError("a taxonomy is drafted by the columns above it or by a way, not by both.")
        values = column_values(table, attribute, missing)
        return _drafted(values, "pairs", by_pairs(table, values, above))
    if by is not None and by not in WAYS:
        hint = did_you_mean(by, WAYS) or f"; the ways are {', '.join(WAYS)}."
        raise TaxonomyError(f"a taxonomy cannot be drafted by {by!r}{hint}")
    values = column_values(table, attribute, missing)
    return _drafted(values, *(_guessed(values) if by is None else (by, _asked(values, by))))


def _drafted(values: Values, chosen: str, proposal: Proposal) -> Draft:
    mark = (
        f"drafted by {chosen} from the values of {values.attribute!r} in {printable(values.origin)}; "
        "not public until a person removes this mark"
    )
    branch = tree_of(f"Any {values.attribute}", proposal.paths)
    return Draft(values, chosen, proposal.reason, Taxonomy(branch, values.place, mark))


def _asked(values: Values, by: str) -> Proposal:
    try:
        return WAYS[by](values, asked=True)
    except UnfitError as error:
        raise TableError(f"{values.place}: a taxonomy cannot be drafted by {by}: {error}.") from error


def _guessed(values: Values) -> tuple[str, Proposal]:
    for by, way in WAYS.items():
        try:
            proposal = way(values, asked=False)
        except UnfitError:
            continue
        if by == "frequency":
            doubt = "" if has_lists() else f"; {LISTS_MISSING}"
            return by, Proposal(proposal.paths, f"{proposal.reason}, since no other way fits{doubt}")
        return by, proposal
    raise AssertionError("a draft by frequency fits any values")
