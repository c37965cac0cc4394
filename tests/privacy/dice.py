"""Every outcome of a randomized run, each with its exact probability.

`Dice` replaces the draws of the publisher. It plays a run again and again until every way the draws can turn out
has been seen, and knows at each draw how likely each outcome is, to 60 digits. The ledger is watched on the way: each
draw belongs to the charge that was entered last, and a draw before any charge is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache, reduce
from itertools import pairwise
from math import comb
from typing import TypeVar

import numpy as np

from unveil.arrays import IntArray
from unveil.noise import Bounds, Ledger, Source, TwoSidedGeometric

EXACT = Context(prec=60, Emin=-(10**9), Emax=10**9)
"""The arithmetic of all probabilities here."""

Run = TypeVar("Run")
Chances = tuple[Decimal, ...]


class NoSource:
    """No bits at all, so that no draw goes unseen."""

    private = True

    def bytes(self, count: int) -> bytes:
        raise AssertionError("a draw that the dice do not replace")


class Dice:
    """Plays every outcome of the draws in turn."""

    def __init__(self) -> None:
        self.ledger: Ledger | None = None
        self.rolled: list[tuple[int, Decimal]] = []
        """Of every draw of the run at hand: how many charges were entered before it, and its chance."""
        self._turns: list[int] = []
        self._sides: list[int] = []

    def all(self, run: Callable[[], Run]) -> Iterator[Run]:
        """Runs once for every outcome, depth first."""
        self._turns, self._sides = [], []
        while True:
            self.rolled = []
            yield run()
            while self._turns and self._turns[-1] + 1 == self._sides[-1]:
                self._turns.pop()
                self._sides.pop()
            if not self._turns:
                return
            self._turns[-1] += 1

    def chance(self) -> Decimal:
        """How likely the run at hand is."""
        return product(chance for _, chance in self.rolled)

    def open(self, total: Fraction) -> Ledger:
        """A ledger that is watched from now on."""
        self.ledger = Ledger(total)
        return self.ledger

    def roll(self, chances: Sequence[Decimal]) -> int:
        """One draw."""
        charged = len(self.ledger.entries) if self.ledger else 0
        assert charged or self.ledger is None, "a draw before any charge"
        if len(self.rolled) == len(self._turns):
            self._turns.append(0)
            self._sides.append(len(chances))
        turn = self._turns[len(self.rolled)]
        self.rolled.append((charged, chances[turn]))
        return turn

    def exponential_choice(self, scores: IntArray, rate: Fraction, sizes: IntArray, source: Source) -> int:
        """Replaces the function of the kernel."""
        return self.roll(exponential_chances(tuple(scores.tolist()), rate, tuple(sizes.tolist())))

    def permute_and_flip(self, scores: IntArray, rate: Fraction, source: Source) -> int:
        """Replaces the function of the kernel."""
        return self.roll(permute_and_flip_chances(tuple(scores.tolist()), rate))

    def below(self, source: Source, bound: int) -> int:
        """Replaces the function of the kernel."""
        return self.roll(equal_chances(bound))

    def noise(self, far: int, chances_of: Callable[[Fraction, int], Chances]) -> Callable[..., IntArray]:
        """Replaces `TwoSidedGeometric.draw`; noise beyond `far` counts as `far`, on both sides."""

        def draw(noise: TwoSidedGeometric, count: int) -> IntArray:
            chances = chances_of(noise.epsilon, far)
            return np.array([self.roll(chances) - far for _ in range(count)], dtype=np.int64)

        return draw

    def gap(self, happens: Decimal, most: int) -> Callable[[Bounds, Source, int], int]:
        """Replaces `cells.gap` where the event has this chance; a gap beyond `most` counts as `most`."""
        chances = gap_chances(happens, most)
        return lambda chance, source, limit: self.roll(chances)

    def excess(self, most: int) -> Callable[[TwoSidedGeometric, int, int], IntArray]:
        """Replaces `TwoSidedGeometric.at_least`; what exceeds the threshold by more than `most` counts as that."""

        def draw(noise: TwoSidedGeometric, threshold: int, count: int) -> IntArray:
            chances = excess_chances(noise.epsilon, most)
            return np.array([threshold + self.roll(chances) for _ in range(count)], dtype=np.int64)

        return draw


def product(numbers: Iterable[Decimal]) -> Decimal:
    """All numbers multiplied."""
    return reduce(EXACT.multiply, numbers, Decimal(1))


def total(numbers: Iterable[Decimal]) -> Decimal:
    """All numbers added up."""
    return reduce(EXACT.add, numbers, Decimal(0))


def real(number: Fraction) -> Decimal:
    """A fraction to 60 digits."""
    return EXACT.divide(Decimal(number.numerator), Decimal(number.denominator))


@cache
def exp(number: Fraction) -> Decimal:
    """The exponential function to 60 digits."""
    return EXACT.exp(real(number))


@cache
def equal_chances(options: int) -> Chances:
    """All options are equally likely."""
    return (real(Fraction(1, options)),) * options


@cache
def exponential_chances(scores: tuple[int, ...], rate: Fraction, sizes: tuple[int, ...]) -> Chances:
    """Equation 6: in proportion to size · exp(rate · score)."""
    best = max(scores)
    weights = [EXACT.multiply(size, exp(rate * (score - best))) for score, size in zip(scores, sizes, strict=True)]
    whole = total(weights)
    return tuple(EXACT.divide(weight, whole) for weight in weights)


@cache
def permute_and_flip_chances(scores: tuple[int, ...], rate: Fraction) -> Chances:
    """McKenna and Sheldon: an option is taken if it accepts and all that come before it in the random order refuse.

    Every set of k others comes before it with probability 1 / (m · C(m − 1, k)), m being the number of options.
    """
    accepts = [exp(rate * (score - max(scores))) for score in scores]
    chances = []
    for place, accept in enumerate(accepts):
        refusals = _elementary([EXACT.subtract(1, other) for other in accepts[:place] + accepts[place + 1 :]])
        many = len(scores)
        before = total(
            EXACT.multiply(refused, real(Fraction(1, many * comb(many - 1, size))))
            for size, refused in enumerate(refusals)
        )
        chances.append(EXACT.multiply(accept, before))
    return tuple(chances)


def _elementary(numbers: Sequence[Decimal]) -> list[Decimal]:
    """Elementary symmetric polynomials: the sum over all sets of k numbers of their product, for k = 0, 1, …."""
    sums = [Decimal(1)]
    for number in numbers:
        longer = [*sums, Decimal(0)]
        for size in range(len(sums)):
            longer[size + 1] = EXACT.add(longer[size + 1], EXACT.multiply(number, sums[size]))
        sums = longer
    return sums


@cache
def geometric_chances(epsilon: Fraction, far: int) -> Chances:
    """P(Z = z) for z from −far to far; what lies beyond counts as the last on its side."""
    alpha = exp(-epsilon)
    sides = EXACT.add(1, alpha)
    inner = [EXACT.divide(EXACT.multiply(EXACT.subtract(1, alpha), exp(-epsilon * z)), sides) for z in range(far)]
    last = EXACT.divide(exp(-epsilon * far), sides)
    return (last, *reversed(inner[1:]), *inner, last)


@cache
def excess_chances(epsilon: Fraction, most: int) -> Chances:
    """P(G = g) of one-sided geometric noise; `most` represents all from there on."""
    tails = [exp(-epsilon * place) for place in range(most + 1)]
    return (*(EXACT.subtract(tail, after) for tail, after in pairwise(tails)), tails[-1])


def gap_chances(happens: Decimal, most: int) -> Chances:
    """How many events of a chance fail before one happens; `most` represents all from there on."""
    fails = [EXACT.power(EXACT.subtract(1, happens), place) for place in range(most + 1)]
    return (*(EXACT.multiply(power, happens) for power in fails[:-1]), fails[-1])


@cache
def cut_laplace_chances(epsilon: Fraction, far: int) -> Chances:
    """The same for Laplace noise of scale 1/ε whose decimals are cut off: the mass at 0 is that of (−1, 1)."""
    half = Decimal("0.5")
    tails = [EXACT.multiply(half, exp(-epsilon * z)) for z in range(far + 1)]
    inner = [EXACT.subtract(tails[z], tails[z + 1]) for z in range(1, far)]
    return (tails[far], *reversed(inner), EXACT.subtract(1, exp(-epsilon)), *inner, tails[far])
