"""The probabilities that the enumeration goes by are those of the kernel.

A draw is a function of random bits that rises in steps. Here the bits are given: just below and just above where each
step must be. So the whole distribution function is compared, to the last of 64 bits, and not a sample.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate
from unittest.mock import patch

import numpy as np
import pytest

from privacy.dice import (
    EXACT,
    Dice,
    NoSource,
    equal_chances,
    exp,
    exponential_chances,
    geometric_chances,
    permute_and_flip_chances,
    real,
    total,
)
from privacy.losses import TOLERANCE
from unveil.noise import Geometric, Source, accept_exp, below, draws, exp_bounds, exponential_choice, permute_and_flip

WORD = 1 << 64
CASES = [
    ([0, 0, 0], [1, 1, 1], Fraction(1)),
    ([4, 5], [1, 1], Fraction(1, 20)),
    ([3, 1, 2, 3], [2, 5, 7, 1], Fraction(1, 12)),
    ([0, 1, 40, 2, 39], [46, 1, 1, 12, 14], Fraction(1, 3)),
    ([10**9, 0, 2**30], [1, 3, 1], Fraction(1, 2**31)),
    ([7], [3], Fraction(2)),
]


class Script:
    """Gives the bits it was given, and zeros after them."""

    private = False

    def __init__(self, *words: int) -> None:
        self._left = b"".join(word.to_bytes(8, "big") for word in words)

    def bytes(self, count: int) -> bytes:
        given, self._left = self._left[:count], self._left[count:]
        return given.ljust(count, b"\0")


@pytest.mark.parametrize("far", [2, 1 << 30], ids=["decided by exact bounds", "decided by floats"])
@pytest.mark.parametrize(("scores", "sizes", "rate"), CASES)
def test_the_exponential_mechanism_has_its_steps_in_the_right_places(
    scores: list[int], sizes: list[int], rate: Fraction, far: int
) -> None:
    chances = exponential_chances(tuple(scores), rate, tuple(sizes))
    assert abs(total(chances) - 1) < TOLERANCE
    for option, step in enumerate(steps(chances)[:-1]):
        for word, expected in ((step - far, option), (step + far, option + 1)):
            assert exponential_choice(np.array(scores), rate, np.array(sizes), Script(word)) == expected


def steps(chances: tuple[Decimal, ...]) -> list[int]:
    """The first 64 bits of the distribution function at its steps."""
    return [int(EXACT.multiply(sum_, WORD)) for sum_ in accumulate(chances, EXACT.add)]


@pytest.mark.parametrize(("scores", "sizes", "rate"), CASES)
def test_permute_and_flip_is_enumerated_by_its_formula(scores: list[int], sizes: list[int], rate: Fraction) -> None:
    """The kernel's own loop, with every permutation and every flip, next to the closed form."""
    dice = Dice()
    found = dict.fromkeys(range(len(scores)), Decimal(0))

    def flip(gamma: Fraction, source: Source) -> bool:
        accepts = exp(-gamma)
        # An option as good as the best always accepts, and one that never refuses has one outcome.
        return gamma == 0 or dice.roll((accepts, EXACT.subtract(1, accepts))) == 0

    with patch.multiple(draws, below=dice.below, accept_exp=flip):
        for option in dice.all(lambda: permute_and_flip(np.array(scores), rate, NoSource())):
            found[option] = EXACT.add(found[option], dice.chance())
    formula = permute_and_flip_chances(tuple(scores), rate)
    assert abs(total(formula) - 1) < TOLERANCE
    assert all(abs(found[option] - chance) < TOLERANCE for option, chance in enumerate(formula))


@pytest.mark.parametrize("gamma", [Fraction(1, 6), Fraction(1, 1000), Fraction(1), Fraction(7, 3), Fraction(30)])
def test_a_flip_accepts_with_the_right_chance(gamma: Fraction) -> None:
    step = int(EXACT.multiply(exp(-gamma), WORD))
    assert accept_exp(gamma, Script(step - 1))
    assert not accept_exp(gamma, Script(step + 1))


@pytest.mark.parametrize("digits", [28, 6], ids=["default context", "a caller's context"])
def test_bounds_of_exp_hold_whatever_the_decimal_context(digits: int) -> None:
    """A plain minus sign would round to the precision of the thread's context. A sixth has no end in decimal."""
    with localcontext(prec=digits):
        least, most = exp_bounds(Fraction(1, 6), 128)
    assert real(least) <= exp(Fraction(-1, 6)) <= real(most)


@pytest.mark.parametrize("bound", [1, 2, 3, 8, 10])
def test_uniform_integers_are_uniform(bound: int) -> None:
    """Every byte in turn, those thrown away answered by a second byte of zeros."""
    size = (bound - 1).bit_length()
    drawn = [below(Script(byte << 56), bound) for byte in range(256) if byte >> (8 - size) < bound or not size]
    counts = np.bincount(drawn, minlength=bound)
    assert set(counts) == {len(drawn) // bound}
    assert len(equal_chances(bound)) == bound


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 6), Fraction(1), Fraction(7, 3), Fraction(10)])
def test_noise_has_its_steps_in_the_right_places(epsilon: Fraction) -> None:
    """A magnitude of k or more is drawn by the words below P(|Z| ≥ k)."""
    far = 5
    inner = geometric_chances(epsilon, far)[far:]
    noise = Geometric(epsilon, NoSource(), two_sided=True)
    upper = [EXACT.multiply(2, total(inner[magnitude:])) for magnitude in range(1, far + 1)]
    for magnitude, chance in enumerate(upper, start=1):
        step = int(EXACT.multiply(chance, WORD))
        if step < 1 << 20:
            continue  # beyond the table, where the excess is drawn afresh
        for word, reaches in ((step - 1, True), (step + 1, False)):
            noise._source = Native(word)
            assert (noise.draw(1)[0] >= magnitude) == reaches


class Native(Script):
    """Words for `words`, which reads them in the order of the machine; whatever is drawn after them is far from 0."""

    def __init__(self, word: int) -> None:
        super().__init__()
        self._left = np.array([word, WORD - 1], dtype=np.uint64).tobytes()
