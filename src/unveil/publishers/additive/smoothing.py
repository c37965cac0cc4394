"""Smoothing: the likely steps of all bins, given noisy sums. Post-processing: nothing here sees a row."""

from __future__ import annotations

import numpy as np

from unveil.arrays import FloatArray

SCALES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""How far steps may lie from zero on average, squared: the candidates, besides no step at all."""
STEEPEST = 0.98
"""No step claims that a side has more than 99% of the weight."""


def steps(against: FloatArray, within: FloatArray, kernel: FloatArray, variance: float) -> FloatArray:
    """What each bin should add to the log-odds.

    Weights are such that both sides of a bin weigh the same if the model is right. If it is off by δ, their difference
    is the share tanh(δ / 2) of their sum. The shares are normal with covariance scale · kernel; the scale is the
    candidate under which the differences are most likely.

    Args:
        against: The noisy weight of the records outside the class, per bin.
        within: The noisy weight of those in it.
        kernel: How alike the bins are.
        variance: The variance of the noise on one of these sums.
    """
    held = nonnegative(against + within)
    shares = _posterior(within - against, held, kernel, 2 * variance)
    found: FloatArray = 2 * np.arctanh(np.clip(shares, -STEEPEST, STEEPEST))
    return found


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
