"""Geometric noise, one- and two-sided, against its exact distribution."""

from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest

from noise.fit import OFF, REJECTED, Tail, fits, given_below, magnitude, one_sided, two_sided
from noise.sources import Scripted, Small, chunk, word
from unveil.noise import Geometric, SeededSource, Source, TwoSidedGeometric
from unveil.noise.draws import LONGEST

DRAWS = 200_000
MANY = 2_000_000
FINE = 1.01
"""Many draws tell even a scale that is off by 1%."""

Sampler = Callable[[Fraction, Source], Geometric | TwoSidedGeometric]
SAMPLERS: dict[str, tuple[Sampler, Callable[[float], Tail]]] = {
    "one-sided": (Geometric, one_sided),
    "magnitude": (lambda epsilon, source: Geometric(epsilon, source, two_sided=True), magnitude),
    "two-sided": (TwoSidedGeometric, two_sided),
    "two-sided, short tables": (lambda epsilon, source: TwoSidedGeometric(epsilon, source, longest=1 << 12), two_sided),
}
EPSILONS = [Fraction(1, 100_000), Fraction(1, 100), Fraction(1, 7), Fraction(1, 2), Fraction(1), Fraction(3)]
# With so many zeros in front of every word, rare draws become common: those at the end of the table and beyond, and
# those of an ε for which the table has a single entry, zero.
RARE = [
    ("one-sided", Fraction(1), 40, DRAWS),
    ("magnitude", Fraction(1), 40, DRAWS),
    ("one-sided", Fraction(1, 10), 43, DRAWS),
    ("magnitude", Fraction(8), 32, DRAWS),
    ("one-sided", Fraction(47), 64, 2_000),
    ("magnitude", Fraction(50), 64, 3_500),
]


def p_value(sampler: str, epsilon: Fraction, claimed: float, draws: int, source: Source) -> float:
    """Of draws with one ε, against the distribution for another."""
    make, tail = SAMPLERS[sampler]
    return fits(make(epsilon, source).draw(draws), tail(claimed))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_draws_fit(sampler: str, epsilon: Fraction) -> None:
    assert p_value(sampler, epsilon, float(epsilon), DRAWS, SeededSource(1)) > REJECTED


@pytest.mark.parametrize("off", OFF)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_scale_off_by_5_percent_is_rejected(sampler: str, epsilon: Fraction, off: float) -> None:
    assert p_value(sampler, epsilon * Fraction(off), float(epsilon), DRAWS, SeededSource(1)) < REJECTED


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1)])
def test_many_draws_fit(epsilon: Fraction) -> None:
    assert p_value("two-sided", epsilon, float(epsilon), MANY, SeededSource(2)) > REJECTED
    assert p_value("two-sided", epsilon * Fraction(FINE), float(epsilon), MANY, SeededSource(2)) < REJECTED


@pytest.mark.parametrize(("sampler", "epsilon", "zeros", "draws"), RARE)
def test_rare_draws_fit(sampler: str, epsilon: Fraction, zeros: int, draws: int) -> None:
    make, tail = SAMPLERS[sampler]

    def rare(drawn: Fraction) -> float:
        given = given_below(tail(float(epsilon)), 2.0**-zeros)
        return fits(make(drawn, Small(zeros, SeededSource(3))).draw(draws), given)

    assert rare(epsilon) > REJECTED
    for off in OFF:
        assert rare(epsilon * Fraction(off)) < REJECTED


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("epsilon", [Fraction(1, 100_000), Fraction(1, 10), Fraction(1), Fraction(20), Fraction(50)])
def test_the_table_holds_the_first_64_bits_of_every_tail(epsilon: Fraction, two_sided: bool) -> None:
    table = Geometric(epsilon, SeededSource(1), two_sided=two_sided)._table[::-1]
    for k in {1, 2, 3, len(table) // 2, len(table) - 1, len(table)} & set(range(1, len(table) + 1)):
        assert int(table[k - 1]) == int(true_tail(epsilon, k, two_sided) * 2**64)
    assert len(table) == LONGEST or true_tail(epsilon, len(table) + 1, two_sided) * 2**64 < 2**20


@pytest.mark.parametrize("two_sided", [False, True])
def test_words_between_entries_are_decided_by_the_table(two_sided: bool) -> None:
    tails = [int(true_tail(Fraction(1), k, two_sided) * 2**64) for k in range(1, 20)]
    words = b"".join(word(tail + 1) + word(tail - 1) for tail in tails)
    source = Scripted([words])
    drawn = Geometric(Fraction(1), source, two_sided=two_sided).draw(2 * len(tails))
    assert drawn.tolist() == [value for k in range(1, 20) for value in (k - 1, k)]
    assert not source.left


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(50)])
@pytest.mark.parametrize("chunks", [1, 2, 3])
def test_a_word_that_equals_an_entry_goes_on_with_more_bits(epsilon: Fraction, two_sided: bool, chunks: int) -> None:
    """The bits agree with the tail for so many chunks after the word; then they are just below it, or just above."""
    k = 1 if epsilon > 1 else 5
    bits = int(true_tail(epsilon, k, two_sided) * 2 ** (64 * (1 + chunks)))
    for number, value in ((bits - 1, k), (bits + 1, k - 1)):
        parts = chunk(number, 8 * (1 + chunks))
        answers = [word(int.from_bytes(parts[:8], "big")), *(parts[8 * i : 8 * i + 8] for i in range(1, chunks + 1))]
        # What is just outside the tail in its last bits may need a chunk more to be told from it.
        source = Scripted([*answers, chunk(0 if value == k else 2**64 - 1)])
        if epsilon == 50:
            source.left.append(word(2**64 - 1))
        assert Geometric(epsilon, source, two_sided=two_sided).draw(1).tolist() == [value]
        assert len(source.left) <= 2


