"""What is audited: a real table with and without one person, published by DiffGen again and again.

The person is the one who stands out most in the sample: the highest capital gain, with the rarer class. Who attacks
knows all other people, the spec and the release, and wants to know whether that person was in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from unveil.counting.memory import MemoryEngine
from unveil.masking import Discretization, Generalization
from unveil.noise import Source
from unveil.publishers import publish_diffgen
from unveil.release import Release
from unveil.schema import AdditivePlan, PrivatePlan, Spec, load_spec
from unveil.tables import load_table
from unveil.version import __version__

DATA = Path(str(files("unveil") / "data"))
SAMPLE_SEED = 2011
CLASS, RARER, STANDS_OUT = "income", ">50K", "capital-gain"

Statistic = Callable[[Any], Hashable]


@dataclass(frozen=True)
class Scenario:
    """A spec, a sample of Adult, and what is promised."""

    rows: int
    plan: PrivatePlan | AdditivePlan
    attributes: tuple[str, ...] | None = None
    """Those that are published; all that the bundled spec has if it is None."""
    half_shows: bool = True
    """Whether half the noise costs more than ε on the counts alone. In the paper's budget it costs just ε."""


SCENARIOS = {
    # As an owner would publish it.
    "release": Scenario(1_000, PrivatePlan(Fraction(1), specializations=4)),
    # Spends as much as possible on draws that depend on the one person: few others, one split, one choice, few cells.
    "structure": Scenario(30, PrivatePlan(Fraction(2), specializations=1), (STANDS_OUT, "sex")),
    # The paper's own budget and choice.
    "paper": Scenario(
        30,
        PrivatePlan(Fraction(2), specializations=2, choice="exponential", budget="paper"),
        (STANDS_OUT, "age", "sex"),
        half_shows=False,
    ),
    # Few others, so that the noise of every draw of the additive method is what hides the person.
    "additive": Scenario(30, AdditivePlan(Fraction(8)), (STANDS_OUT, "age", "sex")),
}


@dataclass(frozen=True)
class Seen:
    """What the attacker makes of one release."""

    surplus: int
    """The published count of the person's cell, less the other people in it."""
    structure: tuple[tuple[str, int], ...]
    """For every attribute that was specialized, into how many blocks."""
    sides: tuple[tuple[str, int], ...]
    """For every attribute that was specialized, how many others are on the person's side, in doubling steps."""


STATISTICS: dict[str, tuple[Statistic, float]] = {
    "count of the cell": (lambda seen: _clipped(seen.surplus), 1),
    "what was specialized": (lambda seen: seen.structure, 1),
    "side of the splits": (lambda seen: seen.sides, 1),
    "all together": (lambda seen: (_clipped(seen.surplus), seen.sides), 1),
}
"""What is looked at, and which share of ε it may cost."""


class Pair:
    """Two tables that differ by one record, ready to be counted."""

    def __init__(self, scenario: Scenario) -> None:
        self.spec = replace(_spec(scenario.attributes), plan=scenario.plan)
        sample = _sample(self.spec, scenario.rows)
        person = _most_conspicuous(sample)
        self.person = sample.slice(person, 1)
        self.others = sample.take(pa.array([row for row in range(sample.num_rows) if row != person]))
        self.tables = {True: load_table(self.spec, sample), False: load_table(self.spec, self.others)}
        self.engines = {present: MemoryEngine(table) for present, table in self.tables.items()}


class Neighbours:
    """DiffGen on two tables that differ by one record."""

    statistics = STATISTICS

    def __init__(self, scenario: Scenario) -> None:
        self._pair = Pair(scenario)
        others, person = self._pair.others, self._pair.person
        names = [attribute.name for attribute in self._pair.spec.released]
        self._person = {name: person[name][0].as_py() for name in [*names, CLASS]}
        self._same_class = np.array(others[CLASS].to_pylist()) == self._person[CLASS]
        self._others = {name: np.unique(others[name].to_pylist(), return_inverse=True) for name in names}

    def publish(self, plan: PrivatePlan, source: Source, *, present: bool) -> Seen:
        """Publishes the table with or without the person, and looks at the release."""
        table, engine = self._pair.tables[present], self._pair.engines[present]
        return self._seen(publish_diffgen(table, self._pair.spec, plan, engine, source, __version__))

    def _seen(self, release: Release) -> Seen:
        cell = {CLASS: self._person[CLASS]}
        among = self._same_class
        structure, sides = [], []
        for name, entry in release.masking.columns.items():
            if not isinstance(entry, Discretization | Generalization) or len(entry.blocks) == 1:
                continue
            cell[name] = entry.labels([self._person[name]])[0]
            values, places = self._others[name]
            inside = np.array([label == cell[name] for label in entry.labels(values.tolist())])[places]
            among = among & inside
            structure.append((name, len(entry.blocks)))
            sides.append((name, int(inside.sum()).bit_length()))
        counts = release.table["count"].to_numpy()
        held = np.ones(len(counts), dtype=np.bool_)
        for name, label in cell.items():
            held &= np.array(release.table[name].to_pylist()) == label
        return Seen(int(counts[held].sum()) - int(among.sum()), tuple(structure), tuple(sides))


def _clipped(surplus: int) -> int:
    """Noise has no memory, so what lies far out says no more than what lies near."""
    return max(-4, min(5, surplus))


def _spec(attributes: tuple[str, ...] | None) -> Spec:
    spec = load_spec(DATA / "adult-private.toml")
    if attributes is None:
        return spec
    kept = {name: spec.attributes[name] for name in attributes}
    return replace(spec, attributes=kept, table=replace(spec.table, others="drop"))


def _sample(spec: Spec, rows: int) -> pa.Table:
    """Rows of Adult without missing values, the same in every audit."""
    adult = pa.parquet.read_table(DATA / "adult.parquet")
    for name in adult.column_names:
        if pa.types.is_string(adult.schema.field(name).type):
            missing = pc.is_in(adult[name], pa.array(spec.table.missing.values))
            adult = adult.filter(pc.invert(missing))
    places = np.random.default_rng(SAMPLE_SEED).choice(adult.num_rows, rows, replace=False)
    return adult.take(pa.array(np.sort(places)))


def _most_conspicuous(sample: pa.Table) -> int:
    gains = np.where(np.array(sample[CLASS].to_pylist()) == RARER, sample[STANDS_OUT].to_numpy(), -1)
    return int(gains.argmax())
