"""What attacks on a release found, worst first: how often each succeeded, and how sure that rate is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from unveil import html

DOUBT = 0.05
"""The chance that an interval misses the true rate."""
ABSENT = "people who are not in the table"
"""The usual control."""


@dataclass(frozen=True)
class Rate:
    """Successes, out of some tries."""

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


@dataclass(frozen=True)
class Outcome:
    """What one attack achieved."""

    attack: str
    """The kind of attack, such as `singling out`."""
    sentence: str
    """What it found, in plain words."""
    success: Rate | None = None
    """How often it succeeded; None for an attack that measures something else."""
    control: Rate | None = None
    """How often the same attack succeeded where the release should give it nothing; None without the raw table."""
    against: str = ABSENT
    """What the control is."""
    breach: bool | None = None
    """Whether it found a leak, for an attack that does not compare two rates."""
    figures: Mapping[str, Any] = field(default_factory=dict)
    """More of what it measured."""

    @property
    def leak(self) -> bool:
        """Whether it succeeds more often than its control, beyond chance; without a control, whether it ever does."""
        if self.breach is not None or self.success is None:
            return bool(self.breach)
        return self.success.hits > 0 if self.control is None else self.success.exceeds(self.control)

    @property
    def risk(self) -> float:
        """How much of what the control leaves the attack gains: (success − control) / (1 − control), at least 0.

        Giomi et al., *A Unified Framework for Quantifying Privacy Risk in Synthetic Data*, PoPETs 2023.
        """
        if self.success is None:
            return 0.0
        base = 0.0 if self.control is None else self.control.share
        return max(0.0, (self.success.share - base) / (1 - base)) if base < 1 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, for JSON."""
        return {
            "attack": self.attack,
            "leak": self.leak,
            "risk": self.risk,
            "sentence": self.sentence,
            "success": None if self.success is None else self.success.to_dict(),
            "control": None if self.control is None else self.control.to_dict(),
            "against": None if self.control is None else self.against,
            "figures": dict(self.figures),
        }

    @property
    def cells(self) -> tuple[str, str, str]:
        """The line of a table: the attack, how often it succeeded, and its control."""
        success, control = ("" if rate is None else rate.interval for rate in (self.success, self.control))
        return self.attack, success, control


@dataclass(frozen=True)
class Exposure:
    """What attacks on a release found. Private to the owner, and never part of a release."""

    origin: str
    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...] = ()
    """What a reader must know about the figures."""

    @classmethod
    def of(cls, origin: str, outcomes: Iterable[Outcome], notes: Iterable[str] = ()) -> Exposure:
        """The outcomes worst first: leaks before others, and the highest risk first."""
        ranked = sorted(outcomes, key=lambda outcome: (not outcome.leak, -outcome.risk))
        return cls(origin, tuple(ranked), tuple(notes))

    @property
    def leaks(self) -> tuple[Outcome, ...]:
        """The attacks that found a leak."""
        return tuple(outcome for outcome in self.outcomes if outcome.leak)

    @property
    def summary(self) -> str:
        """How many of the attacks found a leak."""
        return f"{self.origin}: {len(self.leaks)} of {len(self.outcomes)} attacks found a leak"

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, for JSON."""
        return {
            "attacked": self.origin,
            "outcomes": [outcome.to_dict() for outcome in self.outcomes],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        worst = f"; {self.outcomes[0].sentence}" if self.outcomes else ""
        return f"Exposure({self.summary}{worst})"

    def _repr_html_(self) -> str:
        return html.page_part(
            html.paragraph(f"{self.summary}.", stripe=html.BAD if self.leaks else html.GOOD),
            html.table(
                ("attack", "success", "control", "in words"),
                ((*outcome.cells, outcome.sentence) for outcome in self.outcomes),
            ),
            *(html.paragraph(note, stripe=html.PLAIN) for note in self.notes),
        )
