"""Do draws have the distribution they should have? Chi-square, with seeds, so that a test passes or fails for good.

A sampler is rejected where p < REJECTED. A right one is rejected for one seed in 10,000, and such a seed would be known
at once. Every test of a sampler shows its power: the same test must reject if the scale is off by 5%, or, in the short
form of a slow sampler, by 10%.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

REJECTED = 1e-4
OFF = (1.05, 1 / 1.05)
"""Scales that are wrong by 5%."""
FAR_OFF = (1.1, 1 / 1.1)
FEWEST = 20
"""How many draws a bin expects at least."""
BINS = 20
POINTS = 20_000
"""Where more values than this are likely, not every one can begin a bin."""

Reals = NDArray[np.float64]
Tail = Callable[[Reals], Reals]
"""P(X ≥ k) for integers k."""


def one_sided(epsilon: float) -> Tail:
    return lambda k: np.exp(-epsilon * np.maximum(k, 0))


def magnitude(epsilon: float) -> Tail:
    return lambda k: np.where(k <= 0, 1.0, 2 * np.exp(-epsilon * np.maximum(k, 0)) / (1 + np.exp(-epsilon)))


def two_sided(epsilon: float) -> Tail:
    def tail(k: Reals) -> Reals:
        below = np.exp(-epsilon * np.abs(np.where(k > 0, k, 1 - k))) / (1 + np.exp(-epsilon))
        return np.where(k > 0, below, 1 - below)

    return tail


def failures(chance: float) -> Tail:
    """How many events of a chance fail before one happens."""
    return lambda k: np.exp(np.maximum(k, 0) * np.log1p(-chance))


def given_below(tail: Tail, bound: float) -> Tail:
    """The same X, given that the uniform number it is read off, X ≥ k where it is below tail(k), is below a bound."""
    return lambda k: np.minimum(tail(k) / bound, 1.0)


def fits(drawn: NDArray[np.int64], tail: Tail, bins: int = BINS) -> float:
    """The p-value of draws of an integer. Fewer bins tell a wrong scale from fewer draws."""
    edges = _edges(tail, len(drawn), int(drawn.min()), int(drawn.max()), bins)
    places = np.searchsorted(edges, drawn, side="right")
    tails = np.concatenate([[1.0], tail(edges), [0.0]])
    return fits_shares(np.bincount(places, minlength=len(edges) + 1), -np.diff(tails))


def fits_shares(counts: Sequence[int] | NDArray[np.int64], shares: Sequence[float] | Reals) -> float:
    """The p-value of counts of outcomes that should have these shares. The rarest are counted as one."""
    assert np.isclose(np.sum(shares), 1)
    order = np.argsort(shares)[::-1]
    counts, expected = np.asarray(counts)[order], np.asarray(shares)[order] * np.sum(counts)
    while expected[-1] < FEWEST:
        counts, expected = (np.append(figures[:-2], figures[-2:].sum()) for figures in (counts, expected))
    chi_square = ((counts - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(chi_square, len(counts) - 1))


def fits_chance(happened: int, tries: int, chance: float) -> float:
    """The p-value of an event that should have this chance."""
    return float(stats.binomtest(happened, tries, chance).pvalue)


def _edges(tail: Tail, draws: int, least: int, most: int, bins: int) -> Reals:
    """Where bins begin: of about equal chance, smaller in the tails, and each with draws enough."""
    if most - least < POINTS:
        span = np.arange(least - 1, most + 2, dtype=np.float64)
    else:
        span = np.linspace(least, most, POINTS).round()
    enough = FEWEST / draws
    edges, before = [], 1.0
    for edge, now in zip(span, tail(span), strict=True):
        if before - now >= max(enough, min(1 / bins, now, 1 - before)) and now >= enough:
            edges.append(edge)
            before = now
    return np.array(edges)
