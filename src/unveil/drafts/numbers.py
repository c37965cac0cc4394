"""Drafts by numbers: nested intervals with round bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from unveil.drafts.values import Paths, Proposal, UnfitError, Values
from unveil.schema import decimal_text, fraction, parse_number

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
