"""A private release made again from the spec and the raw rows: its plan, its cells, and the numbers that it measured.

The manifest of a release of weights lists every noisy number and every step of the model. So the raw rows go through
the rounds again: each row weighs what it weighed then, and the true sums of all draws are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import listed
from unveil.schema import PrivatePlan, SafePlan
from unveil.verifier.claims import (
    MANIFEST,
    Discretization,
    Finding,
    Generalization,
    Interval,
    Masked,
    Node,
    Suppression,
    findings_of,
    guarantee_findings,
)
from unveil.verifier.data import Data, Tally, by_row
from unveil.verifier.manifests import (
    COUNT,
    AdditiveManifest,
    DiffGenManifest,
    DrawnManifest,
    PrivateManifest,
    SafeManifest,
    StatisticsManifest,
    WeightsManifest,
)
from unveil.verifier.private import label_places, least_steps, promised
from unveil.verifier.private.measured import STEP, read_interval
from unveil.verifier.private.noise import NoiseLaw, float_rate
from unveil.verifier.private.places import check_levels, raw_places, used_raw
from unveil.verifier.private.weights import REACH, leaves_of
from unveil.verifier.values import day_text, exact_text

if TYPE_CHECKING:
    from unveil.schema import Attribute, Spec, Taxonomy
    from unveil.schema import Node as TaxonomyNode
    from unveil.verifier.raw import Raw

Cells = dict[tuple[int, ...], int]
"""Counts of cells, by the places of their labels in the cuts and of their class among the classes."""
Wholes = NDArray[np.int64]


def check_plan(manifest: PrivateManifest, spec: Spec) -> Iterator[Finding]:
    """A private release spends what the plan of the spec says, as it says, on the declared domains."""
    if spec.plan is not None and manifest.epsilon != spec.plan.epsilon:
        claimed, asked = exact_text(manifest.epsilon), exact_text(spec.plan.epsilon)
        yield Finding("spec-requirement", f"{MANIFEST} has ε = {claimed}, but the spec has {asked}.")
    if spec.plan is not None and manifest.contributions != spec.plan.contributions:
        claimed, asked = (
            "one record" if most is None else f"one person with contributions = {most:,}"
            for most in (manifest.contributions, spec.plan.contributions)
        )
        yield Finding("spec-requirement", f"{MANIFEST} promises ε for {claimed}, but the spec asks for {asked}.")
    weighted = spec.table.weight is not None
    if manifest.private and manifest.guarantee == promised(manifest, weighted=not weighted):
        yield from guarantee_findings(manifest.guarantee, promised(manifest, weighted=weighted))
    declared = spec.table.class_values or ()
    if set(manifest.classes) != set(declared):
        labels, known = listed(manifest.classes), listed(declared)
        yield Finding("spec-classes", f"{MANIFEST} has the class labels {labels}, but the spec declares {known}.")
    if isinstance(manifest, WeightsManifest):
        yield from check_levels(manifest, spec)
    elif isinstance(manifest, DrawnManifest) and isinstance(spec.plan, PrivatePlan | SafePlan):
        yield from _structure_findings(manifest, spec.plan)
        for name, entry in manifest.masking.items():
            attribute = spec.attributes.get(name)
            if attribute is not None and entry.kind == attribute.masking:
                yield from findings_of("spec-domain", f"{MANIFEST}: {name!r} ", _cell_problems(entry, attribute))
        yield from _step_findings(manifest, spec)


def _structure_findings(manifest: DrawnManifest, plan: PrivatePlan | SafePlan) -> Iterator[Finding]:
    keys = ["specializations", "utility", "choice"]
    if isinstance(plan, PrivatePlan):  # a threshold that the owner does not give follows from public numbers
        keys += ["budget"] if plan.threshold is None else ["budget", "threshold"]
    claims = {key: (getattr(manifest, key), getattr(plan, key)) for key in keys}
    if isinstance(manifest, SafeManifest) and isinstance(plan, SafePlan) and manifest.delta != plan.delta:
        claims["δ"] = (exact_text(manifest.delta), exact_text(plan.delta))
    for key, (stated, planned) in claims.items():
        if stated != planned:
            yield Finding("spec-plan", f"{MANIFEST} has the {key} {stated!r}, but the spec has {planned!r}.")


def _cell_problems(entry: Masked, attribute: Attribute) -> Iterator[str]:
    if isinstance(entry, Suppression):
        if entry.disclosed and attribute.values is not None and entry.disclosed != list(attribute.values):
            yield f"discloses {listed(entry.disclosed)}, but not all of its declared values in their order"
    elif isinstance(entry, Discretization):
        for block in entry.blocks[1:]:
            if block.start is not None and not _splits_grid(block.lo, attribute):
                yield f"is split at {block.start}, which is not a value inside its declared range, in its steps"


def _splits_grid(split: float, attribute: Attribute) -> bool:
    """Whether a number is one of the declared values above the lowest: below that there is nothing to split off."""
    step = 1.0 if attribute.whole else attribute.step
    if attribute.range is None or step is None:
        return False
    lo, hi = (Fraction(str(bound)) for bound in attribute.range)
    width = Fraction(str(step))
    place = round((Fraction(str(split)) - lo) / width)
    # Written as a float, a value on the grid is the float nearest to it.
    return 0 < place * width < hi - lo and float(lo + place * width) == float(split)


def _step_findings(manifest: DrawnManifest, spec: Spec) -> Iterator[Finding]:
    """The cuts take as many specializations as the manifest says."""
    steps = 0
    for name, entry in manifest.masking.items():
        attribute = spec.attributes.get(name)
        taxonomy = None if attribute is None else attribute.taxonomy
        if not isinstance(entry, Generalization):
            steps += least_steps(entry)
        elif taxonomy is not None:
            steps += _taxonomy_steps(entry, taxonomy)
        else:
            return  # `check_agreement` reports it
    if steps != manifest.specializations:
        message = f"{MANIFEST} says that there were {manifest.specializations} specializations"
        yield Finding("specializations", f"{message}, but by the taxonomies of the spec its cuts take {steps}.")


def _taxonomy_steps(entry: Generalization, taxonomy: Taxonomy) -> int:
    """How many nodes were specialized: those above the cut."""
    cut = {block.label for block in entry.blocks}

    def above(node: TaxonomyNode) -> int:
        if node.label in cut or not node.children:
            return 0
        return 1 + sum(above(child) for child in node.children)

    return above(taxonomy.root)


def count_cells(manifest: DrawnManifest, data: Data, spec: Spec) -> tuple[Cells, Cells]:
    """The released counts of the listed cells, and the true ones of those that used raw records are in.

    A raw row with a value that no block holds is in no cell and is left out.
    """
    columns = [data.columns[name] for name in manifest.labels]
    places = [label_places(manifest.labels[column.name], column.texts())[column.codes] for column in columns]
    counts = data.counts
    if isinstance(manifest, DiffGenManifest):
        noisy = data.columns[COUNT]
        counts = noisy.values.to_numpy()[noisy.codes]
    tally = Tally()
    tally.add([np.zeros(0, dtype=np.int32)] * len(manifest.labels), np.zeros(0, dtype=np.int64))
    for raw in used_raw(spec):
        placed = Placed(manifest, spec, raw)
        tally.add([*placed.blocks.values(), placed.class_], placed.weights)
    return by_row(places, counts), by_row(*tally.result())


@dataclass(frozen=True)
class Measurement:
    """The noisy numbers of one draw, and the true ones."""

    purpose: str
    """What the ledger calls the draw."""
    cost: Fraction
    """What it was charged."""
    unit: int
    """The most that a record adds to a number."""
    noisy: Wholes
    """The numbers as published."""
    true: Wholes
    """The numbers of the raw table."""

    @property
    def rate(self) -> float:
        """The rate of its noise."""
        return float_rate(self.cost / self.unit)

    @property
    def moves(self) -> Wholes:
        """What noise changed."""
        return (self.noisy - self.true).ravel()

    @property
    def sums(self) -> tuple[float, float]:
        """The sum of the sizes of the moves, and that of the moves, in units of their scale."""
        return self.rate * float(np.abs(self.moves).sum()), self.rate * float(self.moves.sum())

    @property
    def law(self) -> NoiseLaw:
        """The law of these moves."""
        return NoiseLaw({self.rate: self.noisy.size})


class Placed:
    """Raw rows by the blocks of a release. One with a value that no block holds is left out, as it was then."""

    def __init__(self, manifest: PrivateManifest, spec: Spec, raw: Raw) -> None:
        blocks = {
            name: raw_places(raw.columns[name], known, manifest.masking.get(name), spec.attributes.get(name))
            for name, known in manifest.labels.items()
        }
        self.rows = np.all([places >= 0 for places in blocks.values()], axis=0)
        self.weights: Wholes = raw.weights[self.rows]
        self.class_ = blocks.pop(manifest.class_)[self.rows]
        self.blocks = {name: places[self.rows] for name, places in blocks.items()}


def measurements(
    manifest: AdditiveManifest | StatisticsManifest, spec: Spec, batches: Iterable[Raw]
) -> list[Measurement]:
    """Everything that was measured, next to the true numbers of the raw rows that the release uses."""
    cost = {charge.purpose: manifest.per_record(charge) for charge in manifest.ledger}
    found = [
        Measurement(purpose, cost[purpose], unit, np.array(noisy), np.zeros_like(noisy))
        for purpose, unit, noisy in _noisy_numbers(manifest)
    ]
    true = [one.true for one in found]
    for raw in batches:
        placed = Placed(manifest, spec, raw)
        np.add.at(true[0], placed.class_, placed.weights)
        if isinstance(manifest, StatisticsManifest):
            _add_tables(manifest, placed, true[1:])
        else:
            _add_rounds(manifest, spec, raw, placed, true[1:])
    return found


def _noisy_numbers(manifest: AdditiveManifest | StatisticsManifest) -> Iterator[tuple[str, int, Any]]:
    """What the ledger calls each draw, the most that a record adds to a number, and the numbers as published."""
    yield "class totals", 1, manifest.totals
    if isinstance(manifest, StatisticsManifest):
        yield from ((f"table of {name}", 1, table) for name, table in manifest.tables.items())
        yield from ((f"counts of pair {place}", 1, pair.counts) for place, pair in enumerate(manifest.pairs, start=1))
    else:
        for place, done in enumerate(manifest.rounds, start=1):
            yield f"sums of round {place}", done.unit, np.stack([done.against, done.within], axis=1)
        yield "counts of the leaves", 1, manifest.leaves


def _add_tables(manifest: StatisticsManifest, placed: Placed, true: Sequence[Wholes]) -> None:
    """Counts rows in all tables and pairs. Every bin is a block."""
    tables, pairs = true[: len(manifest.tables)], true[len(manifest.tables) :]
    for name, table in zip(manifest.tables, tables, strict=True):
        np.add.at(table, (placed.blocks[name], placed.class_), placed.weights)
    for pair, counts in zip(manifest.pairs, pairs, strict=True):
        groups = tuple(np.array(manifest.groups[name])[placed.blocks[name]] for name in pair.attributes)
        np.add.at(counts, groups, placed.weights)


def _add_rounds(manifest: AdditiveManifest, spec: Spec, raw: Raw, placed: Placed, true: Sequence[Wholes]) -> None:
    """Takes rows through the rounds again, and counts them in the leaves."""
    *all_sums, leaves = true
    class_, weights = placed.class_, placed.weights
    cells = np.stack(list(placed.blocks.values()), axis=1).astype(np.int64)
    np.add.at(leaves, (leaves_of(manifest, cells), class_), weights)
    bins = {}
    for name, labels in manifest.bins.items():
        attribute = spec.attributes.get(name)
        entry = _bin_entry(manifest.masking[name], list(labels), attribute)
        bins[name] = raw_places(raw.columns[name], list(labels), entry, attribute)[placed.rows]
    odds = np.tile(np.array(manifest.base, dtype=np.int64), (len(class_), 1))
    for done, sums in zip(manifest.rounds, all_sums, strict=True):
        model, held = manifest.models.index(done.class_), bins[done.attribute]
        within = class_ == manifest.classes.index(done.class_)
        own = np.clip(np.where(within, odds[:, model], -odds[:, model]), 0, REACH)
        records = np.rint(done.unit * np.exp(-own / STEP)).astype(np.int64)
        np.add.at(sums, (held, within.astype(np.int64)), records * weights)
        odds[:, model] += np.array(done.steps)[held]


def _bin_entry(entry: Masked, bins: list[str], attribute: Attribute | None) -> Masked:
    """The bins of an attribute as a cut, so that raw values find their bin as they find their block."""
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
