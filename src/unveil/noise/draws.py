"""Private draws, exact and fast: two-sided geometric noise (discrete Laplace), and private choice.

*Noise.* Z has P(Z = z) = (1 − α) / (1 + α) · α^|z| with α = exp(−ε). Added to an integer count of sensitivity 1 it is
ε-DP: neighbouring counts differ by one, and P(Z = z) / P(Z = z + 1) lies between α and 1/α.

A draw compares a uniform number with the tail P(|Z| ≥ k) for k = 1, 2, …. The first 64 bits of those tails are kept in
a table of integers, so that a draw is one look-up of a 64-bit word. A word that equals an entry does not decide the
comparison; such a draw, one in about 2^58, goes on with more bits (`Uniform`). A word below the last entry falls off
the table; from there the tail is geometric again, and by its lack of memory the excess is a fresh geometric draw.

*Choice* is the exponential mechanism, with weights for many options of one score, or permute-and-flip. Scores are
integers. An option of score u is chosen with probability proportional to exp(rate · u). If adding or removing a record
changes every score by at most Δ, this is 2·rate·Δ-DP, so rate = ε / (2Δ). If adding a record can only raise scores, it
is rate·Δ-DP: the weight of the option and the sum of all weights then move in the same direction, each by a factor
between 1 and exp(rate·Δ), so their ratio moves by no more than that factor either way. Then rate = ε / Δ.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from unveil.arrays import FloatArray, IntArray
from unveil.noise.source import CHUNK, Bounds, Source, Uniform, accept_exp, below, exp_bounds, words

LONGEST = 1 << 16
"""The most entries a table has."""
WORKING = 320
"""Bits of the fixed-point numbers that tables are computed with."""


LEAST = Fraction(1, 10**7)
"""Below this, a draw would leave the table thousands of times and be useless."""


class Geometric:
    """Draws of G ≥ 0 with P(G ≥ k) = scale · exp(−kε) for k ≥ 1; one-sided geometric noise where the scale is 1."""

    def __init__(self, epsilon: Fraction, source: Source, *, two_sided: bool = False, longest: int = LONGEST) -> None:
        if epsilon < LEAST:
            raise ValueError(f"noise needs an epsilon of at least {LEAST}")
        self.epsilon = epsilon
        self._source = source
        self._two_sided = two_sided
        self._longest = longest
        self._table = self._tails()

    def tail(self, k: int) -> Bounds:
        """P(G ≥ k) to any precision."""

        def bounds(size: int) -> tuple[Fraction, Fraction]:
            least, most = exp_bounds(k * self.epsilon, size)
            if not self._two_sided:
                return least, most
            low, high = exp_bounds(self.epsilon, size)
            return 2 * least / (1 + high), 2 * most / (1 + low)

        return bounds

    def draw(self, count: int) -> IntArray:
        """Independent draws."""
        values, fallen = self._looked_up(count)
        while len(fallen):
            excess, again = self.excess._looked_up(len(fallen))
            values[fallen] += excess
            fallen = fallen[again]
        return values

    def _looked_up(self, count: int) -> tuple[IntArray, IntArray]:
        """Draws within the table, and which of them passed its end."""
        longest = len(self._table)
        drawn = words(self._source, count)
        place = np.searchsorted(self._table, drawn, side="right")
        values = (longest - place).astype(np.int64)
        # What is below all entries is compared with the last one, the largest, and differs from it.
        for at in np.flatnonzero(self._table[place - 1] == drawn):
            # The word equals the first bits of P(G ≥ k), so more bits must decide whether it is below.
            values[at] += Uniform(self._source, int(drawn[at])).below(self.tail(int(values[at]) + 1))
        return values, np.flatnonzero(values == longest)

    @cached_property
    def excess(self) -> Geometric:
        """One-sided noise: what is beyond a threshold. Few ask for it, so its table is made on demand."""
        return Geometric(self.epsilon, self._source, longest=self._longest) if self._two_sided else self

    def _tails(self) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        """First 64 bits of P(G ≥ k), in ascending order: for k = K, …, 2, 1.

        `low` is at most `doubt` below the tail, in units of 2^−WORKING. If t ≤ low + doubt and α ≤ least + width, then
        t · α ≤ low · least + doubt + width: a step adds no more than the width and one unit for rounding down.
        """
        one = 1 << WORKING
        least, most = (_fixed(bound) for bound in exp_bounds(self.epsilon, WORKING))
        low, doubt, width = one, 0, most + 1 - least
        if self._two_sided:
            low = 2 * one * one // (one + most + 1)
            doubt = 2 * one * one // (one + least) + 1 - low
        entries: list[int] = []
        for _ in range(self._longest):
            low, doubt = low * least >> WORKING, doubt + width + 1
            first = low >> (WORKING - CHUNK)
            if first != (low + doubt) >> (WORKING - CHUNK) or (first < 1 << 20 and entries):
                break  # too deep in the tail for 64 bits: the excess takes over
            entries.append(first)
        return np.array(entries[::-1], dtype=np.uint64)


class TwoSidedGeometric:
    """Noise for integer counts."""

    def __init__(self, epsilon: Fraction, source: Source, *, longest: int = LONGEST) -> None:
        """Makes the tables, for a privacy loss of `epsilon` per unit of the count.

        A table has at most `longest` entries. A short one is made faster, and more draws leave it; the law is the same.
        """
        self.epsilon = epsilon
        self._source = source
        self._magnitude = Geometric(epsilon, source, two_sided=True, longest=longest)

    def draw(self, count: int) -> IntArray:
        """Independent draws: a magnitude and a fair sign."""
        magnitude = self._magnitude.draw(count)
        signs = np.unpackbits(np.frombuffer(self._source.bytes((count + 7) // 8), dtype=np.uint8))[:count]
        return np.where(signs == 1, -magnitude, magnitude)

    def at_least(self, threshold: int, count: int) -> IntArray:
        """Draws given that they reach a threshold of at least 1: the excess has no memory."""
        return threshold + self._magnitude.excess.draw(count)

    def reaches(self, threshold: int) -> Bounds:
        """P(Z ≥ threshold) for a threshold of at least 1: half of P(|Z| ≥ threshold)."""
        both = self._magnitude.tail(threshold)

        def bounds(size: int) -> tuple[Fraction, Fraction]:
            least, most = both(size)
            return least / 2, most / 2

        return bounds


def _fixed(number: Fraction) -> int:
    return (number.numerator << WORKING) // number.denominator


def exponential_choice(scores: IntArray, rate: Fraction, sizes: IntArray, source: Source) -> int:
    """Chooses an option with probability proportional to size · exp(rate · score).

    A size is how many outcomes an option covers: in Equation 6 of DiffGen, the length of an interval.
    """
    uniform = Uniform(source)
    found = _by_floats(scores, rate, sizes, uniform)
    return _exactly(scores, rate, sizes, uniform) if found is None else found


def permute_and_flip(scores: IntArray, rate: Fraction, source: Source) -> int:
    """Visits the options in random order and takes each with probability exp(rate · (score − best)).

    As private as the exponential mechanism at the same rate and never worse (McKenna and Sheldon, NeurIPS 2020). It
    is equivalent to reporting the largest of rate · score + X_i with X_i exponential of mean 1 (Ding et al., 2021). The
    tighter rate for scores that only rise follows from that too: with the other X fixed, one record moves the bar that
    X_i must pass by at most rate·Δ, which costs a factor of exp(−rate·Δ).
    """
    best = int(scores.max())
    left = list(range(len(scores)))
    while True:
        option = left.pop(below(source, len(left)))
        if accept_exp(rate * (best - int(scores[option])), source):
            return option


def _by_floats(scores: IntArray, rate: Fraction, sizes: IntArray, uniform: Uniform) -> int | None:
    """The option that the first 64 bits select, or None if rounding could make a difference.

    Each weight is off by a relative 2^−40 at most: the exponent is at most 745 where the weight is not 0, and rounding
    it and taking exp costs less than 2^12 units in the last place. Sums add a unit for each term. What is further from
    both ends of its option than all that is decided.
    """
    gaps: FloatArray = (int(scores.max()) - scores).astype(np.float64) * float(rate)
    weights = sizes * np.exp(-gaps)
    ends = np.cumsum(weights)
    total = ends[-1]
    doubt = total * (2.0**-40 + len(scores) * 2.0**-50)
    at = uniform.prefix / 2.0**CHUNK * total
    option = int(np.searchsorted(ends, at, side="right"))
    start = 0.0 if option == 0 else float(ends[option - 1])
    if option == len(scores) or (option > 0 and at - start <= doubt) or ends[option] - at <= doubt:
        return None
    return option


def _exactly(scores: IntArray, rate: Fraction, sizes: IntArray, uniform: Uniform) -> int:
    """The same choice with bounds that are refined until they decide."""
    best = int(scores.max())
    while True:
        size = uniform.size + 32
        known = {score: exp_bounds(rate * (best - score), size) for score in set(map(int, scores))}
        bounds = [known[int(score)] for score in scores]
        weights = [(int(many) * lo, int(many) * hi) for many, (lo, hi) in zip(sizes, bounds, strict=True)]
        least, most = sum(lo for lo, _ in weights), sum(hi for _, hi in weights)
        lo, hi = uniform.range
        low = high = Fraction(0)
        for option, weight in enumerate(weights):
            begins, low, high = high / least, low + weight[0], high + weight[1]
            last = option == len(weights) - 1
            if lo >= begins and (last or hi <= low / most):
                return option
        uniform.refine()
