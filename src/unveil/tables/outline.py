"""A checked table without its rows: all that a search needs beside counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from unveil.arrays import IntArray
from unveil.schema import Attribute, widened, widened_days
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
        lo, hi = float(values.min()), float(values.max())
        return widened_days(lo, hi) if attribute.unit == "date" else widened(lo, hi, whole=attribute.whole)
