"""The law that the counts of a private release follow, and what released counts tell about it.

A cell of m records shows X = max(m + Z, f), where Z has P(Z = z) ∝ exp(−ε|z|). The floor f is 0 where all cells are
listed, and one less than the threshold where only those that reach it are: a cell that is not listed shows the floor.
Its move is v = X − max(m, f), what noise made of it beyond what floor and count do by themselves:

    m ≤ f, with g = f − m:   v = 0, or j ≥ 1 with P(v = j) = P(Z = g + j)
    m > f, with c = m − f:   v = max(Z, −c)

Moves are independent, so the moment generating function of a sum of them is a product, and Chernoff's inequality
bounds the tails of the sum for every number of cells: no approximation can blame an honest release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf, log, log1p
from typing import Literal

import numpy as np

from unveil.verifier.holdings import Floats

Sum = Literal["size", "drift"]
"""The sum of the sizes |v| of all moves, which tells how large the noise is; that of v, which tells where it leans."""
SLOPES = np.geomspace(1e-5, 0.999, 120)
STEEP = np.geomspace(1.0, 60.0, 40)
"""Where Chernoff's bound is taken, in units of ε. Any set of places is valid, and a fine one loses little."""


@dataclass(frozen=True)
class Law:
    """The moves of cells with so many records each.

    Attributes:
        epsilon: What the noise costs.
        excesses: Records of a cell less the floor, and how many cells have that.
    """

    epsilon: float
    excesses: Mapping[int, float]

    def log_tail(self, of: Sum, reached: float, *, above: bool) -> float:
        """A bound on the logarithm of the probability that the sum is at least (or at most) what was reached."""
        slopes = self._slopes(of, above=above)
        return min(0.0, float((self._cumulants(of, slopes) - slopes * reached).min()))

    def critical(self, of: Sum, log_level: float, *, above: bool) -> float:
        """From where on a sum is as improbable as the level; infinite where none is."""
        slopes = self._slopes(of, above=above)
        ends = (self._cumulants(of, slopes) - log_level) / slopes
        return float(ends.min() if above else ends.max())

    def log_move(self, excess: int, move: int) -> float:
        """A bound on the logarithm of the probability that the move of one cell is at least as large."""
        reach = move + max(-excess, 0) if move > 0 else -move
        return min(0.0, log(2) - self.epsilon * reach - log1p(exp(-self.epsilon)))

    def scaled(self, factor: float) -> Law:
        """The law of noise whose scale is so many times as large."""
        return Law(self.epsilon / factor, self.excesses)

    def _slopes(self, of: Sum, *, above: bool) -> Floats:
        if above:
            return SLOPES * self.epsilon
        return -(np.concatenate([SLOPES, STEEP]) if of == "size" else SLOPES) * self.epsilon

    def _cumulants(self, of: Sum, slopes: Floats) -> Floats:
        """The logarithm of the moment generating function of the sum, at some slopes."""
        total = np.zeros(len(slopes))
        for excess, cells in self.excesses.items():
            total += cells * self._cumulant(of, excess, slopes)
        return total

    def _cumulant(self, of: Sum, excess: int, slopes: Floats) -> Floats:
        alpha = exp(-self.epsilon)
        up = np.exp(slopes - self.epsilon)
        if excess <= 0:
            rare = exp(-self.epsilon * (1 - excess)) / (1 + alpha)
            risen: Floats = np.log1p(rare * ((1 - alpha) * np.exp(slopes) / (1 - up) - 1))
            return risen
        down = up if of == "size" else np.exp(-slopes - self.epsilon)
        lowest = down**excess
        inner = 1 + up / (1 - up) + (down - lowest) / (1 - down)
        moved: Floats = np.log((1 - alpha) / (1 + alpha) * inner + lowest / (1 + alpha))
        return moved


def chance_to_find(law: Law, factor: float, log_level: float) -> float:
    """A bound from below on the chance that the sum of sizes betrays noise of another scale.

    Args:
        law: What the noise should be.
        factor: How many times as large its scale is in truth; 0 for no noise.
        log_level: The logarithm of how improbable a sum must be to be blamed.
    """
    end = law.critical("size", log_level, above=factor > 1)
    if factor == 0:
        return 1.0 if end >= 0 else 0.0
    if (factor < 1 and end < 0) or end == inf:
        return 0.0
    missed = law.scaled(factor).log_tail("size", end, above=factor < 1)
    return 1 - exp(missed)
