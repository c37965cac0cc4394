"""How the owner steers a joint search: what it is good for, what each attribute may be refined into, what is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from unveil.arrays import IntArray, NumberArray
from unveil.counting import Marked
from unveil.counting.far import FarMarked
from unveil.errors import RequirementError, SpecError, TableError, did_you_mean, named
from unveil.publishers.guards import resolved_requirements, shared_groups
from unveil.refine.boxes import Lowest
from unveil.refine.gains import ClassInformation, Goal, Statistics, steps_per_bit
from unveil.refine.hierarchies import Cutter, Hierarchy, Intervals, Labels, Values, cut_points
from unveil.refine.joint import JointSearch
from unveil.schema import (
    AFTER_ALL,
    Atom,
    Attribute,
    Bounds,
    KAnonymity,
    Spec,
    Worst,
    round_split,
    step_bounds,
    step_bounds_count,
    step_split,
    without_redundant,
)
from unveil.tables import Outline

MOST_KEPT = 1000
"""How many intervals the owner may keep of a number."""


def target_columns(table: Outline, spec: Spec) -> list[int]:
    """The columns that the search keeps information about, besides the class; refuses one with a single value."""
    if not isinstance(spec.goal, tuple):
        return []
    names = [attribute.name for attribute in table.attributes]
    columns = [names.index(name) for name in spec.goal if name != table.classes.name]
    for column in columns:
        if np.count_nonzero(table.histograms[column].sum(axis=1)) < 2:
            raise TableError(
                f"{spec.origin}: [publish] goal names {names[column]!r}, which has a single value in {table.origin}, "
                "so there is nothing to keep."
            )
    return columns


def targeted(marked: Marked | FarMarked, spec: Spec, class_: str) -> Marked | FarMarked:
    """The rows without the mark of the class, if the goal is another."""
    return marked if _keeps_class(spec, class_) else marked.without_class()


def _keeps_class(spec: Spec, class_: str) -> bool:
    """Whether the class is what the search keeps information about, or among it."""
    return class_ in spec.goal if isinstance(spec.goal, tuple) else spec.goal == "class"


def goal_of(table: Outline, spec: Spec, masked: Sequence[int], histograms: Sequence[IntArray]) -> Goal:
    """What a refinement is worth, by the rows that these histograms count."""
    weights = [table.attributes[column].gain_weight for column in masked]
    fine = steps_per_bit(int(histograms[masked[0]].sum()))
    counted = [histograms[column] for column in masked]
    finer = Statistics(weights, fine, counted, per_anonymity=spec.criterion == "anonymity")
    if spec.goal == "statistics":
        return finer
    held = [histograms[column].sum(axis=1) for column in target_columns(table, spec)]
    if _keeps_class(spec, table.classes.name):
        held.append(histograms[masked[0]].sum(axis=0))
    return ClassInformation(weights, fine, sum(int(np.count_nonzero(counts)) - 1 for counts in held), finer)


def hierarchy_of(table: Outline, column: int, spec: Spec, shared: IntArray | None, targets: int) -> Hierarchy:
    """What an attribute can be refined into, where there are so many targets.

    `shared` has, for an attribute that is refined group by group, its counts by the targets: groups share the few cut
    points of a number.
    """
    attribute, values = table.attributes[column], table.columns[column].values
    if attribute.taxonomy is not None:
        return Labels(attribute, attribute.taxonomy)
    held = table.histograms[column].sum(axis=1) > 0
    if isinstance(values, tuple):
        _check_values(attribute, values, table, spec)
        return Values(attribute, values, held)
    points, cut = _points(attribute, values, spec.bounds)
    if shared is not None:
        cells = np.searchsorted(points, np.arange(len(values)), side="right")
        counts = np.zeros((len(points) + 1, shared.shape[1]), dtype=np.int64)
        np.add.at(counts, cells, shared)
        # What is missing can always be split off, however many cut points there are.
        points = np.union1d(points[cut_points(counts, targets) - 1], np.flatnonzero(values >= AFTER_ALL))
        points = points[points > 0]
    scale = table.scale(column)
    return Intervals(attribute, values, scale, points, cut, _kept(attribute, (scale.lo, scale.hi), spec))


def _points(attribute: Attribute, values: NumberArray, bounds: Bounds) -> tuple[IntArray, Cutter]:
    """The codes before which a number may be cut, and the bound that is published."""
    step = attribute.finest
    if step is None or isinstance(step, tuple):
        rounded = partial(round_split, attribute=attribute)
        return np.arange(1, len(values)), rounded if bounds == "round" else lambda left, right: right
    found = {right: step_split(left, right, step, attribute) for left, right in pairwise(values.tolist())}
    allowed = {right: bound for right, bound in found.items() if bound is not None}
    return np.flatnonzero(np.isin(values, list(allowed))), lambda left, right: allowed[right]


def _kept(attribute: Attribute, bounds: tuple[float, float], spec: Spec) -> list[float]:
    """The bounds at which the owner wants a number cut."""
    step = attribute.keep
    if step is None or isinstance(step, tuple):
        return []
    count = step_bounds_count(step, *bounds)
    if count > MOST_KEPT:
        raise SpecError(
            f"{spec.origin}: [attributes.{attribute.name}] keep is {step!r}, which makes about {count:,} intervals of "
            f"its range; {MOST_KEPT:,} can be kept."
        )
    return list(step_bounds(step, *bounds))


def _check_values(attribute: Attribute, values: tuple[str, ...], table: Outline, spec: Spec) -> None:
    for value in attribute.keep or ():  # type: ignore[union-attr]
        if value not in values:
            hint = did_you_mean(value, values) or "."
            place = f"{spec.origin}: [attributes.{attribute.name}] keep"
            raise TableError(f"{place} names {value!r}, which is not a value that {table.origin} has{hint}")


def check_kept(search: JointSearch, sets: Sequence[tuple[int, ...]], spec: Spec, table: Outline) -> None:
    """Refuses what the owner keeps if a requirement does not hold in the search, refined to what is kept."""
    keeping = [attribute.name for attribute in spec.attributes.values() if attribute.keep is not None]
    if not keeping:
        return
    atoms = without_redundant([atom for item in resolved_requirements(table, spec) for atom in item.atoms()])
    shared = shared_groups(table, atoms)
    for number, (partition, columns) in enumerate(zip(search.partitions, sets, strict=True)):
        held = [atom for key, atoms in shared.items() if key[0] == columns for atom in atoms]
        # What earlier releases say comes after what the table says.
        for atom, lowest in zip(held, partition.lowest(), strict=False):
            if not lowest.level.holds(np.array([lowest.value]))[0]:
                raise RequirementError(_too_fine(atom, lowest, search.labels(number, lowest.box), keeping, spec, table))


def _too_fine(
    atom: Atom, lowest: Lowest, labels: Mapping[str, str], keeping: Sequence[str], spec: Spec, table: Outline
) -> str:
    """What it would cost to keep what the owner asks for: a requirement, the group that breaks it, and how far."""
    kept = [name for name in keeping if name in atom.attributes]
    who = f"{{{', '.join(f'{name} {labels[name]}' for name in kept)}}}"
    value = atom.in_unit(lowest.value)
    worst = Worst(who, lowest.records, value, abs(value - atom.bound))
    nearest = f"; k = {int(value):,} would hold" if isinstance(atom, KAnonymity) else ""
    return (
        f"{spec.origin}: {table.origin} cannot satisfy {atom} with what is kept of {named(kept)}: "
        f"{atom.break_sentence(worst)}{nearest}."
    )
