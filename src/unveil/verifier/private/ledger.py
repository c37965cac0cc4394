"""The ledger of a differentially private release: every draw that shaped it is paid for, once, within the budget.

The draws are those of DiffGen (Mohammed et al., KDD 2011, Algorithm 1): one for the first split of every number, one
to select each specialization, one for the splits of the two halves that a specialized interval falls into, and the
noise of the counts. With n numbers and h specializations, each draw but the last costs ε' = ε / (2(n + 2h)).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from unveil.verifier.findings import Finding
from unveil.verifier.parts import MANIFEST
from unveil.verifier.private.claims import Charge, DiffGenManifest, exact_text

COUNTS = "counts of all cells"
FIRST = "first split of "


@dataclass
class Draws:
    """What a ledger pays for, entry by entry.

    Attributes:
        numbers: The attributes that are split at drawn places.
        most: How many specializations there may be.
        firsts: The attributes whose first split is paid.
        selected: How many specializations are paid.
        splits: After how many of them splits are paid.
    """

    numbers: frozenset[str]
    most: int
    firsts: set[str] = field(default_factory=set)
    selected: int = 0
    splits: int = 0
    _open: bool = False

    def enter(self, purpose: str) -> str | None:
        """Takes the next entry; gives how it composes, or None if it has no place there."""
        if self.selected < self.most and purpose == f"specialization {self.selected + 1}":
            self.selected += 1
            self._open = True
            return "sequential"
        if self._open and purpose == f"splits after specialization {self.selected}":
            self.splits += 1
            self._open = False
            return "parallel"
        name = purpose.removeprefix(FIRST)
        if self.selected == 0 and purpose.startswith(FIRST) and name in self.numbers - self.firsts:
            self.firsts.add(name)
            return "sequential"
        return None


def check_ledger(manifest: DiffGenManifest) -> Iterator[Finding]:
    """The charges are those of the draws, each of the right amount, and together they keep to ε."""
    structure, last = manifest.ledger[:-1], manifest.ledger[-1]
    if last.purpose != COUNTS:
        yield _broken(f"the last charge is for {last.purpose!r}, not for the {COUNTS!r}")
    elif last.composition != "sequential":
        yield _broken(f"the charge for the {COUNTS!r} is {last.composition}, but all records are in them")
    draws = Draws(frozenset(manifest.numbers), manifest.specializations)
    wrong = list(_order_findings(structure, draws))
    yield from wrong or _draw_findings(manifest, draws)
    yield from _amount_findings(manifest, structure, last)


def _order_findings(structure: Sequence[Charge], draws: Draws) -> Iterator[Finding]:
    for number, charge in enumerate(structure, start=1):
        composition = draws.enter(charge.purpose)
        if composition is None:
            yield _broken(f"charge {number} is for {charge.purpose!r}, which has no place there")
            return
        if composition != charge.composition:
            yield _broken(f"charge {number} for {charge.purpose!r} is {charge.composition}, not {composition}")


def _draw_findings(manifest: DiffGenManifest, draws: Draws) -> Iterator[Finding]:
    """No draw that the cuts show was free."""
    if draws.selected < manifest.specializations:
        yield _broken(f"{draws.selected} specializations are charged, but there were {manifest.specializations}")
    for name, entry in manifest.numbers.items():
        if len(entry.blocks) > 1 and name not in draws.firsts:
            yield _broken(f"{name!r} has {len(entry.blocks)} intervals, but no charge for its first split")
    # Of b intervals, b - 1 were split: one by the first split, the others as halves, at most two to a charge.
    intervals = [len(entry.blocks) for entry in manifest.numbers.values()]
    least, most = sum((count - 1) // 2 for count in intervals), sum(count - 1 for count in intervals)
    if not least <= draws.splits <= most:
        yield _broken(
            f"splits are charged after {draws.splits} specializations, but the intervals of "
            f"{len(intervals)} numbers take from {least} to {most}"
        )


def _amount_findings(manifest: DiffGenManifest, structure: Sequence[Charge], last: Charge) -> Iterator[Finding]:
    epsilon, numbers, steps = manifest.epsilon, len(manifest.numbers), manifest.specializations
    share = epsilon / max(2 * (numbers + 2 * steps), 1)
    unequal = [charge for charge in structure if charge.amount != share]
    if unequal:
        yield _wrong_amount(unequal[0], share, f"ε / (2({numbers} + 2·{steps}))")
    spent = sum((charge.amount for charge in structure), Fraction(0))
    rest, why = (epsilon / 2, "ε / 2") if manifest.budget == "paper" else (epsilon - spent, "what is left of ε")
    if last.amount != rest:
        yield _wrong_amount(last, rest, why)
    if spent + last.amount > epsilon:
        total, budget = exact_text(spent + last.amount), exact_text(epsilon)
        yield Finding("budget", f"{MANIFEST}: the charges add up to {total}, but ε is {budget}.")


def _wrong_amount(charge: Charge, amount: Fraction, why: str) -> Finding:
    found, right = exact_text(charge.amount), exact_text(amount)
    return Finding("charge", f"{MANIFEST}: the charge for {charge.purpose!r} is {found}, but {why} is {right}.")


def _broken(problem: str) -> Finding:
    return Finding("ledger", f"{MANIFEST}, ledger: {problem}.")
