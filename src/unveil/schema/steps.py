"""Bounds at whole steps: where the intervals of an attribute may end, or must, if the owner says how fine it is.

A step is a number, and bounds are its multiples; for a date it is a number of days since 1970-01-01, or a period of the
calendar, and bounds are the first days of such periods.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import replace

from unveil.schema.attributes import EPOCH, Attribute, day_of
from unveil.schema.grid import fraction, round_split

MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""The periods of the calendar."""


def step_bounds(step: float | str, lo: float, hi: float) -> Iterator[float]:
    """All bounds strictly between two numbers, in ascending order."""
    if isinstance(step, str):
        yield from (day for day in _days(MONTHS[step], lo, hi) if lo < day < hi)
        return
    number = fraction(lo) // fraction(step) + 1
    while (bound := float(number * fraction(step))) < hi:
        if bound > lo:
            yield bound
        number += 1


def step_bounds_count(step: float | str, lo: float, hi: float) -> int:
    """About how many bounds there are between two numbers, without listing them."""
    days = 30 * MONTHS[step] if isinstance(step, str) else step
    return int((fraction(hi) - fraction(lo)) / fraction(days))


def step_split(left: float, right: float, step: float | str, attribute: Attribute) -> float | None:
    """The roundest bound that tells two neighbouring values apart; None if there is none.

    Args:
        left: A value of the data, below the bound.
        right: The next higher value of the data, at or above the bound.
        step: The step.
        attribute: What both are values of.
    """
    if isinstance(step, str):
        days = [day for day in _days(MONTHS[step], left, right) if left < day <= right]
        roundest = [day for day in days if day_of(day).month == 1] or days
        return min(roundest, key=lambda day: abs(2 * day - left - right), default=None)
    # The multiples of the step are the values of a number that is declared with this step.
    found = round_split(left, right, replace(attribute, kind="number", whole=False, step=step, range=None))
    return found if fraction(found) % fraction(step) == 0 else None


def _days(months: int, lo: float, hi: float) -> Iterator[float]:
    """The first days of periods, around two days."""
    for year in range(day_of(lo).year, day_of(hi).year + 1):
        for month in range(1, 13, months):
            yield float(datetime.date(year, month, 1).toordinal() - EPOCH)
