"""What a refinement is worth: the class information that it adds to the groups, per information that it gives away."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unveil.arrays import FloatArray, IntArray

FINEST = 24
"""Gains are counted in steps of 2^−24 bits, or in larger ones if the records are so many that sums would not fit."""
LEAST_BITS = 0.01
"""A split by fewer bits per record ranks as if it had these."""


def steps_per_bit(records: int) -> float:
    """How many steps a bit has, so that whole numbers hold the information of all records about a few targets."""
    return 2.0 ** min(FINEST, 56 - records.bit_length())


class ClassInformation:
    """The information about the class, or about several target columns."""

    pure_too = False
    """Whether a box is refined in which no target differs."""

    def __init__(self, weights: Sequence[float], fine: float) -> None:
        """Keeps what is given.

        Args:
            weights: What the owner multiplies the gain of each masked attribute by.
            fine: How many steps a bit has.
        """
        self._weights = np.array(weights, dtype=np.float64)
        self.fine = fine

    def gain(self, gain: IntArray, bits: IntArray, attribute: IntArray) -> FloatArray:
        """The gain in bits over the records, with the weight of the attribute."""
        worth: FloatArray = gain / self.fine * self._weights[attribute]
        return worth

    def rank(self, gain: FloatArray, bits: IntArray, records: IntArray) -> FloatArray:
        """Gain per root of the bits per record by which the records are told apart.

        Between the gain alone, which prefers splits into many pieces that nothing can refine afterwards, and the gain
        ratio, which prefers splits that tell hardly anybody apart.
        """
        apart = np.maximum(bits / (np.maximum(records, 1) * self.fine), LEAST_BITS)
        ranks: FloatArray = gain / np.sqrt(apart)
        return ranks


class Statistics(ClassInformation):
    """The information about the masked attributes themselves, so that tables of their values are kept.

    Attributes count alike: a bit counts relative to what the attribute has at its finest.
    """

    pure_too = True

    def __init__(self, weights: Sequence[float], fine: float, histograms: Sequence[IntArray]) -> None:
        """Keeps what is given.

        Args:
            weights: What the owner multiplies the gain of each masked attribute by.
            fine: How many steps a bit has.
            histograms: The `[value, class]` counts of each masked attribute.
        """
        bits = [_entropy(histogram.sum(axis=1)) for histogram in histograms]
        # A single value cannot be refined, so what it would be divided by does not matter.
        super().__init__([weight / (held or 1) for weight, held in zip(weights, bits, strict=True)], fine)

    def gain(self, gain: IntArray, bits: IntArray, attribute: IntArray) -> FloatArray:
        """The bits by which the records are told apart, as a share of those of the attribute, with its weight."""
        return super().gain(bits, bits, attribute)


def _entropy(counts: IntArray) -> float:
    """The bits of a value, per record, to nine decimals, so that no rounding error decides between attributes."""
    held = counts[counts > 0] / max(counts.sum(), 1)
    return round(float(-(held * np.log2(held)).sum()), 9)
