"""The privacy ledger of one release: every draw is charged before it happens, in exact fractions.

Charges add up (sequential composition). Draws on disjoint sets of records may share a charge (parallel composition);
the entry says so. The amounts may depend on what was drawn before, since their sum never passes the total: a filter for
pure differential privacy needs no more than that.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from unveil.errors import BudgetError

Composition = Literal["sequential", "parallel"]


@dataclass(frozen=True)
class Entry:
    """A charge: what was drawn, for how much, and how it composes with itself."""

    purpose: str
    epsilon: Fraction
    composition: Composition = "sequential"


class Ledger:
    """A budget and what was taken from it."""

    def __init__(self, total: Fraction) -> None:
        self.total = total
        self.entries: list[Entry] = []

    @property
    def spent(self) -> Fraction:
        """What was charged so far."""
        return sum((entry.epsilon for entry in self.entries), Fraction(0))

    @property
    def left(self) -> Fraction:
        """What may still be charged."""
        return self.total - self.spent

    def charge(self, purpose: str, epsilon: Fraction, composition: Composition = "sequential") -> None:
        """Takes an amount from the budget, or refuses before anything is drawn.

        The composition is `parallel` if the charge covers several draws on disjoint sets of records.
        """
        if epsilon <= 0:
            raise BudgetError(f"{purpose}: a charge of {epsilon} is not above 0.")
        if epsilon > self.left:
            raise BudgetError(f"{purpose}: a charge of {epsilon} exceeds what is left of the budget, {self.left}.")
        self.entries.append(Entry(purpose, epsilon, composition))
