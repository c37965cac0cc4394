"""Round bounds: where an observed range begins and ends, and where a split is published.

A float counts as the shortest decimal that reads back as the same float, so 0.3 is three tenths. All arithmetic is on
integers or fractions, so rounding never decides on which side of a bound a value is.
"""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction

from unveil.schema.attributes import Attribute
from unveil.schema.grid import fraction
from unveil.schema.units import EPOCH, FIRST_DAY, LAST_DAY, day_of

FINER = 2
"""This many more digits than those of two neighbouring floats suffice to write any number between them."""
PERIODS = (12, 3, 1)
"""Years, quarters and months, in months: their first days are round dates, the roundest first."""


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
    wins, and the lower of two. A declared step is respected: the bound is a value that the attribute can have.

    Args:
        left: A value of the data.
        right: The next higher value of the data.
        attribute: What both are values of.
    """
    if attribute.unit == "date":
        return float(_round_day(int(left), int(right)))
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


def _round_day(left: int, right: int) -> int:
    """The first day of a year, else of a quarter, else of a month, else any day; the nearest to the middle."""
    years = range(day_of(left).year, day_of(right).year + 1)
    for months in PERIODS:
        days = [
            day
            for year in years
            for month in range(1, 13, months)
            if left < (day := datetime.date(year, month, 1).toordinal() - EPOCH) < right
        ]
        if days:
            return min(days, key=lambda day: abs(2 * day - left - right))
    return (left + right + 1) // 2


def _magnitude(number: Fraction) -> int:
    """The exponent of the highest power of ten that is not above a number."""
    digits = len(str(number.denominator))
    return len(str(number.numerator * 10**digits // number.denominator)) - 1 - digits


def _decimals(number: float) -> int:
    """How many digits a number has after its decimal point."""
    return max(0, -int(Decimal(str(number)).normalize().as_tuple().exponent))
