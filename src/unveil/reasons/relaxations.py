"""Specs that ask for a little less than a given one: one number of one requirement at a time, all else the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from unveil.errors import braced
from unveil.publishers import resolved_requirements
from unveil.schema import (
    Atom,
    Bound,
    PrivatePlan,
    Requirement,
    Spec,
    most_specializations,
    number_text,
    without_redundant,
)
from unveil.tables import Table

H_STEP = 5
SHOWN = 4
"""So many attributes of a requirement are named."""


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

    requirement: int
    reason: str


def _name(key: str, bound: Bound | None) -> str:
    """The symbol of a number in the papers, or else its key."""
    return {"epsilon": "ε", "specializations": "h"}.get(key, key) if bound is None else bound.symbol or key


def relaxations(spec: Spec, table: Table) -> Iterator[Relaxation | Unrelaxed]:
    """What could be asked less of: k − 5 and k / 2, limits, t and α + 5 points, ℓ − 1; for DiffGen ε · 2 and h ± 5."""
    if spec.plan is not None:
        yield from _of_plan(spec, spec.plan)
        return
    for number, requirement in enumerate(spec.requirements, start=1):
        where = f" of requirement {number} on {_names(requirement)}"
        for key, steps in requirement.steps().items():
            before, bound = getattr(requirement, key), requirement.bounds[key]
            specs = {after: _with(spec, number, key, after) for after in steps}
            asked = f"{_name(key, bound)} = {bound.text(before)}{where}"
            if not steps:
                yield Unrelaxed(number, f"{asked}: any less would ask for nothing.")
            elif all(_searched(relaxed, table) == _searched(spec, table) for relaxed in specs.values()):
                yield Unrelaxed(number, f"{asked}: other requirements imply it, so that alone it buys nothing.")
            else:
                for after, relaxed in specs.items():
                    yield Relaxation(number, key, before, after, where, relaxed, steps[after], bound)


def _of_plan(spec: Spec, plan: PrivatePlan) -> Iterator[Relaxation]:
    doubled = replace(spec, plan=replace(plan, epsilon=2 * plan.epsilon))
    yield Relaxation(1, "epsilon", float(plan.epsilon), float(2 * plan.epsilon), "", doubled)
    h = plan.specializations
    fewest, most = min(h, 1), most_specializations(spec.released, spec.origin)
    for wish, note in ((h - H_STEP, "the fewest that refine anything"), (h + H_STEP, "all that the domains allow")):
        after = min(max(wish, fewest), most)
        if after != h:
            changed = replace(spec, plan=replace(plan, specializations=after))
            yield Relaxation(0, "specializations", h, after, "", changed, "" if after == wish else note)


def _with(spec: Spec, number: int, key: str, value: float) -> Spec:
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
