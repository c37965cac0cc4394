"""Shadow prices: what a release gains where one requirement asks for a little less, found by running both.

What the records that a search leaves out buy is found in the same way: by the search that leaves out none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np

from unveil.errors import braced, count_text, records_text
from unveil.evaluation.protocol import Interval, interval
from unveil.masking import AsIs, Suppression
from unveil.publishers import resolved_requirements
from unveil.refine import JointSearch
from unveil.release import RefinementManifest, Release, WeightsManifest
from unveil.schema import (
    AdditivePlan,
    Atom,
    Bound,
    Plan,
    Requirement,
    Spec,
    most_specializations,
    number_text,
    without_redundant,
)
from unveil.tables import Table

H_STEP = 5
SHOWN = 4
"""This many attributes of a requirement are named."""
UNCHANGED = "no change in accuracy"


@dataclass(frozen=True)
class Ended:
    """A joint search at its end."""

    steps: int
    bits: float
    """What its refinements gain together, over all records."""
    labels: dict[str, int]
    """How many labels of each attribute groups hold."""
    left_out: int
    persons_left_out: int | None
    """How many persons have records among them, if the table says whose they are."""


def ended(search: JointSearch, steps: int, bits: float) -> Ended:
    """What a search has reached: its steps, and the bits that they gain."""
    labels: dict[str, set[int]] = {}
    for partition in search.partitions:
        live = np.flatnonzero(partition.live.rows)
        for column, attribute in enumerate(partition.attributes.tolist()):
            held = labels.setdefault(search.blocks.hierarchies[attribute].attribute.name, set())
            held.update(np.unique(partition.blocks.rows[live, column]).tolist())
    counts = {name: len(held) for name, held in labels.items()}
    out, unit = search.left_out(0), search.partitions[0].rows.unit
    return Ended(steps, bits, counts, int(out[0]), int(out[unit]) if unit else None)


@dataclass(frozen=True)
class Bought:
    """What the records left out buy."""

    share: str
    """How many may be left out."""
    records: int
    """How many records there are."""
    without: Ended
    """The search that leaves out nothing."""
    found: Ended
    persons: int | None = None
    """How many persons there are, if the table says whose the records are."""

    @property
    def labels(self) -> dict[str, int]:
        """How many more labels the attributes get, where that changes. The search is greedy: some may get fewer."""
        more = {name: count - self.without.labels[name] for name, count in self.found.labels.items()}
        return {name: count for name, count in more.items() if count}

    def sentence(self) -> str:
        """How many records are left out, and what that buys."""
        out = self.found.left_out
        allowed = f"{self.share} {'may be' if self.persons is None else 'of the persons may be'}"
        if not out:
            return f"No record is left out, though {allowed}."
        verb, belong = ("is", "belongs") if out == 1 else ("are", "belong")
        left_out = f"{out:,} of {records_text(self.records)}"
        if self.persons is not None:
            persons = count_text(self.persons, "person")
            left_out += f", which {belong} to {self.found.persons_left_out:,} of {persons},"
        left_out += f" {verb} left out ({allowed})"
        change = [f"{self.without.steps:,} → {count_text(self.found.steps, 'refinement')}"]
        change += [
            f"{count:+,} {'label' if abs(count) == 1 else 'labels'} of {name}" for name, count in self.labels.items()
        ]
        bits = f"{self.without.bits / self.records:.4f} → {self.found.bits / self.records:.4f}"
        return f"{left_out}, which buys {', '.join(change)}, and {bits} bits of information per record."

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, for JSON."""
        return {
            "records": self.found.left_out,
            "persons": self.found.persons_left_out,
            "share": self.share,
            "steps": {"before": self.without.steps, "after": self.found.steps},
            "bits": {"before": self.without.bits, "after": self.found.bits},
            "labels": self.labels,
            "sentence": self.sentence(),
        }


@dataclass(frozen=True)
class Relaxation:
    """A spec that differs from the owner's in one number."""

    requirement: int
    """The number of the requirement in the spec, from 1; 0 for a number under `[publish]`."""
    key: str
    before: float
    after: float
    where: str
    """What the number is about."""
    spec: Spec
    note: str = ""
    """Why the step is not the usual one."""
    bound: Bound | None = None
    """How the number is written, where it is one of a requirement."""

    def __str__(self) -> str:
        text = number_text if self.bound is None else self.bound.text
        note = f" ({self.note})" if self.note else ""
        return f"{_name(self.key, self.bound)} {text(self.before)} → {text(self.after)}{self.where}{note}"


