"""The grid of a number: the few cut points that all boxes share, so that labels stay few and comparable."""

from __future__ import annotations

import numpy as np

from unveil.arrays import FloatArray, IntArray

POINTS = 12
"""How many cut points a number has at most."""
STEPS = 1 << 20
"""Gains are counted in steps of 2^−20 bits."""


def cut_points(histogram: IntArray, most: int = POINTS) -> IntArray:
    """Where a greedy discretization by the class cuts a number; in ascending order.

    The interval and the split with the most information about the class are next, in bits over the records; among
    ties the lowest. It ends at `most` points, or when no split adds information.

    Args:
        histogram: The `[value, class]` counts, values in domain order.
        most: How many points there may be.
    """
    held = np.flatnonzero(histogram.sum(axis=1))
    counts = histogram[held]
    best = {(0, len(held)): _best(counts)} if len(held) else {}
    points: list[int] = []
    while best and len(points) < most:
        lo, hi = max(best, key=lambda part: (best[part][0], -part[0]))
        gain, at = best.pop((lo, hi))
        if gain <= 0:
            break
        points.append(lo + at)
        for part in ((lo, lo + at), (lo + at, hi)):
            best[part] = _best(counts[slice(*part)])
    return held[np.sort(np.array(points, dtype=np.int64))]


def _best(counts: IntArray) -> tuple[float, int]:
    """The gain of the best split of these values, and how many values are on its left; no gain if there is none."""
    if len(counts) < 2:
        return 0.0, 0
    left = np.cumsum(counts, axis=0)
    right = left[-1] - left[:-1]
    bits = _purity(left[:-1]) + _purity(right) - _purity(left[-1:])
    # Whole steps, so that rounding errors break no ties.
    gains = np.floor(bits * STEPS + 0.5)
    at = int(np.argmax(gains))
    return float(gains[at]), at + 1


def _purity(counts: IntArray) -> FloatArray:
    """Minus the entropy of the class, in bits over the records."""
    entropy: FloatArray = _xlogx(counts).sum(axis=1) - _xlogx(counts.sum(axis=1))
    return entropy


def _xlogx(counts: IntArray) -> FloatArray:
    floats = counts.astype(np.float64)
    return floats * np.log2(np.maximum(floats, 1))
