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

from scipy import stats

PILOT = 0.2
"""The share of the runs on which events are chosen."""


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
    least = stats.beta.ppf(doubt / 2, p, runs - p + 1) if p else 0.0
    most = stats.beta.ppf(1 - doubt / 2, q + 1, runs - q) if q < runs else 1.0
    return float(math.log(least / most)) if least else -math.inf
