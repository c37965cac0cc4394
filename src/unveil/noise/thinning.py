"""Sampling and suppression: true rows with an (ε, δ) statement (Li, Qardaji and Su, ASIACCS 2012).

Every record is kept with probability β, and then rows that fewer than k share are dropped. Which records are equal is
fixed beforehand, so one record more changes the number of one kind of row only, from n to n + 1. Of n such records,
X ~ Binomial(n, β) are kept and X is released if X ≥ k, else nothing. Let p(n, j) be the probability that j are kept.

1.  p(n, j) / p(n + 1, j) = (n + 1 − j) / ((n + 1)(1 − β)) ≤ 1 / (1 − β). So taking a record away changes the
    probability of any set of outcomes by at most the factor e^ε if e^ε (1 − β) ≥ 1.
2.  p(n + 1, j) ≤ e^ε p(n, j) if and only if j ≤ γ(n + 1), with γ = 1 − (1 − β) / e^ε. And nothing is released from
    n + 1 records less often than from n. So adding a record exceeds the factor e^ε by at most

        δ(n + 1) = Σ [p(n + 1, j) − e^ε p(n, j)] over j ≥ k with j > γ(n + 1),

    and by exactly that for this set of outcomes: no smaller δ would be true. The theorem of the paper bounds the sum
    by its first half, P(Binomial > γ(n + 1)).
3.  δ is the largest of these. δ(m) = 0 for m < k, and δ(m) ≤ P(Binomial(m, β) > γm) ≤ exp(−m D), Chernoff's bound
    with D = γ ln(γ / β) + (1 − γ) ln((1 − γ) / (1 − β)) > 0. So only finitely many m can have the largest.

Here e^ε is replaced by a fraction just below it, β is a fraction, and the sums are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from math import ceil, comb, floor

import numpy as np

from unveil.arrays import IntArray
from unveil.noise.source import Source, exp_bounds

PARTS = 256
"""β is a multiple of 1/256, so that a byte decides about a record."""
PRECISION = 128
"""Bits of the fraction below e^ε."""
SLACK = Fraction(11, 10)
"""How much larger than the best the groups may have to be if more rows are kept for it."""
WORSE = 2
"""When the search for β ends: with this many times the best size of a group."""
MOST = 5_000
"""No k above this is tried."""
DRAWN = 1 << 22
"""How many records are drawn at a time."""


@dataclass(frozen=True)
class Thinning:
    """How rows are sampled and suppressed: each is kept with probability β, and what fewer than k share is dropped."""

    share: Fraction
    least: int

    def draw(self, counts: IntArray, source: Source) -> IntArray:
        """How many of each number of equal records are released."""
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        kept_until = np.zeros(len(counts), dtype=np.int64)
        before = 0
        for start in range(0, total, DRAWN):
            size = min(DRAWN, total - start)
            below = np.frombuffer(source.bytes(size), dtype=np.uint8) < int(self.share * PARTS)
            running = before + np.cumsum(below)
            inside = slice(*np.searchsorted(ends, [start, start + size], side="right"))
            kept_until[inside] = running[ends[inside] - start - 1]
            before = int(running[-1])
        kept = np.diff(kept_until, prepend=0)
        return np.where(kept >= self.least, kept, 0)

    def delta(self, epsilon: Fraction) -> Fraction:
        """The smallest δ with which it is (ε, δ)-differentially private, up to what rounding e^ε adds.

        Refuses an ε that goes with no δ below 1, since too many records are kept.
        """
        growth = _exp_below(epsilon)
        if growth * (1 - self.share) < 1:
            raise ValueError(f"with ε = {epsilon}, no share of {self.share} can be kept")
        largest, size = Fraction(0), self.least
        while not largest or size <= self._last(growth, largest):
            largest = max(largest, self.excess(size, growth))
            size += 1
        return largest

    def excess(self, size: int, growth: Fraction) -> Fraction:
        """δ(n + 1) for groups of n + 1 records, and a factor instead of e^ε."""
        kept, lost = int(self.share * PARTS), PARTS - int(self.share * PARTS)
        first = max(self.least, floor(_bend(self.share, growth) * size) + 1)
        top, bottom = growth.numerator, growth.denominator
        total, ways = 0, comb(size, first) * kept**first * lost ** (size - first)
        for j in range(first, size + 1):
            total += ways * (size * lost * bottom - top * PARTS * (size - j))
            ways = ways * (size - j) * kept // ((j + 1) * lost)
        return Fraction(total, PARTS**size * size * lost * bottom)

    def _last(self, growth: Fraction, delta: Fraction) -> int:
        """From here on Chernoff's bound is below δ."""
        context = Context(prec=60, Emin=-(10**9), Emax=10**9)

        def log(number: Fraction) -> Fraction:
            return Fraction(context.ln(context.divide(Decimal(number.numerator), Decimal(number.denominator))))

        bend = _bend(self.share, growth)
        fall = bend * log(bend / self.share) + (1 - bend) * log((1 - bend) / (1 - self.share))
        return ceil((-log(delta) + Fraction(1, 10**40)) / (fall - Fraction(1, 10**40)))


