"""What a refinement is worth: information gain from `[value, class]` counts, DiffGen's utilities, and goals.

A utility is an integer with a known sensitivity. The goal of a joint search is the class information that a refinement
adds to the groups, per information that it gives away or per anonymity that it loses: how much nearer it brings a group
to the least that its levels allow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np

from unveil.arrays import FloatArray, IntArray, NumberArray
from unveil.counting.scans import Scan
from unveil.masking import Block
from unveil.schema import Level

NOTHING = 1e-12
"""A gain below this is rounding error and counts as none."""
TIED = 1e-9
"""Scores within this fraction of the best one are tied."""
FINE = 1 << 30
"""Information gain is counted in steps of 2^−30."""
FINEST = 24
"""Gains are counted in steps of 2^−24 bits, or in larger ones if the records are so many that sums would not fit."""
LEAST = 0.01
"""A split by fewer bits per record, or one that loses less anonymity, ranks as if it had these."""
TINY = 1e-300
"""Keeps a division by 0 away from splits that pay because they do not split anything."""
DECIMALS = 6
"""Of a share, so that no rounding error of an entropy or a distance decides between candidates."""


def info_gain(children: IntArray) -> FloatArray:
    """TDR, Equations 2 and 5: how much the entropy of the class falls when a block is replaced by its children.

    It is computed as the mutual information of child and class, which equals I(R_v) − Σ |R_c| / |R_v| · I(R_c) and
    avoids the cancellation in the difference of two large entropies. The counts are `[refinements, children, classes]`.
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

    Anonymity plays no role here. It lies at a value that a record of the histogram holds; both sides have records.
    """
    codes = interval.codes[histogram[interval.codes].any(axis=1)]
    if len(codes) < 2:
        return None
    left = np.cumsum(histogram[codes], axis=0)
    splits = np.stack([left[:-1], left[-1] - left[:-1]], axis=1)
    split: float = values[codes[1 + first_best(info_gain(splits))]].item()
    return split


def disclosures(parts: IntArray, hidden: IntArray) -> IntArray:
    """For each part, the pair of that part and the rest of the hidden block: the result of disclosing it."""
    return np.stack([parts, hidden - parts], axis=1)


class Utility(Gain):
    """A gain for the exponential mechanism: every value is an integer."""

    sensitivity: int
    """By how much one record can change it."""
    monotone: bool
    """Whether adding a record can only raise it."""

    def beneficial(self, records: IntArray) -> bool:
        """Always True: what is a candidate must not depend on the data."""
        return True

    def rate(self, epsilon: Fraction, *, tight: bool) -> Fraction:
        """How much a point counts in a choice that may cost ε (see `noise/draws.py`).

        ε / Δ for a monotone utility if the tight exponent is requested, else ε / (2Δ).
        """
        return epsilon / self.sensitivity / (1 if tight and self.monotone else 2)


class MaxUtility(Utility):
    """Equation 4: the sum over the children of their largest class.

    A record adds at most one to one child's largest class and never removes anything: sensitivity 1, monotone.
    """

    sensitivity = 1
    monotone = True

    def of(self, children: IntArray) -> FloatArray:
        """Max(D, v)."""
        totals: FloatArray = children.max(axis=2).sum(axis=1).astype(np.float64)
        return totals


class InfoGainUtility(Utility):
    """Equation 3: information gain, between 0 and log2 of the number of classes, which is its sensitivity.

    It is rounded down to steps of 2^−30 so that it is a whole number. Rounding, and computing it in floats, moves it by
    less than two steps either way, which the sensitivity allows for.
    """

    monotone = False

    def __init__(self, classes: int) -> None:
        self.sensitivity = math.ceil(math.log2(classes) * FINE) + 4

    def of(self, children: IntArray) -> FloatArray:
        """InfoGain(D, v) in steps of 2^−30."""
        steps: FloatArray = np.floor(info_gain(children) * FINE)
        return steps


def steps_per_bit(records: int) -> float:
    """How many steps a bit has, so that whole numbers hold the information of all records about a few targets."""
    return 2.0 ** min(FINEST, 56 - records.bit_length())


class Candidates(NamedTuple):
    """What some candidates would do, each in one box or summed over several; gains, bits and prices in steps."""

    gain: IntArray
    bits: IntArray
    cost: IntArray
    """What a gain is divided by: the bits, or the anonymity lost."""
    price: IntArray
    """What they must gain to pay."""
    records: IntArray
    """The records of the boxes."""
    attribute: IntArray


class Goal:
    """What the loops ask: what candidates gain, and in which order they come.

    The gain by each masked attribute is multiplied by its weight; a bit has this many steps.
    """

    pure_too = False
    """Whether a box is refined in which no target differs."""

    def __init__(self, weights: Sequence[float], fine: float, *, per_anonymity: bool = False) -> None:
        self._weights = np.array(weights, dtype=np.float64)
        self.fine, self.per_anonymity = fine, per_anonymity

    def weighed(self, candidates: Candidates, shared: int = 1) -> tuple[FloatArray, FloatArray]:
        """The gains of candidates in bits over the records, over `shared` sets of attributes, and their ranks."""
        gain = self._worth(candidates.gain, candidates.attribute) / shared
        return gain, self.rank(gain, candidates.cost, candidates.records)

    def price(self, pieces: IntArray, records: IntArray) -> IntArray:
        """What splits of boxes into this many pieces must gain to pay, in steps."""
        return np.zeros_like(records)

    def rank(self, gain: FloatArray, cost: IntArray, records: IntArray) -> FloatArray:
        """Gain per root of the bits per record by which the records are distinguished, or per anonymity lost.

        The former lies between the gain alone, which prefers splits into many pieces that nothing can refine
        afterwards, and the gain ratio, which prefers splits that tell hardly anybody apart.
        """
        each = np.maximum(cost / (np.maximum(records, 1) * self.fine), LEAST)
        ranks: FloatArray = gain / (each if self.per_anonymity else np.sqrt(each))
        return ranks

    def _worth(self, steps: IntArray, attribute: IntArray) -> FloatArray:
        worth: FloatArray = steps / self.fine * self._weights[attribute]
        return worth


class Statistics(Goal):
    """The information about the masked attributes themselves, so that tables of their values are kept.

    Attributes count alike: a bit counts relative to what the attribute has at its finest.
    """

    pure_too = True

    def __init__(
        self, weights: Sequence[float], fine: float, histograms: Sequence[IntArray], *, per_anonymity: bool = False
    ) -> None:
        bits = [_entropy(histogram.sum(axis=1)) for histogram in histograms]
        # A single value cannot be refined, so what it would be divided by does not matter.
        relative = [weight / (held or 1) for weight, held in zip(weights, bits, strict=True)]
        super().__init__(relative, fine, per_anonymity=per_anonymity)

    def weighed(self, candidates: Candidates, shared: int = 1) -> tuple[FloatArray, FloatArray]:
        """The gain is the bits by which the records are distinguished, as a share of those of the attribute."""
        return super().weighed(candidates._replace(gain=candidates.bits), shared)


class ClassInformation(Goal):
    """The information about the class, or about several target columns.

    A split pays if it gains at least what its pieces cost: each has its own shares of the targets, and a share
    that n records estimate costs log₂(n)/2 bits (Schwarz 1978, Rissanen 1978). What gains less fits noise. Such splits
    come last, in the order of what they tell about the attributes themselves (`finer`), and rank below 0. `shares` say
    how the targets are distributed in a group: their values, less one per target.
    """

    def __init__(self, weights: Sequence[float], fine: float, shares: int, finer: Statistics) -> None:
        super().__init__(weights, fine, per_anonymity=finer.per_anonymity)
        self._shares, self._finer = shares, finer

    def price(self, pieces: IntArray, records: IntArray) -> IntArray:
        """Half a logarithm of the records for each share that the pieces add. One piece adds none."""
        bits = (np.maximum(pieces, 1) - 1) * self._shares * np.log2(np.maximum(records, 1)) / 2
        return np.floor(bits * self.fine + 0.5).astype(np.int64)

    def weighed(self, candidates: Candidates, shared: int = 1) -> tuple[FloatArray, FloatArray]:
        """The gains, and ranks from 0 where a split pays; a split that does not has the rank −1 / (its other rank)."""
        gain, rank = super().weighed(candidates, shared)
        pays = gain >= candidates.price / self.fine / shared
        _, finer = self._finer.weighed(candidates, shared)
        return gain, np.where(pays, rank, -1 / np.maximum(finer, TINY))


def _entropy(counts: IntArray) -> float:
    """The bits of a value, per record, to nine decimals, so that no rounding error decides between attributes."""
    held = counts[counts > 0] / max(counts.sum(), 1)
    return round(float(-(held * np.log2(held)).sum()), 9)


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
