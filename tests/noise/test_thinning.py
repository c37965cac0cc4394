"""Sampling and suppression: its δ against plain enumeration, its draws against their law, and what an owner gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import comb, exp

import numpy as np
import pytest

from unveil.noise import SeededSource, Thinning, thinning_for
from unveil.noise import thinning as module

Law = dict[tuple[int, ...], Fraction]
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


class Bytes:
    """Randomness that is given, byte by byte."""

    private = False

    def __init__(self, given: bytes) -> None:
        self._given = given

    def bytes(self, count: int) -> bytes:
        taken, self._given = self._given[:count], self._given[count:]
        return taken


def law(thinning: Thinning, counts: tuple[int, ...]) -> Law:
    """What is released of so many equal records each, for every way to keep or lose them."""
    found: Law = Counter()  # type: ignore[assignment]
    for fates in product([0, 255], repeat=sum(counts)):  # the smallest byte keeps a record, the largest loses it
        chance = Fraction(1)
        for fate in fates:
            chance *= thinning.share if fate == 0 else 1 - thinning.share
        found[tuple(thinning.draw(np.array(counts), Bytes(bytes(fates))).tolist())] += chance
    assert sum(found.values()) == 1
    return found


def excess(one: Law, other: Law, growth: Fraction) -> Fraction:
    """By how much the probability of a set of releases can exceed the factor."""
    return sum((max(chance - growth * other.get(release, Fraction(0)), Fraction(0)) for release, chance in one.items()),
               Fraction(0))  # fmt: skip


def neighbours(most: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Two kinds of rows, and one record more of the first."""
    return [((n, other), (n + 1, other)) for n in range(most) for other in (0, 2)]


@pytest.mark.parametrize(
    ("share", "least", "epsilon"),
    [(HALF, 2, Fraction(7, 10)), (QUARTER, 2, Fraction(3, 10)), (QUARTER, 3, Fraction(1)), (HALF, 1, Fraction(2))],
)
def test_no_set_of_releases_tells_more_than_epsilon_and_delta(share: Fraction, least: int, epsilon: Fraction) -> None:
    thinning = Thinning(share, least)
    delta, growth = thinning.delta(epsilon), Fraction(exp(float(epsilon)))
    worst = Fraction(0)
    for less, more in neighbours(7):
        laws = law(thinning, less), law(thinning, more)
        worst = max(worst, excess(*laws, growth), excess(*reversed(laws), growth))
    assert worst <= delta * (1 + Fraction(1, 10**9))
    assert worst > delta / 2, "the bound is nearly reached by small groups already"


DEFECTS: dict[str, Callable[[Thinning], Thinning]] = {
    "suppresses one row too few": lambda thinning: Thinning(thinning.share, thinning.least - 1),
    "keeps too many": lambda thinning: Thinning(thinning.share + Fraction(1, 8), thinning.least),
}


@pytest.mark.parametrize("defect", DEFECTS.values(), ids=DEFECTS)
def test_a_planted_defect_tells_more(defect: Callable[[Thinning], Thinning]) -> None:
    stated = Thinning(QUARTER, 3)
    planted, growth = defect(stated), Fraction(exp(1.0))
    worst = max(excess(law(planted, more), law(planted, less), growth) for less, more in neighbours(7))
    assert worst > stated.delta(Fraction(1))


def plain_delta(share: float, least: int, epsilon: float, most: int) -> float:
    """δ by the definition, in floats, for groups of up to so many records."""

    def chance(size: int, kept: int) -> float:
        return comb(size, kept) * share**kept * (1 - share) ** (size - kept) if kept <= size else 0.0

    return max(
        sum(
            max(chance(size + 1, kept) - exp(epsilon) * chance(size, kept), 0.0) for kept in range(least, size + 2)
        )
        for size in range(least - 1, most)
    )  # fmt: skip


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-9), (1.0, 1e-6), (3.0, 1e-9)])
def test_the_chosen_numbers_keep_delta_and_barely(epsilon: float, delta: float) -> None:
    chosen = thinning_for(Fraction(epsilon), Fraction(delta))
    assert chosen is not None
    found = plain_delta(float(chosen.share), chosen.least, epsilon, 300)
    assert found == pytest.approx(float(chosen.delta(Fraction(epsilon))), rel=1e-9)
    assert found <= delta
    assert plain_delta(float(chosen.share), chosen.least - 1, epsilon, 300) > delta


@pytest.mark.parametrize(("epsilon", "share", "least"), [(0.5, Fraction(51, 256), 39), (1.0, Fraction(102, 256), 48)])
def test_the_bound_of_the_paper_asks_for_larger_groups(epsilon: float, share: Fraction, least: int) -> None:
    """By its Theorem 5, β = 0.2 needs k = 39 at ε = 0.5 and δ = 1e-9, and β = 0.4 needs k = 48 at ε = 1."""
    smallest = next(k for k in range(2, 99) if Thinning(share, k).delta(Fraction(epsilon)) <= Fraction(1, 10**9))
    assert least - 10 <= smallest < least


def test_a_share_that_no_delta_goes_with_is_refused() -> None:
    with pytest.raises(ValueError, match="no share of 1/2 can be kept"):
        Thinning(HALF, 5).delta(Fraction(1, 2))


def test_an_epsilon_that_leaves_nothing_has_no_thinning() -> None:
    assert thinning_for(Fraction(1, 1000), Fraction(1, 10**9)) is None


@pytest.mark.parametrize("drawn", [5, 1 << 22])
def test_draws_follow_their_law(drawn: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many are drawn at a time."""
    monkeypatch.setattr(module, "DRAWN", drawn)
    thinning = Thinning(QUARTER, 2)
    kept = thinning.draw(np.tile([0, 6, 0, 3], 4000), SeededSource(2)).reshape(-1, 4)
    assert not kept[:, [0, 2]].any()
    for column, size in ((1, 6), (3, 3)):
        chances = [comb(size, j) * 0.25**j * 0.75 ** (size - j) for j in range(size + 1)]
        chances[0], chances[1] = chances[0] + chances[1], 0.0
        found = np.bincount(kept[:, column], minlength=size + 1)
        for count, chance in zip(found, chances, strict=True):
            assert abs(count - 4000 * chance) <= 5 * (4000 * chance * (1 - chance)) ** 0.5
