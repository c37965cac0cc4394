"""A table with and without one person, published again and again by DiffGen or the additive method.

Who attacks knows all other people, the spec and the release, and wants to know whether the person was in the table. An
additive release shows every noisy number, so the attacker computes what each would be with the person and without;
noise of rate r then says r · (|distance without| − |distance with|) about whether the person is there. That is the best
that can be said, so a statistic of it comes close to what a draw really costs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.arrays import BoolArray, FloatArray, IntArray
from unveil.attacks.scene import coded
from unveil.counting import used_places
from unveil.counting.memory import MemoryEngine
from unveil.masking import Discretization, Generalization
from unveil.noise import Source
from unveil.publishers.additive import publish_additive
from unveil.publishers.private import publish_diffgen
from unveil.release import Release
from unveil.schema import AdditivePlan, PrivatePlan, Spec
from unveil.tables import Table, part_of
from unveil.verifier.data import encode
from unveil.verifier.manifests import AdditiveManifest, StatisticsManifest
from unveil.verifier.private.replay import measurements
from unveil.verifier.raw import Raw
from unveil.version import __version__

PARTS = 8
"""Evidence is rounded to this part of what it may come to."""


class Pair:
    """Two tables that differ by one person, ready to be counted."""

    def __init__(self, spec: Spec, table: Table, rows: pa.Table, person: int) -> None:
        """Takes a person, given by the place of a row, out of a checked table; `rows` are the same rows, raw."""
        mine = of_person(table, person)
        others, used = np.flatnonzero(~mine), used_by(spec, table)
        self.spec = spec
        self.person = rows.take(pa.array(used[mine[used]]))
        self.others = rows.take(pa.array(used[~mine[used]]))
        self.tables = {True: table, False: part_of(table, spec, others, table.origin)}
        self.engines = {present: MemoryEngine(held) for present, held in self.tables.items()}


def of_person(table: Table, row: int) -> BoolArray:
    """Which rows are of the same person as a row."""
    mine: BoolArray = np.arange(table.rows) == row if table.person is None else table.person == table.person[row]
    return mine


def used_by(spec: Spec, table: Table) -> IntArray:
    """The places of the rows that a private release counts."""
    most = None if spec.plan is None else spec.plan.contributions
    return np.arange(table.rows) if most is None else used_places(table, most)


def rarity(rows: pa.Table) -> FloatArray:
    """How much each row stands out: the sum over its columns of how rare its value is, as a logarithm."""
    total = np.zeros(rows.num_rows)
    for name in rows.column_names:
        codes = coded(rows[name]).codes
        total -= np.log(np.bincount(codes)[codes] / len(codes))
    return total


@dataclass(frozen=True)
class Seen:
    """What the attacker makes of one release."""

    surplus: int
    """The published count of the person's cell, less the other people in it."""
    structure: tuple[tuple[str, int], ...]
    """For every attribute that was specialized, into how many blocks."""
    sides: tuple[tuple[str, int], ...]
    """For every attribute that was specialized, how many others are on the person's side, in doubling steps."""

    @property
    def clipped(self) -> int:
        """The surplus. Noise has no memory, so what lies far out says no more than what lies near."""
        return max(-4, min(5, self.surplus))


class Neighbours:
    """DiffGen on two tables that differ by one person. Of several rows of the person, one's cell is looked at."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        others, person, self._class = pair.others, pair.person, pair.spec.table.class_
        names = [attribute.name for attribute in pair.spec.released]
        self._person = {name: person[name][0].as_py() for name in [*names, self._class]}
        self._same_class = np.array(others[self._class].to_pylist()) == self._person[self._class]
        self._others = {name: coded(others[name]) for name in names}

    def publish(self, plan: PrivatePlan, source: Source, *, present: bool) -> Seen:
        """Publishes the table with or without the person, and looks at the release."""
        pair = self._pair
        return self._seen(
            publish_diffgen(pair.tables[present], pair.spec, plan, pair.engines[present], source, __version__)
        )

    def _seen(self, release: Release) -> Seen:
        cell = {self._class: self._person[self._class]}
        among = self._same_class
        structure, sides = [], []
        for name, entry in release.masking.columns.items():
            if not isinstance(entry, Discretization | Generalization) or len(entry.blocks) == 1:
                continue
            cell[name] = entry.labels([self._person[name]])[0]
            values, codes = self._others[name]
            inside = np.array([label == cell[name] for label in entry.labels(values)])[codes]
            among = among & inside
            structure.append((name, len(entry.blocks)))
            sides.append((name, int(inside.sum()).bit_length()))
        counts = release.table["count"].to_numpy()
        held = np.ones(len(counts), dtype=np.bool_)
        for name, label in cell.items():
            held &= np.array(release.table[name].to_pylist()) == label
        return Seen(int(counts[held].sum()) - int(among.sum()), tuple(structure), tuple(sides))


@dataclass(frozen=True)
class Evidence:
    """What the noisy numbers of one release say, as logarithms of likelihood ratios in shares of ε."""

    totals: float
    sums: float
    last: float
    """What was measured last: the leaves, or the last pair."""
    chosen: tuple[tuple[str, str], ...]

    @property
    def all(self) -> float:
        """All numbers together."""
        return self.totals + self.sums + self.last


def rounded(evidence: float, share: float = 1) -> int:
    """Evidence in parts of its share of ε."""
    return round(PARTS * evidence / share)


class MeasuredNeighbours:
    """The additive method, with either goal, on two tables that differ by one person."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._raw = {present: raw_rows(table) for present, table in ((True, pair.person), (False, pair.others))}

    def publish(self, plan: AdditivePlan, source: Source, *, present: bool) -> Evidence:
        """Publishes the table with or without the person, and looks at the release."""
        pair = self._pair
        release = publish_additive(pair.tables[present], pair.spec, plan, pair.engines[present], source, __version__)
        manifest = claims_of(release)
        person, others = (measurements(manifest, pair.spec, [self._raw[present]]) for present in (True, False))
        spent = float(plan.epsilon)
        totals, *sums, last = (
            one.rate * _closer(one.noisy, one.true, more.true) / spent for one, more in zip(others, person, strict=True)
        )
        return Evidence(totals, sum(sums), last, _chosen(manifest))


def _chosen(manifest: AdditiveManifest | StatisticsManifest) -> tuple[tuple[str, str], ...]:
    if isinstance(manifest, StatisticsManifest):
        return tuple((pair.attributes[0], pair.attributes[1]) for pair in manifest.pairs)
    return tuple((done.attribute, done.class_) for done in manifest.rounds)


def claims_of(release: Release) -> AdditiveManifest | StatisticsManifest:
    """What a release of weights claims, as a reader parses it."""
    kind = StatisticsManifest if release.manifest.method == "statistics" else AdditiveManifest
    return kind.model_validate(json.loads(release.manifest.to_json()))


def raw_rows(table: pa.Table) -> Raw:
    """Rows as the verifier reads them."""
    columns = {name: encode(name, table[name]) for name in table.column_names}
    return Raw(columns, np.ones(table.num_rows, dtype=np.int64), table.num_rows, 0)


def _closer(noisy: Any, without: Any, more: Any) -> float:
    """By how much the noisy numbers are nearer to those with the person than to those without."""
    return float((np.abs(noisy - without) - np.abs(noisy - without - more)).sum())
