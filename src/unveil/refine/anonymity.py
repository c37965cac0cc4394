"""The anonymity that a refinement loses: how much nearer it brings a group to the least that its levels allow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unveil.arrays import FloatArray, IntArray
from unveil.counting.boxes import Scan
from unveil.schema import Level

DECIMALS = 6
"""Of a share, so that no rounding error of an entropy or a distance decides between candidates."""


def anonymity_lost(levels: Sequence[tuple[Level, slice]], boxes: IntArray, scan: Scan, *, fine: float) -> IntArray:
    """What each candidate takes of what its box has above the least level, times the records, in steps.

    0 if its least private piece is as private as the box, 1 if that piece only just holds: the mean over the levels,
    which come with the counts that each needs.
    """
    shares = np.zeros(len(scan.box))
    for level, section in levels:
        before = level.of(boxes[:, section])[scan.box]
        after = before.copy()
        np.minimum.at(after, scan.owner, level.of(scan.pieces[:, section]))
        shares += _share(before - after, before - level.least)
    steps: IntArray = np.floor(shares / len(levels) * boxes[scan.box, 0] * fine + 0.5).astype(np.int64)
    return steps


def _share(lost: FloatArray, spare: FloatArray) -> FloatArray:
    """Which part of what is spare is lost; all of it where nothing is spare, or a piece is left out."""
    share: FloatArray = np.divide(lost, spare, out=np.ones_like(lost), where=spare > 0)
    share[lost <= 0] = 0
    return np.minimum(share, 1).round(DECIMALS)
