"""Information gain, from `[value, class]` counts alone."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from unveil.arrays import FloatArray, IntArray, NumberArray
from unveil.masking import Block

NOTHING = 1e-12
"""A gain below this is rounding error and counts as none."""
TIED = 1e-9
"""Scores within this fraction of the best one are tied."""


def info_gain(children: IntArray) -> FloatArray:
    """TDR, Equations 2 and 5: how much the entropy of the class falls when a block is replaced by its children.

    It is computed as the mutual information of child and class, which equals I(R_v) − Σ |R_c| / |R_v| · I(R_c) and
    avoids the cancellation in the difference of two large entropies.

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


class Gain(Protocol):
    """What a refinement is worth, and whether it is worth looking at."""

    def of(self, children: IntArray) -> FloatArray:
        """The gain of refinements, from class counts of shape `[refinements, children, classes]`."""
        ...

    def beneficial(self, records: IntArray) -> bool:
        """Whether a block with these class counts may be refined."""
        ...


class InfoGain:
    """TDR and PDA: information gain; a block is worth refining if it holds more than one class."""

    def of(self, children: IntArray) -> FloatArray:
        """InfoGain(v)."""
        return info_gain(children)

    def beneficial(self, records: IntArray) -> bool:
        """Whether more than one class is involved in the refined records."""
        return int(np.count_nonzero(records)) > 1


def best_split(values: NumberArray, histogram: IntArray, interval: Block) -> float | None:
    """The split of an interval with the highest information gain; among ties, the lowest value.

    Anonymity plays no role here. Some record holds each value of the interval, so both sides have records.
    """
    codes = interval.codes
    if len(codes) < 2:
        return None
    left = np.cumsum(histogram[codes], axis=0)
    splits = np.stack([left[:-1], left[-1] - left[:-1]], axis=1)
    split: float = values[codes[1 + first_best(info_gain(splits))]].item()
    return split


def disclosures(parts: IntArray, hidden: IntArray) -> IntArray:
    """For each part, the pair of that part and the rest of the hidden block: the result of disclosing it."""
    return np.stack([parts, hidden - parts], axis=1)
