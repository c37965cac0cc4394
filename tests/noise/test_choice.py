"""Private choice: the exponential mechanism and permute-and-flip, against their exact probabilities."""

from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from itertools import permutations
from math import exp, prod

import numpy as np
import pytest
from numpy.typing import NDArray

from noise.fit import OFF, REJECTED, fits_shares
from noise.sources import Scripted, chunk
from unveil.noise import SeededSource, Source, Uniform, draws, exponential_choice, permute_and_flip

SCORES = np.array([0, 30, 7, 24, -20])
SIZES = np.array([40, 1, 10, 3, 200])
RATE = Fraction(1, 8)
FLIPPED = np.array([0, 12, 1, 0, 2, 0, 1])
MANY = 100_000

Chooser = Callable[[Fraction, Source], int]


def by_floats(rate: Fraction, source: Source) -> int:
    return exponential_choice(SCORES, rate, SIZES, source)


def by_floats_alone(rate: Fraction, source: Source) -> int:
    found = draws._by_floats(SCORES, rate, SIZES, Uniform(source))
    assert found is not None
    return found


def exactly(rate: Fraction, source: Source) -> int:
    return draws._exactly(SCORES, rate, SIZES, Uniform(source))


def flipping(rate: Fraction, source: Source) -> int:
    return permute_and_flip(FLIPPED, rate, source)


def exponential_shares(rate: float) -> NDArray[np.float64]:
    weights = SIZES * np.exp(rate * SCORES)
    return weights / weights.sum()


def flipping_shares(rate: float) -> NDArray[np.float64]:
    """Over all orders: the chance that those visited before are passed over and this one is taken."""
    accept = [exp(rate * (int(score) - int(FLIPPED.max()))) for score in FLIPPED]
    shares = np.zeros(len(FLIPPED))
    orders = list(permutations(range(len(FLIPPED))))
    for order in orders:
        for place, option in enumerate(order):
            shares[option] += prod(1 - accept[before] for before in order[:place]) * accept[option]
    return shares / len(orders)


MECHANISMS: dict[str, tuple[Chooser, Callable[[float], NDArray[np.float64]], int]] = {
    "exponential": (by_floats, exponential_shares, 30_000),
    "exponential by floats": (by_floats_alone, exponential_shares, 30_000),
    "exponential exactly": (exactly, exponential_shares, 6_000),
    "permute and flip": (flipping, flipping_shares, 20_000),
}


def counts(choose: Chooser, rate: Fraction, tries: int) -> NDArray[np.int64]:
    source = SeededSource(1)
    return np.bincount([choose(rate, source) for _ in range(tries)])


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_choices_fit(mechanism: str) -> None:
    choose, shares, tries = MECHANISMS[mechanism]
    drawn = counts(choose, RATE, tries)
    assert fits_shares(drawn, shares(float(RATE))) > REJECTED
    for off in OFF:
        assert fits_shares(drawn, shares(float(RATE) * off)) < REJECTED


@pytest.mark.slow
def test_many_choices_fit() -> None:
    drawn = counts(by_floats, RATE, MANY)
    assert fits_shares(drawn, exponential_shares(float(RATE))) > REJECTED
    for off in (1.03, 1 / 1.03):
        assert fits_shares(drawn, exponential_shares(float(RATE) * off)) < REJECTED


def test_floats_and_fractions_choose_alike() -> None:
    """Given the same bits; so where floats decide, they decide what exact arithmetic does."""
    for seed in range(300):
        assert by_floats(RATE, SeededSource(seed)) == exactly(RATE, SeededSource(seed))


@pytest.mark.parametrize("boundary", range(len(SCORES) - 1))
@pytest.mark.parametrize("chunks", [1, 2, 3])
def test_near_a_boundary_more_bits_decide(boundary: int, chunks: int) -> None:
    """The bits agree with the boundary of two options for so many chunks; the next one falls on one side of it."""
    exact = true_boundary(boundary)
    agreeing = int(exact * 2 ** (64 * chunks)).to_bytes(8 * chunks, "big")
    following = int(exact * 2 ** (64 * chunks + 64)) % 2**64
    agreed = [agreeing[8 * i : 8 * i + 8] for i in range(chunks)]
    for last, option in ((following // 2, boundary), (following + (2**64 - following) // 2, boundary + 1)):
        assert draws._by_floats(SCORES, RATE, SIZES, Uniform(Scripted(agreed[:1]))) is None
        source = Scripted([*agreed, chunk(last)])
        assert exponential_choice(SCORES, RATE, SIZES, source) == option
        assert not source.left


def test_where_floats_are_in_doubt_the_same_bits_are_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    looked = draws._exactly

    def spy(scores: object, rate: object, sizes: object, uniform: Uniform) -> int:
        seen.append((uniform.prefix, uniform.size))
        return looked(scores, rate, sizes, uniform)

    monkeypatch.setattr(draws, "_exactly", spy)
    first = int(true_boundary(1) * 2**64)
    exponential_choice(SCORES, RATE, SIZES, Scripted([chunk(first), chunk(0)]))
    assert seen == [(first, 64)]
    exponential_choice(SCORES, RATE, SIZES, Scripted([chunk(first + 2**40)]))
    assert len(seen) == 1


@pytest.mark.parametrize(("first", "option"), [(0, 0), (2**64 - 1, 1)])
def test_the_ends_are_not_boundaries(first: int, option: int) -> None:
    """Nothing lies before the first option or after the last, so no more bits are needed there."""
    source = Scripted([chunk(first)])
    assert exponential_choice(np.array([3, 3]), RATE, np.array([1, 1]), source) == option


@pytest.mark.parametrize("scores", [[0, 10**5], [10**5, 0], [0, 10**5, 0]])
def test_a_hopeless_option_is_not_chosen(scores: Sequence[int]) -> None:
    best = scores.index(10**5)
    for seed in range(20):
        ones = np.ones(len(scores), dtype=np.int64)
        assert exponential_choice(np.array(scores), Fraction(1), ones, SeededSource(seed)) == best
        assert permute_and_flip(np.array(scores), Fraction(1), SeededSource(seed)) == best


def test_one_option_needs_no_luck() -> None:
    assert permute_and_flip(np.array([5]), RATE, Scripted([])) == 0
    assert exponential_choice(np.array([5]), RATE, np.array([7]), SeededSource(1)) == 0


def test_permute_and_flip_visits_in_the_drawn_order() -> None:
    """Second of three first, refused; then the first of the two left, taken: it has the best score."""
    source = Scripted([b"\x40", chunk(2**64 - 1), b"\x00"])
    assert permute_and_flip(np.array([9, 2, 9]), Fraction(1), source) == 0
    assert not source.left


def true_boundary(option: int) -> Fraction:
    """Where one option ends and the next begins, to 300 digits."""
    context = Context(prec=300)
    weights = [
        int(size) * Fraction(context.exp(context.divide(Decimal(int(score) * RATE.numerator), RATE.denominator)))
        for score, size in zip(SCORES, SIZES, strict=True)
    ]
    return sum(weights[: option + 1], Fraction(0)) / sum(weights)
