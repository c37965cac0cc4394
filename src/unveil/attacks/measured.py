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

from unveil.attacks.neighbours import Pair
from unveil.noise import Source
from unveil.publishers import publish_additive
from unveil.release import Release
from unveil.schema import AdditivePlan
from unveil.verifier.columns import encode
from unveil.verifier.measured import Replay, measured
from unveil.verifier.private_claims import AdditiveManifest
from unveil.verifier.raw import Raw
from unveil.version import __version__

PARTS = 8
"""Evidence is rounded to this part of what it may come to."""


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


def rounded(evidence: float, share: float = 1) -> int:
    """Evidence in parts of its share of ε."""
    return round(PARTS * evidence / share)


class MeasuredNeighbours:
    """The additive method on two tables that differ by one record."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._raw = {present: raw_rows(table) for present, table in ((True, pair.person), (False, pair.others))}

    def publish(self, plan: AdditivePlan, source: Source, *, present: bool) -> Evidence:
        """Publishes the table with or without the person, and looks at the release."""
        pair = self._pair
        release = publish_additive(pair.tables[present], pair.spec, plan, pair.engines[present], source, __version__)
        manifest = claims_of(release)
        person, others = (Replay(manifest, pair.spec) for _ in range(2))
        person.add(self._raw[True])
        others.add(self._raw[False])
        spent = float(plan.epsilon)
        totals, *sums, leaves = (
            one.rate * _closer(one.noisy, one.true, more.true) / spent
            for one, more in zip(measured(manifest, others), measured(manifest, person), strict=True)
        )
        chosen = tuple((done.attribute, done.class_) for done in manifest.rounds)
        return Evidence(totals, sum(sums), leaves, chosen)


def claims_of(release: Release) -> AdditiveManifest:
    """What a release claims, as a reader parses it."""
    return AdditiveManifest.model_validate(json.loads(release.manifest.to_json()))


def raw_rows(table: pa.Table) -> Raw:
    """Rows as the verifier reads them."""
    columns = {name: encode(name, table[name]) for name in table.column_names}
    return Raw(columns, np.ones(table.num_rows, dtype=np.int64), table.num_rows, 0)


def _closer(noisy: Any, without: Any, more: Any) -> float:
    """By how much the noisy numbers are nearer to those with the person than to those without."""
    return float((np.abs(noisy - without) - np.abs(noisy - without - more)).sum())
