"""The finite domain of a number: its declared range in steps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from unveil.arrays import IntArray, NumberArray
from unveil.schema.attributes import Attribute


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

    def places(self, values: NumberArray) -> IntArray:
        """The numbers of values that lie on the grid."""
        return np.rint((np.asarray(values, dtype=np.float64) - float(self.start)) / float(self.step)).astype(np.int64)

    def place(self, value: float) -> int:
        """The number of a value that lies on the grid."""
        return round((fraction(value) - self.start) / self.step)


def grid_of(attribute: Attribute) -> Grid | None:
    """The grid of a number, or None where its range or its resolution is not declared."""
    step = Fraction(1) if attribute.whole else None if attribute.step is None else fraction(attribute.step)
    if step is None or attribute.range is None:
        return None
    lo, hi = (fraction(bound) for bound in attribute.range)
    return Grid(lo, step, int((hi - lo) / step)) if (hi - lo) % step == 0 else None
