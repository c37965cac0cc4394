"""A checked table without its rows: all that a search needs beside counts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from unveil.arrays import FloatArray, IntArray
from unveil.schema import Attribute, widened_days
from unveil.tables.columns import Domain


@dataclass(frozen=True)
class Outline:
    """Attributes, domains and single-attribute counts, in the order of the spec, identifiers left out."""

    attributes: tuple[Attribute, ...]
    columns: tuple[Domain, ...]
    classes: Domain
    histograms: tuple[IntArray, ...]
    """For every attribute its `[value, class]` counts."""
    others: pa.Schema
    """Columns that the spec does not describe and releases as they are."""
    read: int
    dropped: int
    records: int
    """How many records the rows stand for."""
    weighted: bool
    origin: str

    @property
    def rows(self) -> int:
        """How many rows are left after the missing-value policy."""
        return self.read - self.dropped

    def bounds(self, place: int) -> tuple[float, float]:
        """The range of a number: declared, or observed and widened to round numbers."""
        attribute = self.attributes[place]
        if attribute.range is not None:
            return attribute.range
        values = np.asarray(self.columns[place].values, dtype=np.float64)
        if attribute.unit == "date":
            return widened_days(values.min(), values.max())
        return widened(values, whole=attribute.whole)


def widened(numbers: FloatArray, *, whole: bool) -> tuple[float, float]:
    """Round numbers below and above what was observed, so that no release prints the exact extremes.

    Whole numbers are rounded to tens at least. Zero stays: it is where amounts begin, not a value that points at
    somebody.
    """
    lo, hi = float(numbers.min()), float(numbers.max())
    exponent = max(math.floor(math.log10((hi - lo) or abs(hi) or 1.0)), 1 if whole else -300)
    grid = 10.0**exponent
    below = math.floor(lo / grid) - (1 if lo != 0 and math.floor(lo / grid) * grid == lo else 0)
    above = math.floor(hi / grid) + 1
    return round(below * grid, -exponent), round(above * grid, -exponent)
