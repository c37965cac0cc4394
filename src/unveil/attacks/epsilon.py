"""How much two samples of outcomes tell them apart: a lower confidence bound on ε.

ε-DP says P(event | one table) ≤ exp(ε) · P(event | the other) for every event. So if an event has probability p on one
table and q on the other, ln(p / q) is at most ε. p and q are bounded by Clopper and Pearson's exact intervals. An event
is chosen on the first runs and counted on all others, so that the luck of choosing does not enter.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from unveil.arrays import IntArray
from unveil.attacks.rates import binomial_bounds

PILOT = 0.2
"""The share of the runs on which events are chosen."""
LEAST = 50
"""Fewer noisy numbers than this say nothing."""


@dataclass(frozen=True)
class Bound:
    """A lower bound on ε, and the frequencies it comes from."""

    epsilon: float
    often: float
    seldom: float


def lower_bound(present: Sequence[Hashable], absent: Sequence[Hashable], doubt: float) -> Bound:
    """The bound from the better of both directions; it holds but for a chance of `doubt`."""
    one, other = _one_way(present, absent, doubt / 2), _one_way(absent, present, doubt / 2)
    return max(one, other, key=lambda bound: bound.epsilon)


def _one_way(often: Sequence[Hashable], seldom: Sequence[Hashable], doubt: float) -> Bound:
    pilot = int(PILOT * len(often))
    event = _event(often[:pilot], seldom[:pilot])
    hits, misses = ([outcome in event for outcome in drawn[pilot:]] for drawn in (often, seldom))
    p, q = sum(hits), sum(misses)
    return Bound(_log_ratio(p, q, len(hits), doubt), p / len(hits), q / len(misses))


def _event(often: Sequence[Hashable], seldom: Sequence[Hashable]) -> set[Hashable]:
    """Of the outcomes in the order of their likelihood ratio, as many as give the best bound on the pilot."""
    here, there = Counter(often), Counter(seldom)
    outcomes = sorted({*here, *there}, key=lambda outcome: (here[outcome] + 1) / (there[outcome] + 1), reverse=True)
    best, found = -math.inf, 1
    p = q = 0
    for number, outcome in enumerate(outcomes[:-1], start=1):
        p, q = p + here[outcome], q + there[outcome]
        if (bound := _log_ratio(p, q, len(often), 0.1)) > best:
            best, found = bound, number
    return set(outcomes[:found])


def _log_ratio(p: int, q: int, runs: int, doubt: float) -> float:
    """Ln of the least that p can be over the most that q can be."""
    least, most = binomial_bounds(p, runs, doubt)[0], binomial_bounds(q, runs, doubt)[1]
    return math.log(least / most) if least else -math.inf


def step_of(rate: float) -> int:
    """The least distance at which noise of a rate is e times as rare."""
    return math.ceil(1 / rate)


def noise_factor(moves: Sequence[tuple[IntArray, float]], doubt: float) -> float | None:
    """By how much more than it says the noise of one release may cost, at least; None if there is too little of it.

    Noise of rate r is z or more away with a probability that falls by exp(−r) with each z. So of many numbers, those
    that noise moved by at least 1 are at most exp(r·n) times as many as those that it moved by at least 1 + n. Here n
    is the least for which r·n is 1 or more. Every number is a person's chance to stand out, and all are tried at once:
    Steinke et al., *Privacy Auditing with One (1) Training Run*, NeurIPS 2023.

    Args:
        moves: How far noise moved each number, and its rate, draw by draw.
        doubt: The chance that the factor is too high.
    """
    steps = [step_of(rate) for _, rate in moves]
    numbers = sum(len(moved) for moved, _ in moves)
    often = sum(int((moved >= 1).sum()) for moved, _ in moves)
    seldom = sum(int((moved >= 1 + step).sum()) for (moved, _), step in zip(moves, steps, strict=True))
    if numbers < LEAST:
        return None
    claimed = max(rate * step for (_, rate), step in zip(moves, steps, strict=True))
    return _log_ratio(often, seldom, numbers, doubt) / claimed
