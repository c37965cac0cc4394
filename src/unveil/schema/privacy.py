"""What differential privacy requires of a spec: one budget, and nothing taken from the data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import Any, ClassVar, Literal

from unveil.errors import SpecError
from unveil.schema.attributes import Attribute, number_text
from unveil.schema.grid import fraction, grid_of
from unveil.schema.sections import DifferentialPrivacySection, PublishSection, SpecSections, TableSection
from unveil.schema.taxonomy import OBSERVED
from unveil.strangers import COLUMNS, NAME

SPECIALIZATIONS = 10
"""How many specializations the method `safe` makes unless the owner says otherwise."""
COUNT = "count"
"""The column of a DiffGen release that holds the noisy counts."""
WEIGHT = "weight"
"""The column of an additive release that holds the weights."""
FINEST = 2**50
"""How many steps a bound may be away from zero, so that the values of a grid are distinct floats."""
LEAST = {"diffgen": 1e-6, "additive": 1e-3, "safe": 0.1}
"""Below this ε a release is nothing but noise, or by `safe` almost empty."""
MOST_BINS = 300
"""The additive method measures an attribute by so many bins at most."""
LARGEST_DELTA = 1e-3
"""δ must be far below one over the number of records, of which a release has thousands."""
KEYS = {
    "refinement": {
        *("search", "recoding", "leave_out", "left_out", "goal", "criterion", "bounds", "history", "margin", "learn")
    },
    "diffgen": {"specializations", "utility", "choice", "budget", "threshold"},
    "additive": {"goal"},
    "safe": {"delta", "specializations", "utility", "choice"},
}
"""The keys of `[publish]` that belong to each method."""
Utility = Literal["max", "infogain"]
Choice = Literal["exponential", "permute-and-flip"]
Budget = Literal["full", "paper"]


@dataclass(frozen=True)
class Promised:
    """What every method promises that spends a budget."""

    epsilon: Fraction
    contributions: int | None = field(default=None, kw_only=True)
    """The most rows that are used of one person, whose ε it is then; None where every record has its own ε."""
    method: ClassVar[str]
    """What the manifest calls the method."""
    asked: ClassVar[str]
    """What a spec calls it."""

    @property
    def apart(self) -> int:
        """By how many rows two tables differ at most, of those that are used, that differ by one person or record."""
        return self.contributions or 1

    def describe(self) -> dict[str, Any]:
        """The requirement as a manifest states it."""
        stated = {"kind": "differential-privacy", "epsilon": str(self.epsilon)}
        return stated if self.contributions is None else {**stated, "contributions": self.contributions}

    def unit(self, *, weighted: bool) -> str:
        """What neighbours differ by. In a weighted table, a record is a unit of weight."""
        if self.contributions is not None:
            rows = "1 row is" if self.contributions == 1 else f"{self.contributions:,} rows are"
            return f"one person (at most {rows} used of each)"
        return "one record (a row of weight n is n records)" if weighted else "one record"

    def sentence(self, *, weighted: bool) -> str:
        """The guarantee as a reader of the release gets it."""
        unit, epsilon = self.unit(weighted=weighted), decimal_text(self.epsilon)
        return (
            f"This release is ε-differentially private with ε = {epsilon}: adding or removing {unit} "
            f"changes the probability of any release by a factor of at most exp({epsilon})."
        )


@dataclass(frozen=True)
class PrivatePlan(Promised):
    """How a release by DiffGen is made."""

    specializations: int
    utility: Utility = "max"
    choice: Choice = "permute-and-flip"
    budget: Budget = "full"
    threshold: int | None = None
    """Publish only cells whose noisy count reaches this; if not given, it is chosen from public numbers."""
    method: ClassVar[str] = "diffgen"
    asked: ClassVar[str] = "diffgen"


@dataclass(frozen=True)
class AdditivePlan(Promised):
    """How a release by the additive method is made: the budget decides everything."""

    method: ClassVar[str] = "additive"
    asked: ClassVar[str] = "additive"


@dataclass(frozen=True)
class StatisticsPlan(AdditivePlan):
    """How weights are made whose tables of counts are kept: `method = "additive"` with `goal = "statistics"`."""

    method: ClassVar[str] = "statistics"


@dataclass(frozen=True)
class SafePlan(Promised):
    """How true rows are released: a cut drawn as DiffGen draws it, then sampling and suppression."""

    delta: Fraction
    specializations: int = SPECIALIZATIONS
    utility: Utility = "max"
    choice: Choice = "permute-and-flip"
    method: ClassVar[str] = "safe"
    asked: ClassVar[str] = "safe"

    def describe(self) -> dict[str, Any]:
        """The requirement as a manifest states it."""
        return {**super().describe(), "delta": str(self.delta)}

    @property
    def cut(self) -> PrivatePlan:
        """The plan of the search for the cut. DiffGen gives half of its ε to the search, so it is twice a quarter."""
        return PrivatePlan(
            self.epsilon / 2, self.specializations, self.utility, self.choice, contributions=self.contributions
        )

    @property
    def sampling(self) -> Fraction:
        """What sampling and suppression cost: all but the quarter for the cut."""
        return self.epsilon * Fraction(3, 4)

    def sentence(self, *, weighted: bool) -> str:
        """The guarantee as a reader of the release gets it."""
        unit = self.unit(weighted=weighted)
        epsilon, delta = decimal_text(self.epsilon), decimal_text(self.delta)
        return (
            f"This release is (ε, δ)-differentially private with ε = {epsilon} and δ = {delta}: adding or removing "
            f"{unit} changes the probability of any set of releases by a factor of at most exp({epsilon}), "
            f"and by {delta} more."
        )


Plan = PrivatePlan | AdditivePlan | SafePlan
"""How a differentially private release is made."""


def decimal_text(number: Fraction) -> str:
    """A fraction as a person writes it: in decimal if that is exact."""
    decimal = float(number)
    return number_text(decimal) if fraction(decimal) == number else str(number)


def read_plan(sections: SpecSections, origin: str) -> Plan | None:
    """The plan of a private spec; None for refinement."""
    budgets = [section for section in sections.require if isinstance(section, DifferentialPrivacySection)]
    publish = sections.publish
    if publish.method == "refinement":
        if budgets:
            raise SpecError(f"{origin}: differential-privacy needs [publish] method = 'additive', 'diffgen' or 'safe'.")
        _check_keys(publish, origin)
        return None
    if len(budgets) != 1 or len(sections.require) != 1:
        raise SpecError(
            f"{origin}: the method {publish.method!r} needs one requirement, of kind 'differential-privacy', "
            "and no other."
        )
    _check_keys(publish, origin)
    contributions = _contributions(budgets[0], sections.table, origin)
    epsilon = _epsilon(budgets[0], LEAST[publish.method], origin)
    if publish.method == "additive":
        return _weights_plan(publish, origin)(epsilon, contributions=contributions)
    if publish.method == "safe":
        return _safe_plan(epsilon, contributions, publish, origin)
    if publish.specializations is None:
        raise SpecError(f"{origin}: [publish] lacks the key 'specializations' (how many).")
    if publish.budget == "paper" and publish.choice == "permute-and-flip":
        raise SpecError(f"{origin}: [publish] budget = 'paper' goes with choice = 'exponential', as in the paper.")
    choice: Choice = publish.choice or ("exponential" if publish.budget == "paper" else "permute-and-flip")
    return PrivatePlan(
        epsilon,
        publish.specializations,
        publish.utility,
        choice,
        publish.budget,
        publish.threshold,
        contributions=contributions,
    )


def _epsilon(section: DifferentialPrivacySection, least: float, origin: str) -> Fraction:
    """The whole budget, if it buys more than noise; of a person with several rows, each row gets its part."""
    epsilon, rows = section.epsilon, section.contributions or 1
    place = f"{origin}: [[require]] number 1 epsilon is {epsilon:g}"
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise SpecError(f"{place}, but it must be above 0 and finite.")
    if epsilon / rows < least:
        shared = "" if rows == 1 else f" for {rows:,} contributions, {epsilon / rows:g} for each"
        raise SpecError(f"{place}{shared}, but below {least:g} all is noise.")
    return fraction(epsilon)


def _contributions(section: DifferentialPrivacySection, table: TableSection, origin: str) -> int | None:
    """The most rows of a person, where the table says whose row each is: without a bound, no noise hides a person."""
    if table.person and section.contributions is None:
        raise SpecError(
            f"{origin}: [table] person makes ε about one person, which needs a bound on the rows of each; write "
            "contributions = m into the [[require]] section, and at most m rows of a person are used."
        )
    if section.contributions is not None and not table.person:
        raise SpecError(
            f"{origin}: [[require]] number 1 contributions bounds the rows of a person, but [table] person, which "
            "says whose row each is, is not given."
        )
    return section.contributions


def _weights_plan(publish: PublishSection, origin: str) -> type[AdditivePlan]:
    if isinstance(publish.goal, tuple):
        raise SpecError(
            f"{origin}: [publish] goal is a list of columns, but the method 'additive' has the goal 'class' or "
            "'statistics'."
        )
    return StatisticsPlan if publish.goal == "statistics" else AdditivePlan


def _safe_plan(epsilon: Fraction, contributions: int | None, publish: PublishSection, origin: str) -> SafePlan:
    if publish.delta is None:
        raise SpecError(f"{origin}: [publish] lacks the key 'delta' (such as 1e-9).")
    if not 0 < publish.delta <= LARGEST_DELTA:
        raise SpecError(
            f"{origin}: [publish] delta is {publish.delta:g}, but it must be above 0 and at most {LARGEST_DELTA:g}."
        )
    steps = SPECIALIZATIONS if publish.specializations is None else publish.specializations
    choice = publish.choice or "permute-and-flip"
    return SafePlan(epsilon, fraction(publish.delta), steps, publish.utility, choice, contributions=contributions)


def _check_keys(publish: PublishSection, origin: str) -> None:
    """Refuses keys of another method."""
    if strange := sorted(publish.model_fields_set - {"method"} - KEYS[publish.method]):
        owner = next(method for method, keys in KEYS.items() if strange[0] in keys)
        key = strange[0].replace("_", "-")
        raise SpecError(f"{origin}: [publish] {key} belongs to the method {owner!r}, not to {publish.method!r}.")


def check_public(plan: Plan, attributes: Sequence[Attribute], class_: Attribute, others: str, origin: str) -> None:
    """Refuses anything that would let the data affect the release except through the private draws."""
    taken, held = (WEIGHT, "weights") if isinstance(plan, AdditivePlan) else (COUNT, "counts")
    if not isinstance(plan, SafePlan) and taken in [attribute.name for attribute in [*attributes, class_]]:
        raise SpecError(f"{origin}: a column is called {taken!r}, which is what a private release calls its {held}.")
    if not attributes:
        raise SpecError(f"{origin}: no attribute is described except the class, so there is nothing to release.")
    for attribute in attributes:
        if attribute.steering:
            place = f"{origin}: [attributes.{attribute.name}] {attribute.steering[0]}"
            raise SpecError(f"{place} belongs to the method 'refinement', not to {plan.asked!r}.")
    if others == "release":
        raise SpecError(f"{origin}: [table] others = 'release' would publish raw values, which no budget covers.")
    labels = class_.values
    if labels is None:
        raise SpecError(f"{origin}: the class needs its labels declared (values), since observed ones are private.")
    if len(labels) < 2:
        raise SpecError(f"{origin}: the class has one label only, {labels[0]!r}, so there is nothing to learn.")
    _check_sizes(attributes, (class_.name, *labels), origin)
    most = most_specializations(attributes, origin)
    if isinstance(plan, AdditivePlan):
        if most == 0:
            raise SpecError(f"{origin}: no attribute has more than one value, so there is nothing to learn from.")
        if not any(map(_measurable, attributes)):
            raise SpecError(
                f"{origin}: every attribute has more than {MOST_BINS} values and no taxonomy with fewer labels, so "
                "nothing can be measured; give one a taxonomy."
            )
    elif plan.specializations > most:
        raise SpecError(
            f"{origin}: [publish] specializations is {plan.specializations}, but the domains allow {most} at most."
        )


def _measurable(attribute: Attribute) -> bool:
    """Whether the additive method can measure an attribute: a number always, a category by some level of its labels."""
    if attribute.ordered:
        grid = grid_of(attribute)
        return grid is not None and grid.total > 1
    tree = attribute.taxonomy
    levels = [attribute.values or ()] if tree is None else [tree.root.level(depth) for depth in range(1, tree.depth)]
    return any(1 < len(level) <= MOST_BINS for level in levels)


def _check_sizes(attributes: Sequence[Attribute], texts: Iterable[str], origin: str) -> None:
    """Refuses what is too large for a release, before the ledger is charged for it."""
    if len(attributes) > COLUMNS:
        raise SpecError(f"{origin}: {len(attributes):,} attributes cannot be released, only {COLUMNS:,}.")
    declared = [
        (item.name, *(item.values or ()), *(item.taxonomy.labels if item.taxonomy else ()), *item.missing.labels)
        for item in attributes
    ]
    for text in chain(texts, *declared):
        if len(text) > NAME:
            raise SpecError(
                f"{origin}: {text[:40] + '…'!r} has {len(text):,} characters; a label has {NAME:,} at most."
            )


def check_dropped(table: TableSection, columns: Iterable[Attribute], origin: str) -> None:
    """Invalid rows are dropped so that no error reveals a single row; so no row may be refused for what it misses."""
    refusing = [column.name for column in columns if column.missing.rows == "refuse"]
    if table.invalid == "drop" and refusing:
        raise SpecError(
            f"{origin}: [table] invalid = 'drop' refuses no row, so missing.rows must be 'drop' or 'keep', "
            f"also for {refusing[0]!r}."
        )


def most_specializations(attributes: Iterable[Attribute], origin: str) -> int:
    """How many specializations the domains allow, whatever their order; refuses a domain that is not public."""
    return sum(_most_specializations(attribute, origin) for attribute in attributes)


def _most_specializations(attribute: Attribute, origin: str) -> int:
    """How often the values of an attribute can be specialized, whatever the order."""
    place = f"{origin}: [attributes.{attribute.name}]"
    if attribute.ordered:
        grid = grid_of(attribute)
        if attribute.range is None:
            raise SpecError(f"{place} has an observed range, which is private; declare range = [lo, hi].")
        if attribute.step is None and not attribute.whole:
            raise SpecError(f"{place} has no resolution, so its domain is not finite; declare whole = true or a step.")
        if grid is None:
            raise SpecError(f"{place} range is not a whole number of steps of {attribute.step}.")
        if max(abs(fraction(bound)) for bound in attribute.range) / grid.step > FINEST:
            raise SpecError(f"{place} has steps so small for its range that its numbers are not distinct floats.")
        return grid.total - 1
    if attribute.taxonomy is not None:
        if attribute.taxonomy.observed is not None:
            raise SpecError(
                f"{place} has a taxonomy that was drafted from the data, whose values are private; if all of them are "
                f"public knowledge, remove the mark '{OBSERVED}' from {attribute.taxonomy.origin}."
            )
        return sum(1 for node in attribute.taxonomy.root.walk() if node.children)
    if attribute.values is None:
        raise SpecError(f"{place} has observed values, which are private; declare values = [...] or a taxonomy.")
    return 1
