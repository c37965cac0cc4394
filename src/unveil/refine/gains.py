"""Information gain, from `[value, class]` counts alone."""

from __future__ import annotations

import numpy as np

from unveil.arrays import FloatArray, IntArray

NOTHING = 1e-12
"""A gain below this is rounding, and counts as none."""
TIED = 1e-9
"""Scores that differ by less than this part of the best one are tied."""


def info_gain(children: IntArray) -> FloatArray:
    """TDR, Equations 2 and 5: how much the entropy of the class falls when a block gives way to its children.

    It is computed as the mutual information of child and class, which equals I(R_v) − Σ |R_c| / |R_v| · I(R_c) and does
    not lose digits to the difference of two large entropies.

    Args:
        children: Class counts, shape `[refinements, children, classes]`.
    """
    joint = children.astype(np.float64)
    records = joint.sum(axis=(1, 2), keepdims=True)
    expected = joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
    ratio = np.divide(joint * records, expected, out=np.ones_like(joint), where=joint > 0)
    shares = np.divide(joint, records, out=np.zeros_like(joint), where=records > 0)
    gain: FloatArray = (shares * np.log2(ratio)).sum(axis=(1, 2))
    gain[np.abs(gain) < NOTHING] = 0.0
    return gain


def first_best(values: FloatArray) -> int:
    """The first of the values that are tied for the highest."""
    best = values.max()
    return int(np.argmax(values >= best * (1 - TIED)))


def best_split(histogram: IntArray, codes: IntArray) -> int | None:
    """The value that splits an interval with the highest information gain, the lowest of those tied.

    Anonymity plays no part in it. Every value of the interval is held by some record, so both sides have records.
    """
    if len(codes) < 2:
        return None
    left = np.cumsum(histogram[codes], axis=0)
    total = left[-1]
    splits = np.stack([left[:-1], total - left[:-1]], axis=1)
    return int(codes[1 + first_best(info_gain(splits))])


def refinement_gain(parts: IntArray) -> FloatArray:
    """The gain of refining a block into all its parts, from the class counts of the parts."""
    return info_gain(parts[None])


def disclosure_gains(parts: IntArray, hidden: IntArray) -> FloatArray:
    """The gain of disclosing each part, from its class counts and those of all that is still hidden."""
    return info_gain(np.stack([parts, hidden - parts], axis=1))
