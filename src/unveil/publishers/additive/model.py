"""The additive model in whole numbers, what a record weighs under it, and the steps that it takes.

The log-odds of a class are base + Σ score(bin), in steps of 1/256. A record weighs min(1, odds of the other side), in
units: `weights[z] = round(unit · exp(−max(z, 0)))` for the log-odds z of its own side. So a record never weighs more
than one unit, both sides of a bin weigh the same on average where the model is right, and what the model knows well
weighs little. The table of weights is computed once; rows add and look up whole numbers, so every engine gets the same
sums, and rounding can only change what is learned, never what a record weighs at most.

The likely steps of all bins are computed from noisy sums. Post-processing: nothing here sees a row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unveil.arrays import FloatArray, IntArray
from unveil.counting import Scoring

STEP = 256
"""Scores are in steps of 1 / STEP."""
REACH = 16 * STEP
"""Log-odds beyond this count as this."""
SCALES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""How far steps may lie from zero on average, squared: the candidates, besides no step at all."""
STEEPEST = 0.98
"""No step claims that a side has more than 99% of the weight."""


def weight_table(unit: int) -> IntArray:
    """What a record weighs by the log-odds of its own side, from −REACH to REACH; never more than the unit."""
    odds = np.arange(-REACH, REACH + 1) / STEP
    weights: IntArray = np.rint(unit * np.exp(-np.maximum(odds, 0))).astype(np.int64)
    return weights


def log_odds(part: FloatArray, rest: FloatArray) -> IntArray:
    """The log-odds of parts against the rest, in whole steps."""
    odds: IntArray = np.rint(np.log(part / rest) * STEP).astype(np.int64)
    return odds


class Model:
    """Log-odds of the class: one model for two classes, and one per class, against all others, for more."""

    def __init__(self, totals: FloatArray, sizes: Sequence[int]) -> None:
        """Starts with the noisy class totals alone, each at least one, and this many bins of each attribute."""
        classes = len(totals)
        self.totals = totals
        self.positive: IntArray = np.array([1]) if classes == 2 else np.arange(classes)
        part = totals[self.positive]
        self.base = log_odds(part, totals.sum() - part)
        self.first: IntArray = np.concatenate([[0], np.cumsum(sizes)])
        self.scores: IntArray = np.zeros((int(self.first[-1]), len(self.positive)), dtype=np.int64)

    def scoring(self, unit: int) -> Scoring:
        """The model as it travels to the rows."""
        return Scoring(self.base, self.scores.copy(), self.positive, weight_table(unit))

    def rows_of(self, attribute: int) -> slice:
        """The bins of an attribute among all bins."""
        return slice(int(self.first[attribute]), int(self.first[attribute + 1]))

    def effects(self, attribute: int) -> FloatArray:
        """What the bins of an attribute add to the log-odds: `[bin, model]`."""
        return self.scores[self.rows_of(attribute)] / STEP

    def add(self, attribute: int, model: int, steps: FloatArray) -> IntArray:
        """Adds steps to the scores of an attribute; gives them as whole numbers."""
        whole: IntArray = np.rint(steps * STEP).astype(np.int64)
        self.scores[self.rows_of(attribute), model] += whole
        return whole

    def chances(self, bins: IntArray) -> FloatArray:
        """The probability of each class in cells, given the bin of each attribute."""
        odds = np.tile(self.base, (len(bins), 1))
        for attribute in range(bins.shape[1]):
            odds += self.scores[self.first[attribute] + bins[:, attribute]]
        part = 1 / (1 + np.exp(-np.clip(odds, -REACH, REACH) / STEP))
        if len(self.totals) == 2:
            return np.concatenate([1 - part, part], axis=1)
        chances: FloatArray = part / part.sum(axis=1, keepdims=True)
        return chances


def steps(against: FloatArray, within: FloatArray, kernel: FloatArray, variance: float) -> FloatArray:
    """What each bin should add to the log-odds.

    Weights are such that both sides of a bin weigh the same if the model is right. If it is off by δ, their difference
    is the share tanh(δ / 2) of their sum. The shares are normal with covariance scale · kernel; the scale is the
    candidate under which the differences are most likely.

    `against` and `within` are the noisy weights, per bin, of the records outside the class and of those in it; the
    variance is that of the noise on one of these sums.
    """
    held = nonnegative(against + within)
    shares = _posterior(within - against, held, kernel, 2 * variance)
    return 2 * np.arctanh(np.clip(shares, -STEEPEST, STEEPEST))


def _posterior(difference: FloatArray, held: FloatArray, kernel: FloatArray, variance: float) -> FloatArray:
    """The posterior mean of the shares s, if difference ~ N(held · s, held + variance)."""
    # What is added to it keeps the matrices below positive definite in floats, however large the sums are.
    spread = held + variance + 1e-3 + 1e-12 * held**2
    likeliest = -0.5 * np.sum(difference**2 / spread + np.log(spread))
    best = np.zeros(len(held))
    covariance = held[:, None] * kernel * held[None, :]
    for scale in SCALES:
        root = np.linalg.cholesky(scale * covariance + np.diag(spread))
        white = np.linalg.solve(root, difference)
        likelihood = -0.5 * white @ white - np.sum(np.log(np.diag(root)))
        if likelihood > likeliest:
            likeliest = likelihood
            best = scale * (kernel * held[None, :]) @ np.linalg.solve(root.T, white)
    return best


def nonnegative(noisy: FloatArray) -> FloatArray:
    """The nearest numbers that are not negative and have the same sum."""
    total = noisy.sum()
    if total <= 1:
        return np.full(len(noisy), 1 / len(noisy))
    ordered = np.sort(noisy)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(noisy) + 1)
    nearest: FloatArray = np.maximum(noisy - excess[np.flatnonzero(ordered > excess)[-1]], 0)
    return nearest
