"""Drafts by numbers: nested intervals with round bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from unveil.drafts.values import Paths, Proposal, UnfitError, Values
from unveil.schema import decimal_text, fraction, parse_number

FEWER = Fraction(2, 3)
"""A level is worth having if it leaves at most this share of the groups below it."""


def by_numbers(values: Values, *, asked: bool) -> Proposal:
    """All values are finite numbers. Years and codes of digits are numbers too, if nothing else was found in them."""
    ordered = sorted((_exact(text), text) for text in values.counts)
    numbers = [number for number, _ in ordered]
    widths = _levels(numbers)
    columns = [_intervals(numbers, width) for width in reversed(widths)]
    paths: Paths = {text: tuple(column[place] for column in columns) for place, (_, text) in enumerate(ordered)}
    steps = f"; the intervals have widths of {', '.join(map(decimal_text, widths))}" if widths else ""
    span = f"from {ordered[0][1]} to {ordered[-1][1]}"
    return Proposal(paths, f"all {len(paths):,} values are numbers {span}{steps}")


def _exact(text: str) -> Fraction:
    number = parse_number(text)
    if number is None or not math.isfinite(number):
        raise UnfitError(f"the value {text!r} is not a number")
    return fraction(number)


def _levels(numbers: list[Fraction]) -> list[Fraction]:
    """The widths of the intervals, each a multiple of the one before, until two intervals hold everything."""
    groups = len(set(numbers))
    if groups < 3:
        return []
    kept: list[Fraction] = []
    for width in _widths((numbers[-1] - numbers[0]) / groups):
        cells = len(set(_cells(numbers, width)))
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


def _cells(numbers: list[Fraction], width: Fraction) -> list[int]:
    """The number of the interval of each number, in plain integers: fractions would be slow."""
    over, under = width.numerator, width.denominator
    return [number.numerator * under // (number.denominator * over) for number in numbers]


def _intervals(numbers: list[Fraction], width: Fraction) -> list[str]:
    cells = _cells(numbers, width)
    labels = {cell: f"[{decimal_text(cell * width)}, {decimal_text((cell + 1) * width)})" for cell in set(cells)}
    return [labels[cell] for cell in cells]
