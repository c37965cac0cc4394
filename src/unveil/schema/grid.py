"""Numbers as decimals: the finite domain of a number in steps, and round bounds of ranges and splits.

A float counts as the shortest decimal that reads back as the same float, so 0.3 is three tenths. What decides on which
side of a bound a value is uses integers and fractions, so rounding never does.

Where the owner says how fine an attribute may or must be, intervals end at whole steps. A step is a number, and bounds
are its multiples; for a date it is a number of days since 1970-01-01, or a period of the calendar, and bounds are the
first days of such periods.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np

from unveil.arrays import BoolArray, FloatArray, IntArray, NumberArray
from unveil.schema.attributes import AFTER_ALL, EPOCH, FIRST_DAY, LAST_DAY, Attribute, day_of, missing_number

NEARLY = 1e-6
"""A number within this fraction of a step from the grid is off by rounding only."""
COUNTED = 2**31
"""Beyond this many steps floats are too coarse for that, and fractions decide."""
FINER = 2
"""This many more digits than those of two neighbouring floats suffice to write any number between them."""
PERIODS = (12, 3, 1)
"""Years, quarters and months, in months: their first days are round dates, the roundest first."""
MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""The periods of the calendar."""


@lru_cache(1 << 12, typed=True)
def fraction(number: float) -> Fraction:
    """The number as it is written in decimal: 0.1 is one tenth. The same few bounds and steps are asked for often."""
    return Fraction(str(number))


@dataclass(frozen=True)
class Grid:
    """`size` values from `start` on, `step` apart, and after them kinds of missing ones. Values are numbered from 0."""

    start: Fraction
    step: Fraction
    size: int
    kinds: int = 0

    @property
    def total(self) -> int:
        """How many values there are, kinds of missing ones among them."""
        return self.size + self.kinds

    def value(self, place: int) -> int | float:
        """The value with a number; whole numbers are ints."""
        if self.kinds and place >= self.size:
            return missing_number(place - self.size)
        exact = self.start + place * self.step
        return int(exact) if exact.denominator == 1 else float(exact)

    def values(self, places: IntArray) -> FloatArray:
        """The values with these numbers."""
        below = math.lcm(self.start.denominator, self.step.denominator)
        first, each = int(self.start * below), int(self.step * below)
        if not self.kinds and max(abs(first), abs(first + each * self.size), below) <= 2**53:
            # Both are exact as floats, so that their quotient is rounded once, like the fraction itself.
            exact: FloatArray = (first + each * places) / below
            return exact
        distinct, inverse = np.unique(places, return_inverse=True)
        return np.array([self.value(place) for place in distinct.tolist()], dtype=np.float64)[inverse]

    def places(self, values: NumberArray) -> IntArray:
        """The numbers of values that lie on the grid."""
        numbers = np.asarray(values, dtype=np.float64)
        gone = numbers >= AFTER_ALL
        steps = (np.where(gone, float(self.start), numbers) - float(self.start)) / float(self.step)
        kinds = np.log10(np.where(gone, numbers, AFTER_ALL) / AFTER_ALL)
        return np.rint(np.where(gone, self.size + kinds, steps)).astype(np.int64)

    def lowered(self, numbers: FloatArray) -> FloatArray:
        """Rounds numbers of the range to the grid value at or just above them; others, and NaN, are unchanged."""
        start, step = float(self.start), float(self.step)
        inside = (numbers >= start) & (numbers < float(self.start + self.size * self.step))
        steps = (numbers[inside] - start) / step
        # Far from zero, a step is smaller than the rounding error of a float.
        rounding = NEARLY + (np.abs(numbers[inside]) + abs(start)) / step * 2.0**-51
        nearest = np.rint(steps)
        places = np.where(np.abs(steps - nearest) <= rounding, nearest, np.floor(steps)).astype(np.int64)
        lowered = numbers.copy()
        lowered[inside] = self.values(places)
        return lowered

    def place(self, value: float) -> int:
        """The number of a value that lies on the grid."""
        if value >= AFTER_ALL:
            return self.size + round(math.log10(value / AFTER_ALL))
        return round((fraction(value) - self.start) / self.step)


def off_step(numbers: NumberArray, start: float, step: float) -> BoolArray:
    """Which numbers are not a whole number of steps from the start, by more than rounding."""
    steps = (np.asarray(numbers, dtype=np.float64) - start) / step
    off: BoolArray = (np.abs(steps - np.rint(steps)) > NEARLY) | (np.abs(steps) > COUNTED)
    for place in np.flatnonzero(off):
        exact = (fraction(numbers[place]) - fraction(start)) / fraction(step)
        off[place] = abs(exact - round(exact)) > NEARLY
    return off


