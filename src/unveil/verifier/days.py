"""Days: dates as numbers that can be compared, and as ISO 8601 writes them."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Any

START = date(1970, 1, 1)
WRITTEN = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d.*)?", re.ASCII)


def day_number(value: Any) -> int | None:
    """How many days after 1970-01-01 a date, a time stamp or the text of one lies; None for anything else.

    A time stamp lies on the day that it shows, in whatever zone it is written.
    """
    if isinstance(value, datetime):
        value = value.date()
    if isinstance(value, str):
        value = _read_day(value)
    return (value - START).days if isinstance(value, date) else None


def day_text(number: int) -> str:
    """The day as ISO 8601 writes it."""
    return (START + timedelta(days=number)).isoformat()


def _read_day(text: str) -> date | None:
    found = WRITTEN.fullmatch(text)
    try:
        return datetime.strptime(found[1], "%Y-%m-%d").date() if found else None
    except ValueError:
        return None
