"""The laws that sums of noise follow, and how certainly they reveal noise of another scale.

Moves are independent, so the moment generating function of a sum of them is a product, and Chernoff's inequality
bounds the tails of the sum for every number of moves: no approximation can accuse an honest release.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log, log1p
from typing import Literal

import numpy as np

from unveil.verifier.findings import Finding, exact_text
from unveil.verifier.holdings import Floats

LITTLE, SURE = 0.01, 0.999
LEAST, MOST = Fraction(1, 10**12), Fraction(600)
"""Beyond these rates noise is always or never larger than any count, and floats overflow."""
Sum = Literal["size", "drift"]
"""The sum of the sizes |v| of all moves, which shows how large the noise is; that of v, which shows where it leans."""
SLOPES = np.geomspace(1e-5, 0.999, 120)
STEEP = np.geomspace(1.0, 60.0, 40)
"""Where Chernoff's bound is taken, in units of the rate. Any set is valid, and a fine one loses little."""


class Law(ABC):
    """The law of two sums of moves."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """Below this slope the moment generating functions are finite."""

    @abstractmethod
    def scaled(self, factor: float) -> Law:
        """The law of the same sums if the scale of the noise is so many times larger."""

    @abstractmethod
    def _cumulants(self, of: Sum, slopes: Floats) -> Floats:
        """The logarithm of the moment generating function of the sum, at some slopes."""

    def log_tail(self, of: Sum, reached: float, *, above: bool) -> float:
        """A bound on the logarithm of the probability that the sum is at least (or at most) what was reached."""
        slopes = self._slopes(of, above=above)
        return min(0.0, float((self._cumulants(of, slopes) - slopes * reached).min()))

    def critical(self, of: Sum, log_level: float, *, above: bool) -> float:
        """The sum from which on it is as improbable as the level; infinite if none is."""
        slopes = self._slopes(of, above=above)
        ends = (self._cumulants(of, slopes) - log_level) / slopes
        return float(ends.min() if above else ends.max())

    def _slopes(self, of: Sum, *, above: bool) -> Floats:
        if above:
            return SLOPES * self.rate
        return -(np.concatenate([SLOPES, STEEP]) if of == "size" else SLOPES) * self.rate


@dataclass(frozen=True)
class CellLaw(Law):
    """The moves of cells with so many records each, which end at a floor.

    Attributes:
        epsilon: What the noise costs.
        excesses: Records of a cell less the floor, and how many cells have that.
    """

    epsilon: float
    excesses: Mapping[int, float]

    @property
    def rate(self) -> float:
        """That of the noise."""
        return self.epsilon

    def scaled(self, factor: float) -> CellLaw:
        """The law of noise whose scale is so many times larger."""
        return CellLaw(self.epsilon / factor, self.excesses)

    def log_move(self, excess: int, move: int) -> float:
        """A bound on the logarithm of the probability that the move of one cell is at least as large."""
        return log_reach(self.epsilon, move + max(-excess, 0) if move > 0 else -move)

    def _cumulants(self, of: Sum, slopes: Floats) -> Floats:
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


@dataclass(frozen=True)
class NoiseLaw(Law):
    """Noise of several rates: a move of rate r counts as r times itself, so that none outweighs the others.

    Attributes:
        moves: How many moves there are of each stated rate.
        factor: How many times larger the true scale of the noise is than the stated one.
    """

    moves: Mapping[float, int]
    factor: float = 1

    @property
    def rate(self) -> float:
        """That of a move in these units."""
        return 1 / self.factor

    def scaled(self, factor: float) -> NoiseLaw:
        """The law of noise whose scale is so many times larger."""
        return NoiseLaw(self.moves, self.factor * factor)

    def _cumulants(self, of: Sum, slopes: Floats) -> Floats:
        total = np.zeros(len(slopes))
        for rate, count in self.moves.items():
            true = rate / self.factor
            up = np.exp(slopes * rate - true)
            down = up if of == "size" else np.exp(-slopes * rate - true)
            chance = np.tanh(true / 2)
            total += count * np.log(chance * (1 + up / (1 - up) + down / (1 - down)))
        return total


def log_reach(rate: float, reach: float) -> float:
    """The logarithm of the probability that noise of a rate is at least so large, on either side."""
    return min(0.0, log(2) - rate * reach - log1p(exp(-rate)))


def chance_to_find(law: Law, factor: float, log_level: float) -> float:
    """A lower bound on the chance that the sum of sizes reveals noise of another scale.

    Args:
        law: What the noise should be.
        factor: How many times larger its true scale is; 0 for no noise.
        log_level: The logarithm of how improbable a sum must be to be reported.
    """
    end = law.critical("size", log_level, above=factor > 1)
    if factor == 0:
        return 1.0 if end >= 0 else 0.0
    if (factor < 1 and end < 0) or end == inf:
        return 0.0
    missed = law.scaled(factor).log_tail("size", end, above=factor < 1)
    return 1 - exp(missed)


def tail_findings(law: Law, size: float, drift: float, log_level: float) -> Iterator[tuple[str, float]]:
    """The ends of both sums that are too improbable, in words, and the logarithm of how improbable they are."""
    words: dict[tuple[Sum, bool], str] = {
        ("size", False): "the noise in it is too small, or there is none",
        ("size", True): "the noise in it is too large, or the counts are of another table",
        ("drift", False): "too many records are missing",
        ("drift", True): "too many records were added",
    }
    for (of, above), what in words.items():
        rarity = law.log_tail(of, size if of == "size" else drift, above=above)
        if rarity < log_level:
            yield what, rarity


def chance_text(chance: float) -> str:
    """How certainly something is found, in words."""
    if chance < LITTLE:
        return "perhaps not"
    return f"in {'over 99.9%' if chance > SURE else f'at least {int(100 * chance)}%'} of all cases"


def noise_finding(file: str, what: str, rate: Fraction, rarity: float) -> Finding:
    """Differences that the noise of a rate hardly makes."""
    odds = f"{exp(rarity):.0e}" if rarity > -600 else "1e-260"
    return Finding("noise", f"{file}: {what}: with noise of ε = {exact_text(rate)} the odds are below {odds}.")


def float_rate(rate: Fraction) -> float:
    """A rate that floats can work with."""
    return float(min(max(rate, LEAST), MOST))