def grid_of(attribute: Attribute) -> Grid | None:
    """The grid of a number, or None where its range or its resolution is not declared."""
    step = Fraction(1) if attribute.whole else None if attribute.step is None else fraction(attribute.step)
    if step is None or attribute.range is None:
        return None
    lo, hi = (fraction(bound) for bound in attribute.range)
    return Grid(lo, step, int((hi - lo) / step), len(attribute.missing.kinds)) if (hi - lo) % step == 0 else None


def widened(lo: float, hi: float, *, whole: bool) -> tuple[float, float]:
    """Round numbers below and above what was observed, so that no release prints the exact extremes.

    Whole numbers are rounded to tens at least. Zero stays: amounts start there, so it identifies nobody.
    """
    lowest, highest = fraction(lo), fraction(hi)
    exponent = _magnitude(highest - lowest or abs(highest) or Fraction(1))
    grid = Fraction(10) ** (max(exponent, 1) if whole else exponent)
    below, above = math.ceil(lowest / grid) - 1, math.floor(highest / grid) + 1
    # Near the resolution of floats, a round number can read back as the value itself.
    while float(below * grid) >= lo:
        below -= 1
    while float(above * grid) <= hi:
        above += 1
    return 0.0 if lo == 0 else float(below * grid), float(above * grid)


def widened_days(lo: float, hi: float) -> tuple[float, float]:
    """Whole months around what was observed, or whole years where it spans more than two.

    The range starts before the earliest observed day, so that no release prints the exact extremes.
    """
    first, last = day_of(max(lo - 1, FIRST_DAY)), day_of(hi)
    if hi - lo > 2 * 366:
        below, above = first.replace(month=1, day=1), (last.year + 1, 1)
    else:
        below, above = first.replace(day=1), (last.year + last.month // 12, last.month % 12 + 1)
    end = LAST_DAY if above[0] > datetime.MAXYEAR else datetime.date(*above, 1).toordinal() - EPOCH
    return float(below.toordinal() - EPOCH), float(end)


def round_split(left: float, right: float, attribute: Attribute) -> float:
    """The roundest bound strictly between two neighbouring values; the right one if there is none.

    A number is rounder if a higher power of ten divides it. Among equally round numbers the one nearest to the middle
    wins, and the lower of two. A declared step is respected: the bound is a value that the attribute can have. What is
    missing has no neighbours to be rounded to.
    """
    if right >= AFTER_ALL:
        return right
    if attribute.unit == "date":
        return _round_day(left, right)
    steps = _steps(attribute)
    digits = max(_decimals(number) for number in (left, right, *(steps or ())))
    unit: int = 10 ** (digits if steps else digits + FINER)
    low, high = int(fraction(left) * unit), int(fraction(right) * unit)
    start, step = (int(fraction(number) * unit) for number in steps) if steps else (0, 1)
    for zeros in range(len(str(max(abs(low), abs(high)))), -1, -1):
        found = _nearest(low + high, 10**zeros, start, step)
        if found is not None and left < found / unit < right:
            return found / unit
    return right


def _steps(attribute: Attribute) -> tuple[float, float] | None:
    """The first value of a number and the step between values; None if nothing is declared."""
    if attribute.whole:
        return 0, 1
    if attribute.step is None:
        return None
    return attribute.range[0] if attribute.range else 0, attribute.step


def _nearest(twice_middle: int, power: int, start: int, step: int) -> int | None:
    """The multiple of a power of ten, among the numbers `start + n · step`, that lies nearest to a middle.

    These multiples solve two congruences, so they are evenly spaced; None if there are none.
    """
    common = math.gcd(power, step)
    if start % common:
        return None
    apart = power * step // common
    first = power * (start // common * pow(power // common, -1, step // common)) % apart
    return first - (apart - twice_middle + 2 * first) // (2 * apart) * apart


def _round_day(left: float, right: float) -> float:
    """The first day of a year, else of a quarter, else of a month, else any day; the nearest to the middle."""
    for months in PERIODS:
        if days := [day for day in _days(months, left, right) if left < day < right]:
            return min(days, key=lambda day: abs(2 * day - left - right))
    return (left + right + 1) // 2


def _magnitude(number: Fraction) -> int:
    """The exponent of the highest power of ten that is not above a number."""
    digits = len(str(number.denominator))
    return len(str(number.numerator * 10**digits // number.denominator)) - 1 - digits


def _decimals(number: float) -> int:
    """How many digits a number has after its decimal point."""
    return max(0, -int(Decimal(str(number)).normalize().as_tuple().exponent))


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
    """The roundest bound at a step above a value and not above the next one; None if there is none."""
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
