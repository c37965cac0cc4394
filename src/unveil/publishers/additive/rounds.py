"""The rounds of the additive method: everything that looks at the rows before the cut is known.

`Draws` makes all draws of the method: noisy sums and private choices. Nothing else of it is random or sees exact sums.
Both take whole numbers with a known sensitivity, and both are charged before they happen.

- *Sums.* One record changes one of the sums, by at most `sensitivity`. Two-sided geometric noise of rate
  ε / sensitivity on every sum changes each probability by a factor of at most exp(ε) (`noise/draws.py`).
- *Choice.* One record changes every score by at most `sensitivity`, up or down. Permute-and-flip at rate
  ε / (2 · sensitivity) changes each probability by a factor of at most exp(ε) (`noise/draws.py`).

If ε is about a person of whom m records are used, both are m times as sensitive (`counting/contributions.py`). One
record changes what is drawn by no more than the sensitivity that is given:

1. *Class totals.* A record is in one class: the counts change by 1 in one place.
2. *The sums of a round.* Given all draws so far the model is fixed, and with it the weight of every possible record: a
   whole number from 0 to `unit` (`model.py`). For a pair of attribute and model, a record adds its weight to one entry
   of the sums, that of its bin and its side, and to no other.
3. *Choice.* The worth of a pair is Σ |within − against| over the bins of a category, and for a number the largest
   |inside I| + |outside I| over intervals I. The parts are disjoint and a record is in one of them, so a worth changes
   by at most `unit`; the largest of several worths does too. What is subtracted, for what chance alone would be worth,
   depends on earlier draws only.
4. *Measurement.* Of both sums of every bin of the chosen pair, one changes, by at most `unit`.
5. The step is computed from the noisy sums and rounded to whole scores: post-processing. The next round starts from it.

All sums are 64-bit integers: there are at most 2^53 records (`tables`), and a unit is at most 2^9.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from unveil.arrays import FloatArray, IntArray
from unveil.counting import Engine
from unveil.noise import Ledger, Source, TwoSidedGeometric, permute_and_flip
from unveil.progress import Tasks, Watcher, unwatched
from unveil.publishers.additive.bins import Bins, affordable
from unveil.publishers.additive.model import Model, steps
from unveil.tables import Outline

ENTRIES = 1 << 12
"""Few draws are made with each rate, so the tables of the noise are short."""
GROWTH = 1.2
"""Each round gets this many times the share of the one before: what is left to learn is finer."""
MOST_ROUNDS = 40
UNIT = 512
"""The most that a record weighs, in whole numbers; less where the noise would be too wide to draw."""


class Draws:
    """Charges and draws."""

    def __init__(self, ledger: Ledger, source: Source, apart: int) -> None:
        """Starts with a budget; neighbours are this many records apart at most."""
        self.ledger = ledger
        self._source = source
        self._apart = apart

    def per_record(self, epsilon: Fraction) -> Fraction:
        """What a draw that costs ε costs a single record."""
        return epsilon / self._apart

    def noisy(self, purpose: str, sums: IntArray, sensitivity: int, epsilon: Fraction) -> IntArray:
        """The sums with noise that costs ε."""
        self.ledger.charge(purpose, epsilon)
        return with_noise(sums, self.per_record(epsilon) / sensitivity, self._source)

    def chosen(self, purpose: str, scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        """The place of one of the scores, a high one most likely, at the cost of ε."""
        self.ledger.charge(purpose, epsilon)
        rate = self.per_record(epsilon) / (2 * sensitivity)
        return permute_and_flip(np.array(scores, dtype=np.int64), rate, self._source)


def with_noise(sums: IntArray, rate: Fraction, source: Source) -> IntArray:
    """Whole numbers, each with its own two-sided geometric noise."""
    noise = TwoSidedGeometric(rate, source, longest=ENTRIES)
    return sums + noise.draw(sums.size).reshape(sums.shape)


TOTALS = Fraction(3, 100)
"""The share of ε for the class totals."""
LEAVES = Fraction(15, 100)
"""The share that is kept for the counts of the leaves."""
CHOICE = Fraction(30, 100)
"""The share of a round that pays for the choice; the sums get the rest."""
LEAST_RATE = Fraction(1, 10**6)


@dataclass(frozen=True, eq=False)
class Round:
    """What a round chose and measured."""

    attribute: int
    model: int
    unit: int
    against: IntArray
    """The noisy weight of the records on the other side of the model, per bin, in units."""
    within: IntArray
    """The noisy weight of those in its class."""
    steps: IntArray
    """What was added to the scores."""


@dataclass(frozen=True, eq=False)
class Learned:
    """Everything that the rounds have drawn."""

    totals: IntArray
    bins: tuple[Bins | None, ...]
    """The bins of each attribute; None if it is never measured."""
    model: Model
    rounds: tuple[Round, ...]


def learn(table: Outline, engine: Engine, draws: Draws, progress: Watcher = unwatched) -> Learned:
    """Draws the class totals and all rounds, and leaves the share of the leaves in the ledger."""
    ledger = draws.ledger
    totals = draws.noisy("class totals", engine.histograms()[0].sum(axis=0), 1, ledger.total * TOTALS)
    known = np.maximum(totals, 1).astype(np.float64)
    budget = ledger.left - ledger.total * LEAVES
    records = float(draws.per_record(budget)) * float(known.sum())
    bins = tuple(affordable(attribute, records) for attribute in table.attributes)
    sizes = [1 if held is None else held.size for held in bins]
    model = Model(known, sizes)
    rounds = Rounds(model, bins, draws)
    codes = [
        np.zeros(len(domain), dtype=np.uint16) if held is None else held.of_codes(domain)
        for held, domain in zip(bins, table.columns, strict=True)
    ]
    rows = engine.binned(codes, sizes)
    shares = round_shares(round_count(records))
    drawn = Tasks(progress, "drawing rounds", len(shares))
    for share in shares:
        unit = weight_unit(draws.per_record(budget * share * (1 - CHOICE)))
        rounds.draw(rows.sums(model.scoring(unit)), budget * share, unit)
        drawn.finish()
    return Learned(totals, bins, model, tuple(rounds.done))


def round_count(records: float) -> int:
    """How many rounds n·ε affords: 4.5 · (n·ε / 3000)^0.35, at least two."""
    return min(max(2, round(4.5 * math.pow(records / 3000, 0.35))), MOST_ROUNDS)


def round_shares(count: int) -> list[Fraction]:
    """Which part of their budget each round gets, as fractions that add up to one."""
    parts = [round(100 * GROWTH**number) for number in range(count)]
    return [Fraction(part, sum(parts)) for part in parts]


def weight_unit(epsilon: Fraction) -> int:
    """The most that a record weighs in a round whose sums cost it ε: a power of two, so that ε / unit can be drawn."""
    unit = UNIT
    while unit > 1 and epsilon / unit < LEAST_RATE:
        unit //= 2
    return unit


class Rounds:
    """Chooses, measures and steps."""

    def __init__(self, model: Model, bins: Sequence[Bins | None], draws: Draws) -> None:
        self.model = model
        self.done: list[Round] = []
        self._draws = draws
        part = model.totals[model.positive]
        self._left: FloatArray = 2 * np.minimum(part, model.totals.sum() - part)
        """What all records weigh for each model, by the last noisy sums."""
        self._pairs = [
            (attribute, held, number)
            for attribute, held in enumerate(bins)
            if held is not None
            for number in range(len(model.positive))
        ]

    def draw(self, sums: IntArray, epsilon: Fraction, unit: int) -> None:
        """One round, from the weights per bin, model and side under the model; a record weighs at most `unit`."""
        number = len(self.done) + 1
        worths = [
            worth(sums[self.model.rows_of(attribute), model], ordered=bins.attribute.ordered)
            - self._by_chance(bins, model, unit)
            for attribute, bins, model in self._pairs
        ]
        place = self._draws.chosen(f"choice of round {number}", worths, unit, epsilon * CHOICE)
        attribute, bins, model = self._pairs[place]
        paid = epsilon * (1 - CHOICE)
        held = sums[self.model.rows_of(attribute), model]
        noisy = self._draws.noisy(f"sums of round {number}", held, unit, paid)
        self._step(attribute, bins, model, noisy, paid, unit)

    def _by_chance(self, bins: Bins, model: int, unit: int) -> int:
        """What an attribute that says nothing would be worth: its sums are off by the root of what they weigh."""
        spread = math.sqrt(max(float(self._left[model]), 1.0))
        if bins.attribute.ordered:
            return round(unit * 2.5 * spread * math.sqrt(1 - 1 / bins.size))
        return round(unit * 0.8 * spread * math.sqrt(bins.size))

    def _step(self, attribute: int, bins: Bins, model: int, noisy: IntArray, paid: Fraction, unit: int) -> None:
        against, within = noisy[:, 0], noisy[:, 1]
        records = noisy / unit
        variance = noise_variance(self._draws.per_record(paid) / unit) / unit**2
        found = steps(records[:, 0], records[:, 1], bins.kernel(), variance)
        self._left[model] = max(float(records.sum()), 1.0)
        whole = self.model.add(attribute, model, found)
        self.done.append(Round(attribute, model, unit, against, within, whole))


def worth(sums: IntArray, *, ordered: bool) -> int:
    """How much of the class the bins can still explain, in units.

    For a number the best interval is found from prefix sums: |d| + |total − d| is convex in the sum d of an interval,
    so the largest or the smallest d is the best.
    """
    residuals = sums[:, 1] - sums[:, 0]
    if not ordered:
        return int(np.abs(residuals).sum())
    prefix = np.concatenate([[0], np.cumsum(residuals)])
    total = int(prefix[-1])
    most = int((prefix - np.minimum.accumulate(prefix)).max())
    least = int((prefix - np.maximum.accumulate(prefix)).min())
    return max(abs(inside) + abs(total - inside) for inside in (most, least))


def noise_variance(rate: Fraction) -> float:
    """The variance of two-sided geometric noise: 2α / (1 − α)² with α = exp(−rate)."""
    return 0.5 / math.sinh(min(float(rate), 700) / 2) ** 2
