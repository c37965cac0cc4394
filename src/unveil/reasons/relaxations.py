"""Specs that ask for a little less than a given one: one number of one requirement at a time, all else the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from unveil.errors import braced
from unveil.publishers import resolved_requirements
from unveil.schema import (
    AlphaKAnonymity,
    Atom,
    Confidence,
    KAnonymity,
    LDiversity,
    PrivatePlan,
    Requirement,
    Spec,
    TCloseness,
    most_specializations,
    number_text,
    without_redundant,
)
from unveil.tables import Table

K_STEP = 5
SHARE_STEP = 0.05
"""Five points of a confidence, of α, or of a distance."""
H_STEP = 5
DECIMALS = 6
SHOWN = 4
"""So many attributes of a requirement are named."""


@dataclass(frozen=True)
class Relaxation:
    """A spec that differs from the owner's in one number."""

    requirement: int
    """The number of the requirement in the spec, from 1; 0 for what stands under `[publish]`."""
    key: str
    before: float
    after: float
    where: str
    """What the number is about."""
    spec: Spec
    note: str = ""
    """Why the step is not the usual one."""

    def __str__(self) -> str:
        numbers = [_told(self.key, number) for number in (self.before, self.after)]
        note = f" ({self.note})" if self.note else ""
        return f"{_NAMES.get(self.key, self.key)} {' → '.join(numbers)}{self.where}{note}"


@dataclass(frozen=True)
class Unrelaxed:
    """A number that is not relaxed, and why."""

    requirement: int
    reason: str


_NAMES = {"epsilon": "ε", "specializations": "h", "alpha": "α"}
_SHARES = ("limit", "alpha")


def relaxations(spec: Spec, table: Table) -> Iterator[Relaxation | Unrelaxed]:
    """What could be asked less of: k − 5 and k / 2, limits, t and α + 5 points, ℓ − 1; for DiffGen ε · 2 and h ± 5."""
    if spec.plan is not None:
        yield from _of_plan(spec, spec.plan)
        return
    for number, requirement in enumerate(spec.requirements, start=1):
        where = f" of requirement {number} on {_names(requirement)}"
        for key, steps in _steps(requirement).items():
            before = getattr(requirement, key)
            specs = {after: _with(spec, number, key, after) for after in steps}
            told = f"{_NAMES.get(key, key)} = {_told(key, before)}{where}"
            if not steps:
                yield Unrelaxed(number, f"{told}: any less would ask for nothing.")
            elif all(_searched(relaxed, table) == _searched(spec, table) for relaxed in specs.values()):
                yield Unrelaxed(number, f"{told}: other requirements imply it, so that alone it buys nothing.")
            else:
                for after, relaxed in specs.items():
                    yield Relaxation(number, key, before, after, where, relaxed, steps[after])


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


def _steps(requirement: Requirement) -> dict[str, dict[float, str]]:
    """For each number of a requirement the values to try, each with why it is not the usual step."""
    match requirement:
        case KAnonymity(k=k):
            return {"k": _fewer(k)}
        case Confidence(limit=limit):
            return {"limit": _more(limit)}
        case LDiversity(l=least, variant=variant):
            return {"l": _less_diverse(least, whole=variant == "distinct")}
        case TCloseness(t=t):
            return {"t": _more(t)}
        case AlphaKAnonymity(k=k, alpha=alpha):
            return {"k": _fewer(k), "alpha": _more(alpha)}


def _fewer(k: int) -> dict[float, str]:
    """The usual step and half of k; a k of 2 is the last that asks for anything."""
    if k <= 2:
        return {}
    wishes: dict[float, str] = {max(k - K_STEP, 2): "" if k - K_STEP >= 2 else "the last k that asks for anything"}
    if k // 2 >= 2:
        wishes.setdefault(k // 2, "half of it")
    return wishes


def _more(share: float) -> dict[float, str]:
    """The usual step, or half the way to 1, which would ask for nothing."""
    if share >= 1:
        return {}
    wish = round(share + SHARE_STEP, DECIMALS)
    if wish < 1:
        return {wish: ""}
    return {round((1 + share) / 2, DECIMALS): "half the way to asking for nothing"}


def _less_diverse(least: float, *, whole: bool) -> dict[float, str]:
    """One value less, or half the way to 1, which would ask for nothing."""
    if least - 1 > 1:
        return {least - 1: ""}
    if whole or least <= 1:
        return {}
    return {round((1 + least) / 2, DECIMALS): "half the way to asking for nothing"}


def _with(spec: Spec, number: int, key: str, value: float) -> Spec:
    """The spec with another value of one key of a requirement."""
    every: list[Any] = list(spec.requirements)
    every[number - 1] = replace(every[number - 1], **{key: value})
    return replace(spec, requirements=tuple(every))


def _searched(spec: Spec, table: Table) -> tuple[Atom, ...]:
    """What the search would look at: what no other requirement implies."""
    return without_redundant([atom for item in resolved_requirements(table, spec) for atom in item.atoms()])


def _names(requirement: Requirement) -> str:
    """The attributes of a requirement, the tail of a long list counted, and the sensitive one."""
    about = "" if requirement.sensitive is None else f" → {requirement.sensitive}"
    return f"{braced(requirement.attributes, SHOWN)}{about}"


def _told(key: str, number: float) -> str:
    if key in _SHARES:
        return f"{number_text(round(100 * number, DECIMALS - 2))}%"
    return number_text(number)
