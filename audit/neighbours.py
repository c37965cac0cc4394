"""What is audited: samples of a real table with and without one person, and what is looked at in their releases.

The person is the one who differs most in the sample: the highest capital gain, with the rarer class. Where ε is about
persons, this one has one row more than are used, all alike, and the others have one each.
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

from unveil.attacks.neighbours import Pair, rounded
from unveil.schema import AdditivePlan, PrivatePlan, Spec, StatisticsPlan, load_spec
from unveil.tables import load_table

DATA = Path(str(files("unveil") / "data"))
SAMPLE_SEED = 2011
CLASS, RARER, STANDS_OUT, WHO = "income", ">50K", "capital-gain", "who"

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
    # A person with several rows, in the cell that is looked at.
    "persons": Scenario(30, PrivatePlan(Fraction(2), specializations=1, contributions=3), (STANDS_OUT, "sex")),
    # Few others, so that the noise of every draw of the additive method is what hides the person.
    "additive": Scenario(30, AdditivePlan(Fraction(8)), (STANDS_OUT, "age", "sex")),
    "statistics": Scenario(300, StatisticsPlan(Fraction(2)), (STANDS_OUT, "age", "sex")),
}


def pair_of(scenario: Scenario) -> Pair:
    """The sample of a scenario, with and without the person who stands out most."""
    spec = replace(_spec(scenario.attributes), plan=scenario.plan)
    sample = _sample(spec, scenario.rows)
    person = _most_conspicuous(sample)
    if scenario.plan.contributions is not None:
        spec = replace(spec, table=replace(spec.table, person=(WHO,)))
        sample = _with_persons(sample, person, scenario.plan.contributions)
    return Pair(spec, load_table(spec, sample), sample, person)


COUNTED: dict[str, tuple[Statistic, float]] = {
    "count of the cell": (lambda seen: seen.clipped, 1),
    "what was specialized": (lambda seen: seen.structure, 1),
    "side of the splits": (lambda seen: seen.sides, 1),
    "all together": (lambda seen: (seen.clipped, seen.sides), 1),
}
"""What is looked at in a release by DiffGen, and which share of ε it may cost."""
MEASURED: dict[str, tuple[Statistic, float]] = {
    "class totals": (lambda seen: rounded(seen.totals, 0.03), 0.03),
    "sums of the rounds": (lambda seen: rounded(seen.sums, 0.574), 0.574),
    "counts of the leaves": (lambda seen: rounded(seen.last, 0.15), 0.15),
    "what was chosen": (lambda seen: seen.chosen, 1),
    "all together": (lambda seen: (rounded(seen.all), seen.chosen[:1]), 1),
}
"""The same in a release by the additive method."""
TABLES: dict[str, tuple[Statistic, float]] = {
    name: MEASURED[name] for name in ("class totals", "what was chosen", "all together")
}
"""The same in a release for statistics, in which noisy totals decide how many numbers there are."""


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


def _with_persons(sample: pa.Table, person: int, contributions: int) -> pa.Table:
    """Everybody has one row, but one person has one more than are used."""
    places = np.concatenate([np.arange(sample.num_rows), np.full(contributions, person)])
    return sample.take(pa.array(places)).append_column(WHO, pa.array(places))


def _most_conspicuous(sample: pa.Table) -> int:
    gains = np.where(np.array(sample[CLASS].to_pylist()) == RARER, sample[STANDS_OUT].to_numpy(), -1)
    return int(gains.argmax())