def thinning_for(epsilon: Fraction, delta: Fraction) -> Thinning | None:
    """The thinning that an owner with this ε and δ takes, from these two numbers alone; None if there is none.

    A group appears in the release if it has about k/β records, so β is chosen to make that small, and then as large as
    it can be without making it more than a tenth larger.
    """
    growth = _exp_below(epsilon)
    found: list[Thinning] = []
    for thinning in _candidates(growth, delta):
        found.append(thinning)
        if _reach(thinning) > WORSE * min(map(_reach, found)):
            break
    if not found:
        return None
    best = min(map(_reach, found))
    share, least = max((item.share, item.least) for item in found if _reach(item) <= SLACK * best)
    while Thinning(share, least).delta(epsilon) > delta:
        least += 1
    return Thinning(share, least)


def per_record(epsilon: Fraction, delta: Fraction, records: int) -> tuple[Fraction, Fraction]:
    """The ε and δ of one record with which this many records together cost no more than ε and δ.

    From table to table of a chain, P₀(S) ≤ e^ε′ P₁(S) + δ′ ≤ e^2ε′ P₂(S) + (1 + e^ε′) δ′ ≤ …: with m records, ε = mε′
    and δ = (1 + e^ε′ + … + e^(m − 1)ε′) δ′. Every power is replaced by a fraction just above it. Records are sampled
    one by one, also those of a person: if all of them were kept or none, what is released in one place would say which
    of the others were kept in another, and the binomial law that δ comes from would be lost.
    """
    part = epsilon / records
    size = PRECISION + 2 * ceil(epsilon)
    powers = (1 / exp_bounds(place * part, size)[0] for place in range(1, records))
    return part, delta / (1 + sum(powers, Fraction(0)))


def _candidates(growth: Fraction, delta: Fraction) -> Iterator[Thinning]:
    """For every β, the smallest k whose δ is small enough where it is largest as a rule; k grows with β."""
    least = 2
    for part in range(1, PARTS):
        share = Fraction(part, PARTS)
        if growth * (1 - share) < 1:
            return
        while Thinning(share, least).excess(max(least, ceil(least / _bend(share, growth)) - 1), growth) > delta:
            least += 1
        if least > MOST:
            return
        yield Thinning(share, least)


def _bend(share: Fraction, growth: Fraction) -> Fraction:
    """γ: the share of a group above which a kept number says more than e^ε allows."""
    return 1 - (1 - share) / growth


def _reach(thinning: Thinning) -> Fraction:
    """How many records a group needs so that it is released half of the time, roughly."""
    return thinning.least / thinning.share


def _exp_below(epsilon: Fraction) -> Fraction:
    """A fraction just below e^ε."""
    return Fraction(floor((1 << PRECISION) / exp_bounds(epsilon, PRECISION)[1]), 1 << PRECISION)
