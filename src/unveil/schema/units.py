"""The unit of an ordered value: numbers are themselves, dates are days since 1970-01-01.

The search works on numbers only. Raw values become numbers here, and numbers become labels, and nowhere else.
"""

from __future__ import annotations

import datetime
import re

from unveil.schema.attributes import Unit, number_text, parse_number

EPOCH = datetime.date(1970, 1, 1).toordinal()
LAST_DAY = datetime.date.max.toordinal() - EPOCH
"""The last day of the calendar. An interval has an end after its last day, so no value can be this one."""
FIRST_DAY = datetime.date.min.toordinal() - EPOCH
DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
TIME = re.compile(r"[T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?( ?(Z|[+-]\d{2}(:?\d{2})?))?", re.ASCII)


def number_of(value: object, unit: Unit) -> float | None:
    """A raw value as a number; None if it is not one."""
    return parse_number(value) if unit == "number" else parse_day(value)


def bound_text(number: float, unit: Unit) -> str:
    """A number as labels and messages write it."""
    return number_text(number) if unit == "number" else day_of(number).isoformat()


def interval_label(lo: float, hi: float, unit: Unit = "number") -> str:
    """The label of a half-open interval."""
    return f"[{bound_text(lo, unit)}, {bound_text(hi, unit)})"


def parse_day(value: object) -> float | None:
    """The day of a date, of a time stamp, or of text such as `2019-01-31` or `2019-01-31T23:59:00Z`.

    A time stamp counts as the day it shows, in its own time zone.
    """
    if isinstance(value, datetime.date):
        return float(value.toordinal() - EPOCH)
    if not isinstance(value, str) or not DAY.match(value) or (value[10:] and not TIME.fullmatch(value, 10)):
        return None
    try:
        return float(datetime.date.fromisoformat(value[:10]).toordinal() - EPOCH)
    except ValueError:
        return None


def day_of(number: float) -> datetime.date:
    """The date of a number of days since 1970-01-01."""
    return datetime.date.fromordinal(int(number) + EPOCH)
