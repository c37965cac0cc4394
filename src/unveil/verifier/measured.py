"""Whether what an additive release measured differs from the true numbers as the noise that was paid for would.

The manifest lists every noisy number and every step of the model. So the raw rows go through the rounds again: each row
weighs what it weighed then, and the true sums of all draws are known. A noisy number less the true one is Z with
P(Z = z) ∝ exp(−r|z|), where r is what the draw cost, over the most that a record weighs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unveil.errors import count_text
from unveil.verifier.additive import STEP, read_interval
from unveil.verifier.claims import MANIFEST, Generalization, Interval, Masked, Node, Suppression
from unveil.verifier.columns import day_text
from unveil.verifier.findings import Finding
from unveil.verifier.manifests import AdditiveManifest, StatisticsManifest, WeightsManifest
from unveil.verifier.noise import (
    LEVEL,
    TESTS,
    NoiseLaw,
    chance_text,
    chance_to_find,
    float_rate,
    log_reach,
    noise_finding,
    raw_places,
    tail_findings,
)
from unveil.verifier.persons import used_raw
from unveil.verifier.raw import Raw
from unveil.verifier.weights import REACH, leaves_of

if TYPE_CHECKING:
    from unveil.schema import Attribute, Spec

Wholes = NDArray[np.int64]


@dataclass(frozen=True)
class Measurement:
    """The noisy numbers of one draw, and the true ones.

    Attributes:
        purpose: What the ledger calls the draw.
        cost: What it was charged.
        unit: The most that a record adds to a number.
        noisy: The numbers as published.
        true: The numbers of the raw table.
    """

    purpose: str
    cost: Fraction
    unit: int
    noisy: Wholes
    true: Wholes

    @property
    def rate(self) -> float:
        """The rate of its noise."""
        return float_rate(self.cost / self.unit)

    @property
    def moves(self) -> Wholes:
        """What noise changed."""
        return (self.noisy - self.true).ravel()

    @property
    def law(self) -> NoiseLaw:
        """The law of these moves."""
        return NoiseLaw({self.rate: self.noisy.size})


class Placed:
    """Raw rows by the blocks of a release. One with a value that no block holds is left out, as it was then."""

    def __init__(self, manifest: WeightsManifest, spec: Spec, raw: Raw) -> None:
        blocks = {
            name: raw_places(raw.columns[name], known, manifest.masking.get(name), spec.attributes.get(name))
            for name, known in manifest.labels.items()
        }
        self.rows = np.all([places >= 0 for places in blocks.values()], axis=0)
        self.weights: Wholes = raw.weights[self.rows]
        self.class_ = blocks.pop(manifest.class_)[self.rows]
        self.blocks = {name: places[self.rows].astype(np.int64) for name, places in blocks.items()}


class Recount:
    """The tables again, on raw rows: the true numbers behind noisy ones."""

    def __init__(self, manifest: StatisticsManifest, spec: Spec) -> None:
        self._manifest = manifest
        self._spec = spec
        self.totals: Wholes = np.zeros(len(manifest.classes), dtype=np.int64)
        self.tables: dict[str, Wholes] = {
            name: np.zeros_like(np.array(table)) for name, table in manifest.tables.items()
        }
        self.pairs: list[Wholes] = [np.zeros_like(np.array(pair.counts)) for pair in manifest.pairs]

    def add(self, raw: Raw) -> None:
        """Takes more rows. Every bin is a block."""
        placed = Placed(self._manifest, self._spec, raw)
        np.add.at(self.totals, placed.class_, placed.weights)
        for name, table in self.tables.items():
            np.add.at(table, (placed.blocks[name], placed.class_), placed.weights)
        for pair, counts in zip(self._manifest.pairs, self.pairs, strict=True):
            groups = tuple(np.array(self._manifest.groups[name])[placed.blocks[name]] for name in pair.attributes)
            np.add.at(counts, groups, placed.weights)

    def measured(self) -> list[Measurement]:
        """Everything that was measured, next to the true numbers: class totals, tables and pairs."""
        manifest = self._manifest
        numbers = {
            "class totals": (manifest.totals, self.totals),
            **{f"table of {name}": (table, self.tables[name]) for name, table in manifest.tables.items()},
            **{
                f"counts of pair {place}": (pair.counts, true)
                for place, (pair, true) in enumerate(zip(manifest.pairs, self.pairs, strict=True), start=1)
            },
        }
        cost = {charge.purpose: manifest.per_record(charge) for charge in manifest.ledger}
        return [
            Measurement(purpose, cost[purpose], 1, np.array(noisy), true) for purpose, (noisy, true) in numbers.items()
        ]


class Replay:
    """The rounds again, on raw rows: the true numbers behind all that was measured."""

    def __init__(self, manifest: AdditiveManifest, spec: Spec) -> None:
        self._manifest = manifest
        self._spec = spec
        self._bins = {name: _bin_entry(manifest, name, spec.attributes.get(name)) for name in manifest.bins}
        classes = len(manifest.classes)
        self.totals: Wholes = np.zeros(classes, dtype=np.int64)
        self.sums: list[Wholes] = [np.zeros((len(done.steps), 2), dtype=np.int64) for done in manifest.rounds]
        self.leaves: Wholes = np.zeros((len(manifest.leaves), classes), dtype=np.int64)

    def add(self, raw: Raw) -> None:
        """Takes more rows."""
        manifest, attributes = self._manifest, self._spec.attributes
        placed = Placed(manifest, self._spec, raw)
        class_, weights = placed.class_, placed.weights
        cells = np.stack(list(placed.blocks.values()), axis=1)
        np.add.at(self.totals, class_, weights)
        np.add.at(self.leaves, (leaves_of(manifest, cells), class_), weights)
        bins = {
            name: raw_places(raw.columns[name], list(manifest.bins[name]), entry, attributes.get(name))[placed.rows]
            for name, entry in self._bins.items()
        }
        odds = np.tile(np.array(manifest.base, dtype=np.int64), (len(class_), 1))
        for done, sums in zip(manifest.rounds, self.sums, strict=True):
            model, held = manifest.models.index(done.class_), bins[done.attribute]
            within = class_ == manifest.classes.index(done.class_)
            own = np.clip(np.where(within, odds[:, model], -odds[:, model]), 0, REACH)
            records = np.rint(done.unit * np.exp(-own / STEP)).astype(np.int64)
            np.add.at(sums, (held, within.astype(np.int64)), records * weights)
            odds[:, model] += np.array(done.steps)[held]

    def measured(self) -> list[Measurement]:
        """Everything that was measured, next to the true numbers: class totals, the sums of each round, and leaves."""
        manifest = self._manifest
        cost = {charge.purpose: manifest.per_record(charge) for charge in manifest.ledger}
        rounds = [
            Measurement(name, cost[name], done.unit, np.stack([done.against, done.within], axis=1), true)
            for place, (done, true) in enumerate(zip(manifest.rounds, self.sums, strict=True), start=1)
            for name in [f"sums of round {place}"]
        ]
        totals, leaves = "class totals", "counts of the leaves"
        return [
            Measurement(totals, cost[totals], 1, np.array(manifest.totals), self.totals),
            *rounds,
            Measurement(leaves, cost[leaves], 1, np.array(manifest.leaves), self.leaves),
        ]


def _bin_entry(manifest: AdditiveManifest, name: str, attribute: Attribute | None) -> Masked:
    """The bins of an attribute as a cut, so that raw values find their bin as they find their block."""
    entry, bins = manifest.masking[name], list(manifest.bins[name])
    if isinstance(entry, Suppression):
        return Suppression(kind="suppression", domain="declared", disclosed=bins, marker=entry.marker)
    if isinstance(entry, Generalization):
        taxonomy = None if attribute is None else attribute.taxonomy
        leaves = {label: [label] if taxonomy is None else list(taxonomy.leaves_of(label)) for label in bins}
        nodes = [Node(label=label, values=values) for label, values in leaves.items()]
        return Generalization(kind="generalization", domain="declared", blocks=nodes)
    blocks = []
    for label in bins:
        if label in entry.missing:
            blocks.append(Interval(label=label, missing=[label]))
            continue
        lo, hi = read_interval(label, entry.unit) or (0, 0)
        ends = (day_text(int(lo)), day_text(int(hi))) if entry.unit == "date" else (lo, hi)
        blocks.append(Interval.model_validate({"label": label, "from": ends[0], "to": ends[1]}))
    return entry.model_copy(update={"blocks": blocks})


def replay_of(manifest: AdditiveManifest | StatisticsManifest, spec: Spec) -> Replay | Recount:
    """What counts raw rows as the release did."""
    return Recount(manifest, spec) if isinstance(manifest, StatisticsManifest) else Replay(manifest, spec)


def measurements(manifest: AdditiveManifest | StatisticsManifest, spec: Spec) -> list[Measurement]:
    """Everything that was measured, next to the raw table."""
    replay = replay_of(manifest, spec)
    for raw in used_raw(spec):
        replay.add(raw)
    return replay.measured()


class MeasuredTest:
    """Measured minus true numbers, compared with the law of their noise: draw by draw, and all together."""

    def __init__(self, measured: list[Measurement]) -> None:
        self._measured = measured
        rates: Counter[float] = Counter()
        for one in measured:
            rates[one.rate] += one.noisy.size
        self._law = NoiseLaw(rates)

    @property
    def log_level(self) -> float:
        """How improbable numbers must be for one test to report them: every draw is tested, and all together."""
        return log(LEVEL / (TESTS * (len(self._measured) + 1)))

    def findings(self) -> Iterator[Finding]:
        """Differences that are too improbable under the stated law."""
        for one in self._measured:
            yield from self._draw_findings(one)
        size, drift = (sum(_scaled(one, of) for one in self._measured) for of in ("size", "drift"))
        for what, rarity in tail_findings(self._law, size, drift, self.log_level):
            total = sum((one.cost for one in self._measured), Fraction(0))
            yield noise_finding(
                MANIFEST, f"all measured numbers differ from the true ones in a way that {what}", total, rarity
            )

    def _draw_findings(self, one: Measurement) -> Iterator[Finding]:
        rate = one.cost / one.unit
        for what, rarity in tail_findings(one.law, _scaled(one, "size"), _scaled(one, "drift"), self.log_level):
            yield noise_finding(
                MANIFEST, f"the {one.purpose} differ from the true ones in a way that {what}", rate, rarity
            )
        move = int(one.moves[np.argmax(np.abs(one.moves))])
        rarity = log_reach(one.rate, abs(move))
        if rarity + log(one.noisy.size) < self.log_level:
            yield noise_finding(MANIFEST, f"one of the {one.purpose} is off by {move:+,}", rate, rarity)

    def note(self) -> str:
        """What the tests can show on this release: their power."""
        half, double = (chance_to_find(self._law, factor, self.log_level) for factor in (0.5, 2))
        blind = [one.purpose for one in self._measured if not chance_to_find(one.law, 0, self.log_level)]
        unseen = f", except for the {' and the '.join(blind)}" if blind else ""
        numbers, draws = sum(one.noisy.size for one in self._measured), count_text(len(self._measured), "draw")
        return (
            f"The differences between {numbers:,} measured and true numbers of {draws} fit the noise paid for. "
            f"A draw without noise would be found for certain{unseen}. If all had half the noise, that would be found "
            f"{chance_text(half)}, twice the noise {chance_text(double)}. Choices are drawn once and cannot be tested. "
            "The differences are private."
        )


def _scaled(one: Measurement, of: str) -> float:
    """A sum of moves in units of their scale."""
    moves = np.abs(one.moves) if of == "size" else one.moves
    return one.rate * float(moves.sum())
