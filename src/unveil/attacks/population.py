"""How many people are alone in the population that a table is a sample of.

Pitman's sampling formula as a model of how many groups have which size: Hoshino, *Applying Pitman's Sampling Formula
to Microdata Disclosure Risk Assessment*, Journal of Official Statistics 17(4), 2001. Dankar et al., *Estimating the
re-identification risk of clinical data sets* (2012), find it best where at most a tenth of the population is sampled.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log
from typing import Any


def unique_people(groups: Mapping[int, int], population: int) -> float:
    """An estimate of how many people of a population are alone in their group.

    Args:
        groups: How many groups of the sample have each size.
        population: How many people there are, those of the sample included.
    """
    from scipy.special import gammaln

    records = sum(size * count for size, count in groups.items())
    if population <= records or not groups.get(1):
        return float(groups.get(1, 0))
    alpha, theta = _fitted(groups)
    return float(min(population, exp(gammaln(theta + 1) - gammaln(theta + alpha) + alpha * log(population))))


def _fitted(groups: Mapping[int, int]) -> tuple[float, float]:
    """The α in (0, 1) and θ > 0 that make the sizes of the sample likeliest."""
    import numpy as np
    from scipy.optimize import minimize
    from scipy.special import expit, gammaln

    sizes, counts = (np.array(part, dtype=np.float64) for part in zip(*groups.items(), strict=True))
    records, number = float((sizes * counts).sum()), float(counts.sum())

    def parameters(place: Any) -> tuple[float, float]:
        return float(expit(place[0])), float(np.exp(place[1]))

    def unlikelihood(place: Any) -> float:
        alpha, theta = parameters(place)
        start = (number - 1) * np.log(alpha) + gammaln(theta / alpha + number) - gammaln(theta / alpha + 1)
        rest = gammaln(theta + records) - gammaln(theta + 1)
        inside = (counts * (gammaln(sizes - alpha) - gammaln(1 - alpha))).sum()
        return float(-(start - rest + inside))

    starts = [(place, np.log(1 + number)) for place in (-2.0, 0.0, 2.0)]
    found = min(
        (minimize(unlikelihood, start, method="L-BFGS-B", bounds=[(-12, 12), (-10, 25)]) for start in starts),
        key=lambda result: float(result.fun),
    )
    return parameters(found.x)
