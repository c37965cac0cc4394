"""Defects that were found in other implementations, or are easily made, to be planted into the publisher.

Each is a context: while it lasts, `publish_diffgen` has the defect.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from unittest.mock import patch

import numpy as np

from unveil.arrays import FloatArray, IntArray, NumberArray
from unveil.counting import Cells
from unveil.masking import Block
from unveil.noise import TwoSidedGeometric
from unveil.publishers import cells, private
from unveil.refine import InfoGainUtility, MaxUtility
from unveil.schema import Grid

LISTED = cells._all_cells


def occupied_cells_only() -> AbstractContextManager[object]:
    """Empty cells are left out of the release."""

    def held(counted: Cells, sizes: Sequence[int], noise: TwoSidedGeometric) -> tuple[IntArray, IntArray, IntArray]:
        blocks, classes, noisy = LISTED(counted, sizes, noise)
        full = {tuple(cell) for cell in counted.blocks.tolist()}
        kept = np.array([tuple(cell) in full for cell in blocks.tolist()], dtype=np.bool_)
        return blocks[kept], classes[kept], noisy[kept]

    return patch.object(cells, "_all_cells", held)


class UpToTheLargest(private.PrivateStructure):
    """Split points only up to the largest value that was observed in the interval."""

    def split(self, name: str, grid: Grid, values: NumberArray, histogram: IntArray, interval: Block) -> float | None:
        if len(interval.codes) and interval.bounds is not None:
            end = int(values[interval.codes].max()) + 1
            interval = replace(interval, bounds=(interval.bounds[0], end))
        return super().split(name, grid, values, histogram, interval)


class MidpointIfLonely(private.PrivateStructure):
    """An interval that holds at most one record is split in the middle, whatever was drawn."""

    def split(self, name: str, grid: Grid, values: NumberArray, histogram: IntArray, interval: Block) -> float | None:
        drawn = super().split(name, grid, values, histogram, interval)
        if drawn is None or interval.bounds is None or histogram[interval.codes].sum() > 1:
            return drawn
        return sum(interval.bounds) // 2


class OneChargeForFirstSplits(private.PrivateStructure):
    """The first splits of all numbers share a charge as if they were about different records."""

    def _charge_split(self, name: str) -> None:
        if self._selected or not self._charged:
            super()._charge_split(name)
        self._charged = True


class OneChargeForAll(private.PrivateStructure):
    """All draws of the structure share a charge as if they were about different records."""

    def _charge(self, purpose: str, *, parallel: bool = False) -> None:
        if not self._ledger.entries:
            super()._charge(purpose, parallel=True)


class NoCharge(private.PrivateStructure):
    """Draws for nothing."""

    def _charge(self, purpose: str, *, parallel: bool = False) -> None:
        pass


class OnlyBeneficial(MaxUtility):
    """A block of one class is not a candidate, as in TDR."""

    def beneficial(self, records: IntArray) -> bool:
        return int(np.count_nonzero(records)) > 1


class TakenForMonotone(InfoGainUtility):
    """Information gain with the tighter exponent, although it can fall when a record is added."""

    monotone = True


class Contrast(MaxUtility):
    """A utility of sensitivity 1 that rises or falls with a record, but is still said to be monotone."""

    def of(self, children: IntArray) -> FloatArray:
        """Sum over the children of the majority of one class over the other."""
        contrast: FloatArray = np.abs(children[:, :, 0] - children[:, :, 1]).sum(axis=1).astype(np.float64)
        return contrast


def structure(defect: type[private.PrivateStructure]) -> AbstractContextManager[object]:
    return patch.object(private, "PrivateStructure", defect)


def utility(defect: type[MaxUtility]) -> AbstractContextManager[object]:
    return patch.object(private, "MaxUtility", defect)


def information_gain(defect: type[InfoGainUtility]) -> AbstractContextManager[object]:
    return patch.object(private, "InfoGainUtility", defect)
