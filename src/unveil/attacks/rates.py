"""How often an attack succeeded, and between which bounds the true rate lies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

DOUBT = 0.05
"""The chance that an interval misses the true rate."""


@dataclass(frozen=True)
class Rate:
    """So many successes in so many tries."""

    hits: int
    tries: int

    @property
    def share(self) -> float:
        """The share of the tries that succeeded; 0 if there was none."""
        return self.hits / self.tries if self.tries else 0.0

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The exact 95% interval."""
        return binomial_bounds(self.hits, self.tries, DOUBT)

    @property
    def interval(self) -> str:
        """The rate and its interval, as a cell of a table."""
        low, high = self.bounds
        return f"{self.share:.1%} ({low:.1%} – {high:.1%})"

    def exceeds(self, other: Rate) -> bool:
        """Whether this rate is higher than another beyond what chance explains: their intervals do not touch."""
        return self.bounds[0] > other.bounds[1]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, for JSON."""
        low, high = self.bounds
        return {"hits": self.hits, "tries": self.tries, "share": self.share, "low": low, "high": high}


def binomial_bounds(hits: int, tries: int, doubt: float) -> tuple[float, float]:
    """Clopper and Pearson's exact interval of a probability, which misses it with a chance of at most `doubt`."""
    # Only attacks need it, so that other verbs do not wait for it.
    from scipy.special import betaincinv

    low = float(betaincinv(hits, tries - hits + 1, doubt / 2)) if hits else 0.0
    high = float(betaincinv(hits + 1, tries - hits, 1 - doubt / 2)) if hits < tries else 1.0
    return low, high
