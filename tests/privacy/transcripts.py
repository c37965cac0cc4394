"""The additive method on neighbours, draw by draw: what each draw loses exactly, and whether anything else differs.

A run on one table makes a transcript: which pair was chosen in each round, and every noisy sum. A second run, on a
neighbour, is forced to the same outcomes. So both have the same model at every moment, and each draw is compared by its
exact law, given all draws before it:

- of a choice, the largest log-ratio over all options, from the chances to 60 digits;
- of noisy sums, |difference| · rate added up over all sums, as a fraction: two-sided geometric noise loses just that
  for outcomes beyond both.

If the release is a function of the draws alone, both runs end with the same release, to the last weight.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from unittest.mock import patch

import numpy as np

from privacy.dice import EXACT, Chances, NoSource, permute_and_flip_chances, real
from privacy.losses import Verdict, worst
from privacy.worlds import Records, World
from unveil.arrays import IntArray
from unveil.counting.memory import MemoryEngine
from unveil.noise import Ledger, Source
from unveil.publishers.additive import cells, publish_additive, publisher, rounds
from unveil.release import Release
from unveil.schema import AdditivePlan

LEVEL = 0
"""The seed of transcripts in which the model never learns anything."""
POINTS = 64
"""So few points represent these tiny tables."""
Plant = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True)
class Draw:
    """One draw: what was charged so far, and its exact law."""

    charges: int
    outcome: object
    chances: Chances = ()
    """Of a choice, the chance of every option."""
    sums: tuple[int, ...] = ()
    """Of noisy sums, the exact ones."""
    rate: Fraction = Fraction(0)

    def loss(self, other: Draw) -> Decimal:
        """The largest log-ratio between this draw and the same one on another table."""
        if self.chances:
            pairs = zip(self.chances, other.chances, strict=True)
            return max(EXACT.ln(EXACT.divide(one, two)).copy_abs() for one, two in pairs)
        assert self.rate == other.rate
        return real(self.rate * sum(abs(one - two) for one, two in zip(self.sums, other.sums, strict=True)))


@dataclass
class Transcript:
    """All draws of a run, its ledger and its release."""

    drawn: list[Draw] = field(default_factory=list)
    ledger: Ledger | None = None
    release: Release | None = None

    def forced(self) -> list[object]:
        """The outcomes, to be forced on another table."""
        return [draw.outcome for draw in self.drawn]


class Player:
    """Stands in for the draws: plays outcomes of its own, or those of a transcript."""

    def __init__(self, seed: int, outcomes: list[object] | None = None) -> None:
        self.made = Transcript()
        self._seed = seed
        self._random = np.random.default_rng(seed)
        self._outcomes = outcomes

    def open(self, total: Fraction) -> Ledger:
        self.made.ledger = Ledger(total)
        return self.made.ledger

    def permute_and_flip(self, scores: IntArray, rate: Fraction, source: Source) -> int:
        chances = permute_and_flip_chances(tuple(scores.tolist()), rate)
        place = self._next(lambda: int(self._random.integers(len(scores))))
        assert isinstance(place, int)
        self.made.drawn.append(Draw(self._charged(), place, chances=chances))
        return place

    def with_noise(self, sums: IntArray, rate: Fraction, source: Source) -> IntArray:
        noisy = self._next(lambda: self._play(sums))
        assert isinstance(noisy, np.ndarray)
        assert noisy.shape == sums.shape, "what was measured has another shape on a neighbour"
        self.made.drawn.append(Draw(self._charged(), noisy, sums=tuple(sums.ravel().tolist()), rate=rate))
        return noisy

    def _play(self, sums: IntArray) -> IntArray:
        """Sums that say nothing, so that every record keeps its full weight, or anything at all."""
        if self._seed == LEVEL:
            return np.full(sums.shape, 25)
        noise: IntArray = self._random.integers(-40, 41, sums.shape) * self._random.integers(1, 99)
        return sums + noise

    def _next(self, play: Callable[[], object]) -> object:
        return play() if self._outcomes is None else self._outcomes[len(self.made.drawn)]

    def _charged(self) -> int:
        assert self.made.ledger is not None
        return len(self.made.ledger.entries)


def played(
    world: World,
    records: Records,
    plan: AdditivePlan,
    seed: int,
    outcomes: list[object] | None = None,
    plant: Plant = nullcontext,
) -> Transcript:
    """One run of `publish_additive` with a player instead of the draws."""
    table, player = world.table(records, plan), Player(seed, outcomes)
    with (
        plant(),
        patch.object(publisher, "Ledger", player.open),
        patch.multiple(rounds, permute_and_flip=player.permute_and_flip, with_noise=player.with_noise),
        patch.object(cells, "POINTS", POINTS),
    ):
        release = publish_additive(table, world.spec(plan), plan, MemoryEngine(table), NoSource(), "test")
    player.made.release = release
    return player.made


def verdicts(one: Transcript, other: Transcript) -> list[Verdict]:
    """Every charge next to what the draws since the charge before it lose; then all together next to ε."""
    assert one.ledger is not None
    assert other.ledger is not None
    assert one.ledger.entries == other.ledger.entries
    losses = [Decimal(0)] * (len(one.ledger.entries) + 1)
    for here, there in zip(one.drawn, other.drawn, strict=True):
        assert here.charges == there.charges
        losses[here.charges] = EXACT.add(losses[here.charges], here.loss(there))
    found = [Verdict(losses[0], Decimal(0), "before any charge")]
    for entry, loss in zip(one.ledger.entries, losses[1:], strict=True):
        found.append(Verdict(loss, real(entry.epsilon), entry.purpose))
    together = Decimal(0)
    for loss in losses:
        together = EXACT.add(together, loss)
    return [*found, Verdict(together, real(one.ledger.total), "all draws")]


def same_release(one: Transcript, other: Transcript) -> bool:
    """Whether the same draws gave the same release, to the last weight."""
    assert one.release is not None
    assert other.release is not None
    return one.release.manifest == other.release.manifest and one.release.table.equals(other.release.table)


def compared(
    world: World,
    pairs: list[tuple[Records, Records]],
    epsilon: Fraction,
    seed: int,
    plant: Plant = nullcontext,
    contributions: int | None = None,
) -> tuple[dict[str, Verdict], bool]:
    """The worst verdict of each kind of draw over pairs of neighbours, and whether all releases were the same."""
    kinds: dict[str, list[Verdict]] = {}
    same = True
    known: dict[Records, Transcript] = {}
    plan = AdditivePlan(epsilon, contributions=contributions)
    for fewer, more in pairs:
        if fewer not in known:
            known[fewer] = played(world, fewer, plan, seed, plant=plant)
        first = known[fewer]
        second = played(world, more, plan, seed, first.forced(), plant)
        same &= same_release(first, second)
        for verdict in verdicts(first, second):
            kinds.setdefault(verdict.where.rstrip(" 0123456789"), []).append(verdict)
    return {kind: worst(found) for kind, found in kinds.items()}, same
