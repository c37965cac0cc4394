"""The grid of a number: the few cut points that all boxes share, so that labels stay few and comparable."""

from __future__ import annotations

import numpy as np

from unveil.arrays import FloatArray, IntArray

POINTS = 12
"""How many cut points a number has at most."""
STEPS = 1 << 20
"""Gains are counted in steps of 2^−20 bits."""


def cut_points(histogram: IntArray, targets: int = 1, most: int = POINTS) -> IntArray:
    """Where a greedy discretization by the class, or by other targets, cuts a number; in ascending order.

    The interval and the split with the most information about the targets are next, in bits over the records; among
    ties the lowest. It ends at `most` points, or when no split adds information.

    Args:
        histogram: The `[value, class]` counts, values in domain order; for several targets, one after the other.
        targets: How many targets there are. Without any, the records count, and intervals have about equally many.
        most: How many points there may be.
    """
    held = np.flatnonzero(histogram.sum(axis=1))
    counts = histogram[held]
    best = {(0, len(held)): _best(counts, targets)} if len(held) else {}
    points: list[int] = []
    while best and len(points) < most:
        lo, hi = max(best, key=lambda part: (best[part][0], -part[0]))
        gain, at = best.pop((lo, hi))
        if gain <= 0:
            break
        points.append(lo + at)
        for part in ((lo, lo + at), (lo + at, hi)):
            best[part] = _best(counts[slice(*part)], targets)
    return held[np.sort(np.array(points, dtype=np.int64))]


def _best(counts: IntArray, targets: int) -> tuple[float, int]:
    """The gain of the best split of these values, and how many values are on its left; no gain if there is none."""
    if len(counts) < 2:
        return 0.0, 0
    left = np.cumsum(counts, axis=0)
    right = left[-1] - left[:-1]
    bits = _purity(left[:-1], targets) + _purity(right, targets) - _purity(left[-1:], targets)
    # Whole steps, so that rounding errors break no ties.
    gains = np.floor(bits * STEPS + 0.5)
    at = int(np.argmax(gains))
    return float(gains[at]), at + 1


def _purity(counts: IntArray, targets: int) -> FloatArray:
    """Minus the entropy of the targets, in bits over the records; without any, that of the interval."""
    several = max(targets, 1)
    spread: FloatArray = several * _xlogx(counts.sum(axis=1) // several)
    return _xlogx(counts).sum(axis=1) - spread if targets else -spread


def _xlogx(counts: IntArray) -> FloatArray:
    floats = counts.astype(np.float64)
    return floats * np.log2(np.maximum(floats, 1))
