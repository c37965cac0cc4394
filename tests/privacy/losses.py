"""The privacy loss of the publisher, exactly: the largest log-ratio between neighbours, next to what was charged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, NoReturn
from unittest.mock import patch

from privacy.dice import EXACT, Chances, Dice, NoSource, geometric_chances, product, real, total
from privacy.worlds import Records, World
from unveil.arrays import IntArray, NumberArray
from unveil.counting.memory import MemoryEngine
from unveil.masking import Block
from unveil.noise import Entry, Ledger, TwoSidedGeometric
from unveil.publishers import private
from unveil.publishers.private import publish_diffgen
from unveil.refine import Search
from unveil.refine.search import Step
from unveil.release import Release
from unveil.schema import Grid, PrivatePlan
from unveil.tables import Outline, Table

TOLERANCE = Decimal("1e-40")
INFINITE = Decimal("Infinity")
Split = float | None
Plant = Callable[[], AbstractContextManager[object]]
"""Puts a defect into the publisher for a while."""


@dataclass(frozen=True)
class Verdict:
    """A privacy loss and what the ledger says it may be."""

    loss: Decimal
    share: Decimal
    where: str

    @property
    def broken(self) -> bool:
        return self.loss > EXACT.add(self.share, TOLERANCE)

    @property
    def tightness(self) -> Decimal:
        """Which part of the share is really lost."""
        if self.loss == 0:
            return Decimal(0)
        return EXACT.divide(self.loss, self.share) if self.share else INFINITE


@dataclass(frozen=True)
class Path:
    """One way the structure part can go."""

    transcript: tuple[Hashable, ...]
    """Every split and every specialization that was drawn, also those that the release does not show."""
    shown: str
    """What the release shows: the final cuts and the ledger."""
    charges: tuple[Entry, ...]
    """Without that for the counts."""
    chances: Chances
    """For each charge, how likely the draws are that it covers."""


class Structure:
    """All ways the structure part can go on one table."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self.paths = list(paths)
        self.shown: dict[str, Decimal] = defaultdict(Decimal)
        """How likely each structure is that a release can show."""
        for path in self.paths:
            self.shown[path.shown] = EXACT.add(self.shown[path.shown], product(path.chances))
        assert abs(total(self.shown.values()) - 1) < TOLERANCE
        self.shares = {path.shown: sum((entry.epsilon for entry in path.charges), Fraction(0)) for path in self.paths}
        """What the ledger says that a structure has cost."""

    def by_transcript(self) -> dict[tuple[Hashable, ...], Path]:
        found = {path.transcript: path for path in self.paths}
        assert len(found) == len(self.paths), "two ways to the same transcript"
        return found


@dataclass
class _Finished(Exception):  # noqa: N818 - it ends a run, not an error
    """The structure is found, and the counts would come next."""

    cuts: Sequence[Sequence[Block]]


class _StructureOnly(MemoryEngine):
    """Counts the histograms once for all runs, and ends the run where the cells would be counted."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._known = super().histograms()
        self._bounded: tuple[Outline, MemoryEngine] | None = None

    def histograms(self) -> tuple[IntArray, ...]:
        return self._known

    def bounded(self, most: int) -> tuple[Outline, MemoryEngine]:
        if self._bounded is None:
            table, _ = super().bounded(most)
            self._bounded = table, _StructureOnly(table)
        return self._bounded

    def cells(self, cuts: Sequence[Sequence[Block]]) -> NoReturn:
        raise _Finished(cuts)


@dataclass
class Watch:
    """Writes down what is drawn."""

    drawn: list[Hashable] = field(default_factory=list)

    def structure(self) -> type[private.PrivateStructure]:
        drawn = self.drawn

        class Watched(private.PrivateStructure):
            def split(self, name: str, grid: Grid, values: NumberArray, histogram: IntArray, interval: Block) -> Split:
                value = super().split(name, grid, values, histogram, interval)
                drawn.append((name, interval.label, value))
                return value

        return Watched

    def search(self) -> type[Search]:
        drawn = self.drawn

        class Watched(private.Search):
            def steps(self) -> Iterator[Step]:
                for step in super().steps():
                    drawn.append((step.refinement.attribute.name, step.refinement.block.label))
                    yield step

        return Watched


def structure_of(world: World, records: Records, plan: PrivatePlan, plant: Plant = nullcontext) -> Structure:
    """All ways the structure part of `publish_diffgen` can go on a table."""
    table = world.table(records, plan)
    engine, dice, watch = _StructureOnly(table), Dice(), Watch()
    spec, source = world.spec(plan), NoSource()

    def run() -> Path:
        watch.drawn.clear()
        try:
            publish_diffgen(table, spec, plan, engine, source, "test")
        except _Finished as finished:
            return _path(dice, watch, finished.cuts)
        raise AssertionError("the cells were not counted")

    with (
        plant(),
        _dice_for_draws(dice),
        patch.multiple(private, PrivateStructure=watch.structure(), Search=watch.search()),
    ):
        return Structure(dice.all(run))


def _dice_for_draws(dice: Dice) -> AbstractContextManager[object]:
    return patch.multiple(
        private,
        exponential_choice=dice.exponential_choice,
        permute_and_flip=dice.permute_and_flip,
        below=dice.below,
        Ledger=dice.open,
    )


def _path(dice: Dice, watch: Watch, cuts: Sequence[Sequence[Block]]) -> Path:
    ledger = dice.ledger
    assert isinstance(ledger, Ledger)
    assert ledger.spent <= ledger.total
    *charges, counts = ledger.entries
    assert counts.purpose == "counts of all cells"
    chances = [
        product(chance for charged, chance in dice.rolled if charged == number) for number in range(1, len(charges) + 1)
    ]
    labels = [[block.label for block in cut] for cut in cuts]
    shown = f"{labels} {[(entry.purpose, str(entry.epsilon), entry.composition) for entry in ledger.entries]}"
    return Path(tuple(watch.drawn), shown, tuple(charges), tuple(chances))


def loss_between(
    one: Mapping[Hashable, Decimal], other: Mapping[Hashable, Decimal], shares: Mapping[Hashable, Fraction]
) -> Verdict:
    """The loss of outcomes whose chances are known, each next to its share."""
    zero = Decimal(0)
    return worst(
        Verdict(_log_ratio(one.get(outcome, zero), other.get(outcome, zero)), real(share), str(outcome))
        for outcome, share in shares.items()
    )


def loss_shown(one: Structure, other: Structure) -> Verdict:
    """The loss of what the release shows of the structure, next to all charges but that for the counts."""
    return loss_between(one.shown, other.shown, one.shares | other.shares)


def loss_charged(one: Structure, other: Structure) -> Verdict:
    """The loss of the draws that one charge covers, given all draws before them, next to that charge."""
    before, after = one.by_transcript(), other.by_transcript()
    if different := before.keys() ^ after.keys():
        return Verdict(INFINITE, Decimal(0), str(different.pop()))
    assert all(path.charges == after[transcript].charges for transcript, path in before.items())
    return worst(
        Verdict(_log_ratio(chance, changed), real(entry.epsilon), f"{entry.purpose} in {transcript}")
        for transcript, path in before.items()
        for entry, chance, changed in zip(path.charges, path.chances, after[transcript].chances, strict=True)
    )


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict that comes closest to its share, or goes furthest beyond it."""
    return max(verdicts, key=lambda verdict: verdict.tightness, default=Verdict(Decimal(0), Decimal(0), "no draw"))


