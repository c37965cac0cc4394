"""All draws of the additive method: noisy sums and private choices. Nothing else of it is random or sees exact sums.

Both take whole numbers with a known sensitivity, and both are charged before they happen.

- *Sums.* One record changes one of the sums, by at most `sensitivity`. Two-sided geometric noise of rate
  ε / sensitivity on every sum changes each probability by a factor of at most exp(ε) (`noise/geometric.py`).
- *Choice.* One record changes every score by at most `sensitivity`, up or down. Permute-and-flip at rate
  ε / (2 · sensitivity) changes each probability by a factor of at most exp(ε) (`noise/choice.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from unveil.arrays import IntArray
from unveil.noise import Ledger, Source, TwoSidedGeometric, permute_and_flip

ENTRIES = 1 << 12
"""Few draws are made with each rate, so the tables of the noise are short."""


class Draws:
    """Charges and draws."""

    def __init__(self, ledger: Ledger, source: Source) -> None:
        self.ledger = ledger
        self._source = source

    def noisy(self, purpose: str, sums: IntArray, sensitivity: int, epsilon: Fraction) -> IntArray:
        """The sums with noise that costs ε."""
        self.ledger.charge(purpose, epsilon)
        return with_noise(sums, epsilon / sensitivity, self._source)

    def chosen(self, purpose: str, scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        """The place of one of the scores, a high one most likely, at the cost of ε."""
        self.ledger.charge(purpose, epsilon)
        return permute_and_flip(np.array(scores, dtype=np.int64), epsilon / (2 * sensitivity), self._source)


def with_noise(sums: IntArray, rate: Fraction, source: Source) -> IntArray:
    """Whole numbers, each with its own two-sided geometric noise."""
    noise = TwoSidedGeometric(rate, source, longest=ENTRIES)
    return sums + noise.draw(sums.size).reshape(sums.shape)