@dataclass(frozen=True)
class Unrelaxed:
    """A number that is not relaxed, and why."""

    reason: str


def _name(key: str, bound: Bound | None) -> str:
    """The symbol of a number in the papers, or else its key."""
    return {"epsilon": "ε", "specializations": "h"}.get(key, key) if bound is None else bound.symbol or key


def relaxations(spec: Spec, table: Table) -> Iterator[Relaxation | Unrelaxed]:
    """What could be asked less of: k − 5 and k / 2, limits, t and α + 5 points, ℓ − 1; ε · 2, and for DiffGen h ± 5."""
    if spec.plan is not None:
        yield from _of_plan(spec, spec.plan)
        return
    for number, requirement in enumerate(spec.requirements, start=1):
        where = f" of requirement {number} on {_names(requirement)}"
        for key, steps in requirement.steps().items():
            before, bound = getattr(requirement, key), requirement.bounds[key]
            specs = {after: with_bound(spec, number, key, after) for after in steps}
            asked = f"{_name(key, bound)} = {bound.text(before)}{where}"
            if not steps:
                yield Unrelaxed(f"{asked}: any less would require nothing.")
            elif all(_searched(relaxed, table) == _searched(spec, table) for relaxed in specs.values()):
                yield Unrelaxed(f"{asked}: other requirements imply it, so relaxing it alone buys nothing.")
            else:
                for after, relaxed in specs.items():
                    yield Relaxation(number, key, before, after, where, relaxed, steps[after], bound)


def _of_plan(spec: Spec, plan: Plan) -> Iterator[Relaxation]:
    doubled = replace(spec, plan=replace(plan, epsilon=2 * plan.epsilon))
    yield Relaxation(1, "epsilon", float(plan.epsilon), float(2 * plan.epsilon), "", doubled)
    if isinstance(plan, AdditivePlan):
        return
    h = plan.specializations
    fewest, most = min(h, 1), most_specializations(spec.released, spec.origin)
    for wish, note in ((h - H_STEP, "the fewest that refine anything"), (h + H_STEP, "all that the domains allow")):
        after = min(max(wish, fewest), most)
        if after != h:
            changed = replace(spec, plan=replace(plan, specializations=after))
            yield Relaxation(0, "specializations", h, after, "", changed, "" if after == wish else note)


def with_bound(spec: Spec, number: int, key: str, value: float) -> Spec:
    """The spec with another value of one key of a requirement."""
    every: list[Any] = list(spec.requirements)
    every[number - 1] = every[number - 1].model_copy(update={key: value})
    return replace(spec, requirements=tuple(every))


def _searched(spec: Spec, table: Table) -> tuple[Atom, ...]:
    """What the search would look at: what no other requirement implies."""
    return without_redundant([atom for item in resolved_requirements(table, spec) for atom in item.atoms()])


def _names(requirement: Requirement) -> str:
    """The attributes of a requirement, the tail of a long list counted, and the sensitive one."""
    about = "" if requirement.sensitive is None else f" → {requirement.sensitive}"
    return f"{braced(requirement.attributes, SHOWN)}{about}"


@dataclass(frozen=True)
class Run:
    """What a spec gives: the release of all rows, and what classifiers learn from releases of parts of them."""

    blocks: dict[str, tuple[str, ...]]
    """The blocks of each masked attribute in the release of all rows; none where it is drawn."""
    kept: float | None
    """1 − GCP: the share of the masked attributes' domains that is not lost; None where the release is drawn."""
    errors: dict[str, tuple[float, ...]]
    """Errors of each classifier, run by run; none where the parts of the rows could not be published."""
    cells: float | None = None
    """For noisy counts: how many cells, on average over the draws."""


