"""Drafts by dates: the moment, its day, month, year and decade."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from unveil.drafts.values import Paths, Proposal, UnfitError, Values

_TIME = r"(?P<time>[T ]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?(Z|[+-]\d{2}(:?\d{2})?))?)?"
_YEAR, _MONTH, _DAY = r"(?P<year>\d{4})", r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})"


@dataclass(frozen=True)
class Form:
    """A way to write dates."""

    name: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, order=True)
class Moment:
    """What a value says about when: a day at least from a month on, and perhaps a time of the day."""

    day: date
    text: str
    levels: int
    """How many of decade, year, month and day lie above the value."""

    @property
    def path(self) -> tuple[str, ...]:
        """The labels above the value."""
        year = self.day.year
        labels = (f"{year // 10 * 10:04d}s", f"{year:04d}", f"{year:04d}-{self.day.month:02d}", self.day.isoformat())
        return labels[: self.levels]


def _form(name: str, pattern: str) -> Form:
    return Form(name, re.compile(pattern, re.ASCII))


FORMS = (
    _form("year-month-day", f"{_YEAR}-{_MONTH}-{_DAY}{_TIME}"),
    _form("year/month/day", f"{_YEAR}/{_MONTH}/{_DAY}{_TIME}"),
    _form("day.month.year", rf"{_DAY}\.{_MONTH}\.{_YEAR}{_TIME}"),
    _form("day/month/year", f"{_DAY}/{_MONTH}/{_YEAR}{_TIME}"),
    _form("month/day/year", f"{_MONTH}/{_DAY}/{_YEAR}{_TIME}"),
    _form("day-month-year", f"{_DAY}-{_MONTH}-{_YEAR}{_TIME}"),
    _form("month-day-year", f"{_MONTH}-{_DAY}-{_YEAR}{_TIME}"),
    _form("yearmonthday", r"(?P<year>(19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})"),
    _form("year-month", f"{_YEAR}-{_MONTH}"),
)
YEARS = _form("year", _YEAR)
"""Years alone are numbers as well, so they are taken for dates only if asked."""


def by_dates(values: Values, *, asked: bool) -> Proposal:
    """All values are dates of one form."""
    forms = (*FORMS, YEARS) if asked else FORMS
    found = {form.name: moments for form in forms if (moments := _moments(values, form)) is not None}
    if not found:
        raise UnfitError(_why_not(values, forms))
    name, *also = found
    moments = found[name]
    example = f"dates written as {name}, such as {moments[0].text!r}"
    doubt = f"; {also[0]} fits as well" if also else ""
    paths: Paths = {moment.text: moment.path for moment in moments}
    return Proposal(paths, f"all {len(paths):,} values are {example}{doubt}")


def _moments(values: Values, form: Form) -> list[Moment] | None:
    moments = []
    for text in values.counts:
        moment = _moment(text, form)
        if moment is None:
            return None
        moments.append(moment)
    return sorted(moments)


def _moment(text: str, form: Form) -> Moment | None:
    match = form.pattern.fullmatch(text)
    if match is None:
        return None
    found = match.groupdict()
    try:
        day = date(int(found["year"]), int(found.get("month") or 1), int(found.get("day") or 1))
    except ValueError:
        return None
    levels = 1 + ("month" in found) + ("day" in found) + bool(found.get("time"))
    return Moment(day, text, levels)


def _why_not(values: Values, forms: tuple[Form, ...]) -> str:
    for text in values.counts:
        if all(_moment(text, form) is None for form in forms):
            return f"the value {text!r} is not a date"
    return "the values are dates of different forms"
