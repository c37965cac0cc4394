"""What a release promises in plain words, and what it does not: requirements, and the noise of a private release.

Each promise is about the released rows, and no more is claimed: not what a reader believes, who may know other columns,
or how the release was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, exp, log, sqrt
from typing import Any

from unveil.errors import named
from unveil.release import (
    AdditiveManifest,
    DiffGenManifest,
    PrivateManifest,
    SafeManifest,
    StatisticsManifest,
    WeightsManifest,
    counted_by,
)
from unveil.reports.figures import number
from unveil.schema import Promise, decimal_text, stated


def promise(entry: Mapping[str, Any]) -> Promise:
    """A requirement of a manifest in plain words; one whose bound bounds nothing says so."""
    requirement = stated(entry)
    words = requirement.promise()
    numbers = [(bound.way, getattr(requirement, key)) for key, bound in requirement.bounds.items()]
    if all(number <= 1 if way == "least" else number >= 1 for way, number in numbers):
        nothing = (
            "The bound is so wide that every table keeps to it. "
            f"On {named(requirement.attributes)} nothing is promised."
        )
        return replace(words, headline="Nothing is promised", promise=nothing, cannot="", can=())
    return words


RECORDS = "The promises count records, not people: a person with several rows counts several times."
PERSONS = "Sizes of groups count persons; shares in a group count records, of which a person may have several."
LIMITS = (
    "Each promise holds by itself. None covers a reader who knows the columns of two requirements together.",
    "The class is released as it is. A reader who knows a person's class can use it to narrow a group down.",
    "A bound of an interval shows that there are values on both sides of it, and close to it if it has many digits.",
    "Other releases of the same people can be joined with this one, and together they can reveal more than each alone.",
    "A reader who reasons about why the masking is not finer may learn more than the rows say.",
)
"""What no requirement about groups promises (docs/guarantees.md)."""


def limits(persons: int | None) -> tuple[str, ...]:
    """The same with what is counted, where the rows are of this many persons."""
    return (LIMITS[0], RECORDS if persons is None else PERSONS, *LIMITS[1:])


MOST = 10**300
"""A float has an end."""
COVERED = 0.05
"""One count in twenty is further off than the page says."""


@dataclass(frozen=True)
class Noise:
    """Two-sided geometric noise, P(Z = z) ∝ exp(−ε|z|)."""

    epsilon: Fraction

    @property
    def ratio(self) -> float:
        """By how much a value is likelier than the one next to it."""
        return exp(-float(self.epsilon))

    @property
    def deviation(self) -> float:
        """The standard deviation, √(2a) / (1 − a)."""
        return sqrt(2 * self.ratio) / (1 - self.ratio)

    @property
    def reach(self) -> int:
        """The smallest m with P(|Z| > m) = 2aᵐ⁺¹ / (1 + a) of at most one in twenty."""
        return max(0, ceil(-log(COVERED * (1 + self.ratio) / 2) / float(self.epsilon) - 1))

    @property
    def lift(self) -> float:
        """What an empty cell shows on average, a / (1 − a²), since counts below 0 are written as 0."""
        return self.ratio / (1 - self.ratio**2)

    def passing(self, threshold: int) -> float:
        """The chance that an empty cell reaches a threshold, P(Z ≥ t) = aᵗ / (1 + a)."""
        return exp(-float(self.epsilon) * threshold) / (1 + self.ratio)

    def passed(self, threshold: int) -> float:
        """What an empty cell that reaches a threshold shows on average: noise has no memory, so t + a / (1 − a)."""
        return threshold + self.ratio / (1 - self.ratio)


def private_facts(manifest: PrivateManifest) -> dict[str, Any]:
    """Everything that a page says about the budget and the noise of a differentially private release."""
    epsilon = Fraction(manifest.requirements[0]["epsilon"])
    noise = Noise(Fraction(counted_by(manifest).epsilon) / (manifest.contributions or 1))
    factor = exp(min(float(epsilon), 700.0))
    threshold = manifest.threshold if isinstance(manifest, DiffGenManifest) else None
    thinned = manifest if isinstance(manifest, SafeManifest) else None
    least = threshold or 0
    return {
        "private": manifest.private,
        "contributions": manifest.contributions,
        "epsilon": decimal_text(epsilon),
        "factor": number(factor),
        # What a stranger's belief of one half can grow to.
        "surer": f"{100 * factor / (1 + factor):.3g}%",
        "ledger": [
            {
                "purpose": entry.purpose,
                "epsilon": entry.epsilon,
                "share": f"{float(Fraction(entry.epsilon) / epsilon):.1%}",
                "together": "yes" if entry.composition == "parallel" else "no",
            }
            for entry in manifest.ledger
        ],
        "spent": decimal_text(sum((Fraction(entry.epsilon) for entry in manifest.ledger), Fraction(0))),
        "counts_epsilon": manifest.ledger[-1].epsilon,
        "deviation": number(noise.deviation),
        "reach": f"{noise.reach:,}",
        "lift": number(noise.lift),
        # The standard deviation of a sum of a hundred counts.
        "hundred": number(10 * noise.deviation),
        "cells": f"{manifest.cells:,}",
        # For true rows: how they were sampled and suppressed, and the δ of that.
        "sampled": None if thinned is None else thinned.sampled,
        "k": None if thinned is None else thinned.k,
        "delta": None if thinned is None else decimal_text(Fraction(thinned.requirements[0]["delta"])),
        # For weights: how many leaves, or tables and pairs, were counted.
        "weights": isinstance(manifest, WeightsManifest),
        "leaves": len(manifest.leaves) if isinstance(manifest, AdditiveManifest) else None,
        "tables": len(manifest.tables) if isinstance(manifest, StatisticsManifest) else None,
        "pairs": len(manifest.pairs) if isinstance(manifest, StatisticsManifest) else None,
        "threshold": threshold,
        # With a threshold: how many empty cells reach it on average, at most, and what each of these shows.
        "spurious": number(min(manifest.cells, MOST) * noise.passing(least)),
        "spurious_count": number(noise.passed(least)),
    }
