"""Where bits come from, uniform integers, and comparisons with exp(−γ)."""

import decimal
import os
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noise.fit import OFF, REJECTED, fits_chance, fits_shares
from noise.sources import Scripted, Small, chunk
from unveil.noise import SeededSource, SystemSource, Uniform, accept_exp, below, exp_bounds
from unveil.noise.source import bits, words

DRAWS = 20_000
FEW = 30_000


def test_the_same_seed_gives_the_same_bits_and_is_not_private() -> None:
    assert SeededSource(7).bytes(100) == SeededSource(7).bytes(100)
    assert SeededSource(7).bytes(100) != SeededSource(8).bytes(100)
    assert SeededSource(7).private is False


def test_the_system_source_asks_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", lambda count: b"u" * count)
    assert SystemSource().bytes(3) == b"uuu"
    assert SystemSource().private is True


def test_bits_are_the_first_of_the_bytes() -> None:
    assert bits(Scripted([b"\xb4"]), 3) == 0b101
    assert bits(Scripted([b"\xb4\x80"]), 9) == 0b101101001
    assert words(Scripted([np.array([5, 2**64 - 1], dtype=np.uint64).tobytes()]), 2).tolist() == [5, 2**64 - 1]


@pytest.mark.parametrize("bound", [2, 3, 10, 21, 256, 257])
def test_integers_below_a_bound_are_uniform(bound: int) -> None:
    source = SeededSource(1)
    drawn = np.bincount([below(source, bound) for _ in range(DRAWS)], minlength=bound)
    assert fits_shares(drawn, np.full(bound, 1 / bound)) > REJECTED


def test_a_bias_of_5_percent_would_be_rejected() -> None:
    """410 equally likely numbers modulo 20: ten outcomes are 2.5% too likely and ten 2.5% too rare."""
    source = SeededSource(1)
    drawn = np.bincount([below(source, 410) % 20 for _ in range(4 * DRAWS)], minlength=20)
    assert fits_shares(drawn, np.full(20, 1 / 20)) < REJECTED


def test_integers_that_would_favour_some_are_thrown_away() -> None:
    source = Scripted([b"\xff", b"\xa0", b"\x80"])  # 7 and 5 are not below 5, 4 is
    assert below(source, 5) == 4
    assert not source.left
    assert below(Scripted([]), 1) == 0


@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(4, 3)])
def test_acceptance(gamma: Fraction) -> None:
    accepted = accepts(gamma, FEW)
    assert fits_chance(accepted, FEW, np.exp(-float(gamma))) > REJECTED
    for off in OFF:
        assert fits_chance(accepted, FEW, np.exp(-float(gamma) * off)) < REJECTED


def test_rare_acceptance() -> None:
    """With a word of zeros before, what has a chance of exp(−46) has one of 2^64 · exp(−46) = 19%."""
    draws = 2_000

    def accepted(gamma: Fraction) -> int:
        source = SeededSource(3)
        return sum(accept_exp(gamma, Small(64, source)) for _ in range(draws))

    assert fits_chance(accepted(Fraction(46)), draws, 2**64 * np.exp(-46)) > REJECTED
    for off in OFF:
        assert fits_chance(accepted(Fraction(46) * Fraction(off)), draws, 2**64 * np.exp(-46)) < REJECTED


def test_what_is_certain_draws_nothing() -> None:
    assert accept_exp(Fraction(0), Scripted([]))


@pytest.mark.parametrize("chunks", [0, 1, 2, 5])
@pytest.mark.parametrize("gamma", [Fraction(1, 2), Fraction(10), Fraction(3, 1000)])
def test_a_comparison_draws_as_many_bits_as_it_needs(gamma: Fraction, chunks: int) -> None:
    """The bits agree with exp(−γ) for so many chunks; the next one decides."""
    agreeing = int(true_exp(gamma) * 2 ** (64 * chunks))
    following = int(true_exp(gamma) * 2 ** (64 * chunks + 64)) % 2**64
    agreed = [agreeing.to_bytes(8 * chunks, "big")[8 * i : 8 * i + 8] for i in range(chunks)]
    for last, outcome in ((following // 2, True), (following + (2**64 - following) // 2, False)):
        source = Scripted([*agreed, chunk(last)])
        assert accept_exp(gamma, source) is outcome
        assert not source.left


def test_a_uniform_number_grows_at_its_end() -> None:
    uniform = Uniform(Scripted([chunk(5), chunk(7)]))
    assert uniform.range == (Fraction(5, 2**64), Fraction(6, 2**64))
    uniform.refine()
    assert uniform.range == (Fraction(5 * 2**64 + 7, 2**128), Fraction(5 * 2**64 + 8, 2**128))


@pytest.mark.parametrize("size", [16, 64, 80, 320, 1000])
@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 10), Fraction(5, 2), Fraction(700), Fraction(1, 10**20)])
def test_bounds_of_exp_bracket_it_tightly(gamma: Fraction, size: int) -> None:
    check_bounds(gamma, size)


@given(
    st.fractions(min_value=0, max_value=2000, max_denominator=10**40) | st.fractions(min_value=0, max_value=1),
    st.integers(16, 600),
)
@settings(deadline=None)
def test_bounds_of_exp_bracket_it_for_any_fraction(gamma: Fraction, size: int) -> None:
    check_bounds(gamma, size)


def test_bounds_of_exp_do_not_hang_on_how_the_caller_computes() -> None:
    with decimal.localcontext(prec=2):
        check_bounds(Fraction(123456, 1_000_000), 64)


def test_what_is_all_but_impossible_is_refused_without_counting_its_zeros() -> None:
    """A comparison with 64 bits needs no bound on exp(−100,000) that is 10^43,429 times finer than they are."""
    _, most = exp_bounds(Fraction(100_000), 64)
    assert most.denominator.bit_length() < 10_000


def check_bounds(gamma: Fraction, size: int) -> None:
    least, most = exp_bounds(gamma, size)
    exact = true_exp(gamma)
    assert least <= exact <= most <= 1
    # Relative to what is bounded, or to what 64 bits can tell where that is less.
    assert most - least <= (exact + Fraction(1, 2**64)) / 2**size


def accepts(gamma: Fraction, draws: int) -> int:
    source = SeededSource(2)
    return sum(accept_exp(gamma, source) for _ in range(draws))


def true_exp(gamma: Fraction) -> Fraction:
    """Exp(−γ) to 500 digits."""
    context = Context(prec=500, Emin=-(10**6))
    exponent = context.divide(Decimal(gamma.numerator), Decimal(gamma.denominator))
    return Fraction(context.exp(exponent.copy_negate()))