@cache
def _log_ratio(one: Decimal, other: Decimal) -> Decimal:
    """Infinite where an outcome is possible on one side only."""
    if one == 0 or other == 0:
        return Decimal(0) if one == other else INFINITE
    return EXACT.ln(EXACT.divide(one, other)).copy_abs()


class Structures:
    """The structures of tables, each table enumerated once."""

    def __init__(self, world: World, plan: PrivatePlan, plant: Plant = nullcontext) -> None:
        self._world, self._plan, self._plant = world, plan, plant
        self._known: dict[Records, Structure] = {}

    def __getitem__(self, records: Records) -> Structure:
        if records not in self._known:
            self._known[records] = structure_of(self._world, records, self._plan, self._plant)
        return self._known[records]

    def worst(self, pairs: Iterable[tuple[Records, Records]], loss: Callable[..., Verdict] = loss_shown) -> Verdict:
        """The largest loss over pairs of neighbours."""
        return worst(loss(self[one], self[other]) for one, other in pairs)


def whole_releases(
    world: World,
    records: Records,
    plan: PrivatePlan,
    most: int,
    plant: Plant = nullcontext,
    noise_chances: Callable[[Fraction, int], Chances] = geometric_chances,
) -> dict[Hashable, Decimal]:
    """How likely each release is, manifest and counts, where counts above `most` count as `most`.

    Where no cell holds more than `most` records, noise beyond `most` makes no difference to such a release, so only a
    finite number of things can happen.
    """
    table = world.table(records, plan)
    engine, dice, spec = MemoryEngine(table), Dice(), world.spec(plan)
    found: dict[Hashable, Decimal] = defaultdict(Decimal)

    def run() -> Release:
        return publish_diffgen(table, spec, plan, engine, NoSource(), "test")

    with plant(), _dice_for_draws(dice), patch.object(TwoSidedGeometric, "draw", dice.noise(most, noise_chances)):
        for release in dice.all(run):
            rows = tuple(
                (*row[:-1], min(row[-1], most)) for row in zip(*release.table.to_pydict().values(), strict=True)
            )
            shown = (release.manifest.to_json(), rows)
            found[shown] = EXACT.add(found[shown], dice.chance())
    assert abs(total(found.values()) - 1) < TOLERANCE
    return found


def worst_release(
    world: World, pairs: Iterable[tuple[Records, Records]], plan: PrivatePlan, most: int, *planted: Any
) -> Verdict:
    """The largest loss of whole releases over pairs of neighbours, next to ε."""
    known: dict[Records, dict[Hashable, Decimal]] = {}
    verdicts = []
    for pair in pairs:
        for records in pair:
            if records not in known:
                known[records] = whole_releases(world, records, plan, most, *planted)
        fewer, more = (known[records] for records in pair)
        verdicts.append(loss_between(fewer, more, dict.fromkeys(fewer | more, plan.epsilon)))
    return worst(verdicts)


def noiseless_counts(world: World, records: Records, plan: PrivatePlan) -> dict[str, dict[Hashable, int]]:
    """For every structure that can be drawn, the counts of all cells before noise is added."""
    table = world.table(records, plan)
    engine, dice, spec = MemoryEngine(table), Dice(), world.spec(plan)
    found = {}

    def run() -> Release:
        return publish_diffgen(table, spec, plan, engine, NoSource(), "test")

    with _dice_for_draws(dice), patch.object(TwoSidedGeometric, "draw", lambda noise, count: 0):
        for release in dice.all(run):
            rows = zip(*release.table.to_pydict().values(), strict=True)
            found[release.manifest.to_json()] = {row[:-1]: row[-1] for row in rows}
    return found
