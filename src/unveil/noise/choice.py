"""Private choice: the exponential mechanism, with weights for many options of one score, and permute-and-flip.

Scores are integers. An option of score u is chosen with probability proportional to exp(rate · u). If adding or
removing a record changes every score by at most Δ, this is 2·rate·Δ-DP, so rate = ε / (2Δ). If adding a record can only
raise scores, it is rate·Δ-DP: the weight of the option and the sum of all weights then move in the same direction, each
by a factor between 1 and exp(rate·Δ), so their ratio moves by no more than that factor either way. Then rate = ε / Δ.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from unveil.arrays import FloatArray, IntArray
from unveil.noise.source import Source, below
from unveil.noise.uniform import CHUNK, Uniform, accept_exp, exp_bounds


def exponential_choice(scores: IntArray, rate: Fraction, sizes: IntArray, source: Source) -> int:
    """Chooses an option with probability proportional to size · exp(rate · score).

    Args:
        scores: One integer per option.
        rate: The weight of one point of score.
        sizes: How many outcomes each option covers; in Equation 6 of DiffGen, the length of an interval.
        source: The randomness.
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
        known: dict[int, tuple[Fraction, Fraction]] = {}
        for score in {int(score) for score in scores}:
            known[score] = exp_bounds(rate * (best - score), size)
        weights = [
            (int(many) * known[int(score)][0], int(many) * known[int(score)][1])
            for score, many in zip(scores, sizes, strict=True)
        ]
        least, most = sum(lo for lo, _ in weights), sum(hi for _, hi in weights)
        lo, hi = uniform.range
        low = high = Fraction(0)
        for option, weight in enumerate(weights):
            begins, low, high = high / least, low + weight[0], high + weight[1]
            last = option == len(weights) - 1
            if lo >= begins and (last or hi <= low / most):
                return option
        uniform.refine()
