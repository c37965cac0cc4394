"""DiffGen's utilities: what a specialization is worth, as an integer with a known sensitivity."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Protocol

import numpy as np

from unveil.arrays import FloatArray, IntArray
from unveil.refine.gains import info_gain

FINE = 1 << 30
"""Information gain is counted in steps of 2^−30."""


class Utility(Protocol):
    """A gain for the exponential mechanism: every value is an integer."""

    sensitivity: int
    """By how much one record can change it."""
    monotone: bool
    """Whether adding a record can only raise it."""

    def of(self, children: IntArray) -> FloatArray:
        """The utility of specializations, from class counts of shape `[specializations, children, classes]`."""
        ...

    def beneficial(self, records: IntArray) -> bool:
        """Always True: what is a candidate must not depend on the data."""
        ...

    def rate(self, epsilon: Fraction, *, tight: bool) -> Fraction:
        """How much a point counts in a choice that may cost ε (see `noise/choice.py`)."""
        ...


class _Whole:
    sensitivity: int
    monotone: bool

    def beneficial(self, records: IntArray) -> bool:
        """Always True: what is a candidate must not depend on the data."""
        return True

    def rate(self, epsilon: Fraction, *, tight: bool) -> Fraction:
        """ε / Δ for a monotone utility if the tight exponent is requested, else ε / (2Δ)."""
        return epsilon / self.sensitivity / (1 if tight and self.monotone else 2)


class MaxUtility(_Whole):
    """Equation 4: the sum over the children of their largest class.

    A record adds at most one to one child's largest class and never removes anything: sensitivity 1, monotone.
    """

    sensitivity = 1
    monotone = True

    def of(self, children: IntArray) -> FloatArray:
        """Max(D, v)."""
        totals: FloatArray = children.max(axis=2).sum(axis=1).astype(np.float64)
        return totals


class InfoGainUtility(_Whole):
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
