"""The additive method under attack: how much more likely each draw is with the person in the table than without.

A release shows every noisy number. Who knows all others computes what each number would be with the person and without;
noise of rate r then says r · (|distance without| − |distance with|) about whether the person is there. That is the best
that can be said, so a statistic of it comes close to what a draw really costs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from neighbours import Pair, Scenario, Statistic

from unveil.noise import Source
from unveil.publishers import publish_additive
from unveil.publishers.additive import support
from unveil.schema import AdditivePlan
from unveil.verifier.columns import encode
from unveil.verifier.measured import Replay
from unveil.verifier.private_claims import AdditiveManifest
from unveil.verifier.raw import Raw
from unveil.version import __version__

POINTS = 500
"""How many points a release has here. They are drawn from noisy numbers, so fewer only save time."""
PARTS = 8
"""Evidence is rounded to this part of ε."""


@dataclass(frozen=True)
class Evidence:
    """What the noisy numbers of one release say, as logarithms of likelihood ratios in shares of ε."""

    totals: float
    sums: float
    leaves: float
    chosen: tuple[tuple[str, str], ...]

    @property
    def all(self) -> float:
        """All numbers together."""
        return self.totals + self.sums + self.leaves


class MeasuredNeighbours:
    """The additive method on two tables that differ by one record."""

    statistics: dict[str, tuple[Statistic, float]] = {  # noqa: RUF012 - it is never changed
        "class totals": (lambda seen: _rounded(seen.totals, 0.03), 0.03),
        "sums of the rounds": (lambda seen: _rounded(seen.sums, 0.574), 0.574),
        "counts of the leaves": (lambda seen: _rounded(seen.leaves, 0.15), 0.15),
        "what was chosen": (lambda seen: seen.chosen, 1),
        "all together": (lambda seen: (_rounded(seen.all, 1), seen.chosen[:1]), 1),
    }

    def __init__(self, scenario: Scenario) -> None:
        support.POINTS = POINTS
        self._pair = Pair(scenario)
        self._epsilon = float(scenario.plan.epsilon)
        self._raw = {present: _raw(table) for present, table in ((True, self._pair.person), (False, self._pair.others))}

    def publish(self, plan: AdditivePlan, source: Source, *, present: bool) -> Evidence:
        """Publishes the table with or without the person, and looks at the release."""
        table, engine = self._pair.tables[present], self._pair.engines[present]
        release = publish_additive(table, self._pair.spec, plan, engine, source, __version__)
        manifest = AdditiveManifest.model_validate(json.loads(release.manifest.to_json()))
        person, others = (Replay(manifest, self._pair.spec) for _ in range(2))
        person.add(self._raw[True])
        others.add(self._raw[False])
        rounds = zip(manifest.rounds, others.sums, person.sums, strict=True)
        shares = [float(charge.amount) for charge in manifest.ledger if charge.purpose.startswith("sums")]
        sums = [
            share * _closer(np.stack([done.against, done.within], axis=1), without, more) / done.unit
            for share, (done, without, more) in zip(shares, rounds, strict=True)
        ]
        counts = [
            float(charge.amount) * _closer(np.array(noisy), without, more)
            for charge, noisy, without, more in (
                (manifest.ledger[0], manifest.totals, others.totals, person.totals),
                (manifest.ledger[-1], manifest.leaves, others.leaves, person.leaves),
            )
        ]
        spent = float(plan.epsilon)
        chosen = tuple((done.attribute, done.class_) for done in manifest.rounds)
        return Evidence(counts[0] / spent, sum(sums) / spent, counts[1] / spent, chosen)


def _closer(noisy: Any, without: Any, more: Any) -> float:
    """By how much the noisy numbers are nearer to those with the person than to those without."""
    return float((np.abs(noisy - without) - np.abs(noisy - without - more)).sum())


def _rounded(evidence: float, share: float) -> int:
    return round(PARTS * evidence / share)


def _raw(table: pa.Table) -> Raw:
    columns = {name: encode(name, table[name]) for name in table.column_names}
    return Raw(columns, np.ones(table.num_rows, dtype=np.int64), table.num_rows, 0)