def test_one_entry_does_not_disturb_the_other_draws() -> None:
    tail = true_tail(Fraction(1), 3, False)
    at = int(tail * 2**64)
    for rest, value in ((0, 3), (2**64 - 1, 2)):
        source = Scripted([word(2**64 - 1) + word(at) + word(2**63), chunk(rest)])
        assert Geometric(Fraction(1), source).draw(3).tolist() == [0, value, 0]
        assert not source.left


@pytest.mark.parametrize("two_sided", [False, True])
def test_words_below_the_last_entry_draw_an_excess(two_sided: bool) -> None:
    last = Geometric(Fraction(1), SeededSource(1), two_sided=two_sided)
    longest, entry = len(last._table), int(last._table[0])
    second = int(true_tail(Fraction(1), 2, False) * 2**64)
    source = Scripted([word(0) + word(2**63) + word(entry - 1), word(second - 1) + word(2**64 - 1)])
    drawn = Geometric(Fraction(1), source, two_sided=two_sided).draw(3)
    assert drawn.tolist() == [longest + 2, {False: 0, True: 1}[two_sided], longest]
    assert not source.left


@pytest.mark.parametrize("two_sided", [False, True])
def test_the_last_entry_leads_to_the_excess_too(two_sided: bool) -> None:
    """P(G > K) must be P(G ≥ K) · exp(−ε): all that reaches K draws the excess, or the rest is missing further out."""
    last = Geometric(Fraction(1), SeededSource(1), two_sided=two_sided)
    longest, entry = len(last._table), int(last._table[0])
    source = Scripted([word(entry), chunk(0), word(int(true_tail(Fraction(1), 2, False) * 2**64) - 1)])
    assert Geometric(Fraction(1), source, two_sided=two_sided).draw(1).tolist() == [longest + 2]


def test_signs_are_fair() -> None:
    source = Scripted([word(2**62) * 16, bytes([0b10110000, 0b00001111])])
    drawn = TwoSidedGeometric(Fraction(1, 2), source).draw(16)
    assert np.sign(drawn).tolist() == [-1, 1, -1, -1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1]


@pytest.mark.parametrize("threshold", [1, 2, 30])
def test_draws_given_that_they_reach_a_threshold(threshold: int) -> None:
    epsilon = 0.3
    noise = TwoSidedGeometric(Fraction(3, 10), SeededSource(4))
    drawn = noise.at_least(threshold, DRAWS)
    assert drawn.min() == threshold
    assert fits(drawn - threshold, one_sided(epsilon)) > REJECTED
    for off in OFF:
        assert fits(drawn - threshold, one_sided(epsilon * off)) < REJECTED


@pytest.mark.parametrize("threshold", [1, 2, 30])
def test_the_chance_to_reach_a_threshold(threshold: int) -> None:
    least, most = TwoSidedGeometric(Fraction(3, 10), SeededSource(5)).reaches(threshold)(200)
    exact = true_tail(Fraction(3, 10), threshold, two_sided=True) / 2
    assert least <= exact <= most
    assert most - least < exact / 2**190


def test_no_draws_and_no_epsilon() -> None:
    assert len(TwoSidedGeometric(Fraction(1), SeededSource(1)).draw(0)) == 0
    with pytest.raises(ValueError, match="at least"):
        TwoSidedGeometric(Fraction(0), SeededSource(1))


def test_a_tiny_epsilon_wanders_off_the_table_many_times() -> None:
    epsilon = Fraction(1, 10**6)
    drawn = TwoSidedGeometric(epsilon, SeededSource(6)).draw(1000)
    assert 0.8 < np.abs(drawn).mean() * float(epsilon) < 1.25


def test_an_epsilon_that_says_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least"):
        TwoSidedGeometric(Fraction(1, 10**8), SeededSource(6))


def true_tail(epsilon: Fraction, k: int, two_sided: bool) -> Fraction:
    """P(G ≥ k) to 400 digits."""
    context = Context(prec=400, Emin=-(10**6))

    def exp(gamma: Fraction) -> Fraction:
        exponent = context.divide(Decimal(gamma.numerator), Decimal(gamma.denominator))
        return Fraction(context.exp(exponent.copy_negate()))

    return 2 * exp(k * epsilon) / (1 + exp(epsilon)) if two_sided else exp(k * epsilon)
