"""Where randomness comes from, and uniform real numbers drawn from it bit by bit, as far as a comparison needs.

Every decision of the kernel compares such a number with real numbers that can be computed to any precision.
A comparison is decided only when the bits drawn so far and the bounds known so far leave no doubt; otherwise both are
refined. So every outcome has exactly the probability that the real numbers give, whatever arithmetic computes it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

CHUNK = 64


Words = np.ndarray[Any, np.dtype[np.uint64]]


class Source(Protocol):
    """Independent fair bits."""

    private: bool
    """Whether the bits are unpredictable. A release made from predictable ones is not private and says so."""

    def bytes(self, count: int) -> bytes:
        """Random bytes."""
        ...


class SystemSource:
    """The operating system's generator: the only source for a release that is shared."""

    private = True

    def bytes(self, count: int) -> bytes:
        """Random bytes."""
        return os.urandom(count)


class SeededSource:
    """Unsafe: the same seed gives the same bits. For tests and experiments only."""

    private = False

    def __init__(self, seed: int) -> None:
        self._bits = random.Random(seed)  # noqa: S311 - marked as not private in any use

    def bytes(self, count: int) -> bytes:
        """Bytes derived from the seed."""
        return self._bits.randbytes(count)


def bits(source: Source, count: int) -> int:
    """A uniform integer of this many bits."""
    whole = int.from_bytes(source.bytes((count + 7) // 8), "big")
    return whole >> (-count % 8)


def words(source: Source, count: int) -> Words:
    """Uniform 64-bit integers."""
    return np.frombuffer(source.bytes(8 * count), dtype=np.uint64)


def below(source: Source, bound: int) -> int:
    """A uniform integer in [0, bound). Draws that would favour some values are rejected."""
    size = (bound - 1).bit_length()
    while (drawn := bits(source, size) if size else 0) >= bound:
        continue
    return drawn


Bounds = Callable[[int], tuple[Fraction, Fraction]]
"""A real number: given a number of bits, a lower and an upper bound of about that precision."""


class Uniform:
    """A uniform number in [0, 1), of which the first bits are known."""

    def __init__(self, source: Source, prefix: int | None = None) -> None:
        """Starts with 64 bits, given or drawn."""
        self._source = source
        self.size = CHUNK
        self.prefix = bits(source, CHUNK) if prefix is None else prefix

    def refine(self) -> None:
        """Draws more bits."""
        self.prefix = (self.prefix << CHUNK) | bits(self._source, CHUNK)
        self.size += CHUNK

    @property
    def range(self) -> tuple[Fraction, Fraction]:
        """Where the number lies."""
        return Fraction(self.prefix, 1 << self.size), Fraction(self.prefix + 1, 1 << self.size)

    def below(self, real: Bounds) -> bool:
        """Whether the number is below a real one."""
        while True:
            lo, hi = self.range
            least, most = real(self.size + 16)
            if hi <= least:
                return True
            if lo >= most:
                return False
            self.refine()


def exp_bounds(gamma: Fraction, size: int) -> tuple[Fraction, Fraction]:
    """Bounds of exp(−γ) for γ ≥ 0, relative width about 2^−size; absolute where exp(−γ) is far below that.

    The decimal module rounds exp correctly to its precision, so a step of one unit in the last place is a safe bound.
    """
    if gamma > size + 64:
        return Fraction(0), Fraction(1, 1 << (size + 64))  # exp(−γ) < 2^−γ is too small to matter at this precision
    digits = size * 3 // 10 + 12
    down, up = Context(prec=digits + 6, rounding=ROUND_FLOOR), Context(prec=digits + 6, rounding=ROUND_CEILING)
    small = down.divide(Decimal(gamma.numerator), Decimal(gamma.denominator))
    large = up.divide(Decimal(gamma.numerator), Decimal(gamma.denominator))
    context = Context(prec=digits, Emin=-(10**9), Emax=10**9)
    # copy_negate, because unary minus would round to the precision of the calling thread.
    least = context.next_minus(context.exp(large.copy_negate()))
    most = context.next_plus(context.exp(small.copy_negate()))
    return Fraction(least), min(Fraction(most), Fraction(1))


def accept_exp(gamma: Fraction, source: Source) -> bool:
    """True with probability exp(−γ)."""
    if gamma == 0:
        return True
    return Uniform(source).below(lambda size: exp_bounds(gamma, size))
