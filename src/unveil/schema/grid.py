"""The finite domain of a number: its declared range in steps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from unveil.arrays import BoolArray, FloatArray, IntArray, NumberArray
from unveil.schema.attributes import Attribute

NEARLY = 1e-6
"""A number within this fraction of a step from the grid is off by rounding only."""
COUNTED = 2**31
"""Beyond this many steps floats are too coarse for that, and fractions decide."""


def fraction(number: float) -> Fraction:
    """The number as it is written in decimal: 0.1 is one tenth."""
    return Fraction(str(number))


@dataclass(frozen=True)
class Grid:
    """`size` values from `start` on, `step` apart. The values are numbered from 0."""

    start: Fraction
    step: Fraction
    size: int

    def value(self, place: int) -> int | float:
        """The value with a number; whole numbers are ints."""
        exact = self.start + place * self.step
        return int(exact) if exact.denominator == 1 else float(exact)

    def values(self, places: IntArray) -> FloatArray:
        """The values with these numbers."""
        distinct, inverse = np.unique(places, return_inverse=True)
        return np.array([self.value(place) for place in distinct.tolist()], dtype=np.float64)[inverse]

    def places(self, values: NumberArray) -> IntArray:
        """The numbers of values that lie on the grid."""
        return np.rint((np.asarray(values, dtype=np.float64) - float(self.start)) / float(self.step)).astype(np.int64)

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
    return Grid(lo, step, int((hi - lo) / step)) if (hi - lo) % step == 0 else None