@dataclass(frozen=True)
class Price:
    """What relaxing one number buys."""

    relaxation: Relaxation
    before: Run
    after: Run

    @property
    def blocks(self) -> dict[str, int]:
        """How many more blocks the attributes get, where that changes. The search is greedy: some may get fewer."""
        more = {name: len(held) - len(self.before.blocks[name]) for name, held in self.after.blocks.items()}
        return {name: count for name, count in more.items() if count}

    @property
    def accuracy(self) -> dict[str, Interval]:
        """How much more accurate classifiers get: the mean over the runs of the difference in the same rows."""
        return {
            name: interval([old - new for old, new in zip(self.before.errors[name], errors, strict=True)])
            for name, errors in self.after.errors.items()
            if name in self.before.errors
        }

    @property
    def worth(self) -> tuple[float, float]:
        """By what prices are ranked: accuracy that is more than noise, then what is kept of the domains."""
        gains = [gain.mean for gain in self.accuracy.values() if self.after.kept is None or not within_noise(gain)]
        return max(gains, default=0.0), (self.after.kept or 0.0) - (self.before.kept or 0.0)

    def sentence(self) -> str:
        """What it buys, in one sentence."""
        learned = [_points(name, gain) for name, gain in self.accuracy.items()]
        if self.after.kept is not None and self.after.blocks == self.before.blocks:
            clauses = ["nothing: the release stays the same", *(line for line in learned if line != UNCHANGED)]
        else:
            clauses = [*self._structure(), *learned]
        verb = "gives" if self.after.kept is None else "buys"
        return f"{self.relaxation} {verb} {'; '.join(clauses)}."

    def _structure(self) -> list[str]:
        if self.before.cells is not None and self.after.cells is not None:
            return [f"{self.before.cells:,.0f} → {self.after.cells:,.0f} cells on average"]
        if self.before.kept is None or self.after.kept is None:
            return []
        more = [_blocks(name, count) for name, count in self.blocks.items() if count > 0]
        fewer = [_blocks(name, -count) for name, count in self.blocks.items() if count < 0]
        bought = f"{', '.join(more)} more" if more else "other blocks" if not fewer else "no more blocks"
        cost = f", for {', '.join(fewer)} fewer" if fewer else ""
        return [f"{bought}{cost}", f"{self.before.kept:.2%} → {self.after.kept:.2%} of the domains kept"]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, for JSON."""
        relaxed = self.relaxation
        return {
            "requirement": relaxed.requirement,
            "key": relaxed.key,
            "before": relaxed.before,
            "after": relaxed.after,
            "blocks": self.blocks,
            "kept": None if self.after.kept is None else {"before": self.before.kept, "after": self.after.kept},
            "cells": None if self.after.cells is None else {"before": self.before.cells, "after": self.after.cells},
            "accuracy": {
                name: {**vars(gain), "within-noise": within_noise(gain)} for name, gain in self.accuracy.items()
            },
            "sentence": self.sentence(),
        }


def ranked_prices(prices: Sequence[Price]) -> tuple[Price, ...]:
    """What buys most comes first."""
    return tuple(sorted(prices, key=lambda price: price.worth, reverse=True))


def within_noise(gain: Interval) -> bool:
    """Whether the runs do not tell the gain from none. A single run says nothing."""
    return gain.low is None or gain.high is None or gain.low <= 0 <= gain.high


def drawn_run(releases: Sequence[Release], errors: dict[str, tuple[float, ...]]) -> Run:
    """The run of a spec whose releases are drawn."""
    cells = [item.manifest.cells for item in releases if not isinstance(item.manifest, RefinementManifest)]
    return Run({}, None, errors, fmean(cells) if cells else None)


def blocks_of(release: Release) -> dict[str, tuple[str, ...]]:
    """The blocks of each masked attribute; `⊥` is one of them where it can hide a value.

    DiffGen discloses the values of an attribute all at once, so that `⊥` then hides none; the additive method may.
    """
    blocks = {}
    for name, entry in release.masking.columns.items():
        if isinstance(entry, Suppression) and entry.disclosed and _all_disclosed(release, name, entry):
            blocks[name] = entry.disclosed
        elif not isinstance(entry, AsIs):
            blocks[name] = entry.shown
    return blocks


def _all_disclosed(release: Release, name: str, entry: Suppression) -> bool:
    """Whether `⊥` hides no value of a private release."""
    manifest = release.manifest
    if isinstance(manifest, WeightsManifest):
        return len(entry.disclosed) == len(manifest.bins[name])
    return not isinstance(manifest, RefinementManifest)


def _blocks(name: str, count: int) -> str:
    return f"{count_text(count, 'block')} of {name}"


def _points(name: str, gain: Interval) -> str:
    if gain.mean == gain.low == gain.high == 0:
        return UNCHANGED
    points = f"{100 * gain.mean:+.2f} points of accuracy ({name}"
    if gain.low is None or gain.high is None:
        return f"{points}, one run: it may be noise)"
    reach = f"± {50 * (gain.high - gain.low):.2f}"
    return f"{points}, {reach}: within noise)" if within_noise(gain) else f"{points}, {reach})"
