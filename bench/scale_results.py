"""What the scale benchmark found, case by case, and where it is kept."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from places import CACHE
from results import Machine

KEPT = CACHE / "scale.json"
STAGES = ("survey", "index", "search", "rows", "write")


@dataclass(frozen=True)
class Plan:
    """What is run: how many attributes are released (8 are in the quasi-identifier), on how many rows, by what.

    A setting is by the papers' search, or local: group by group.
    """

    setting: str
    rows: int
    engine: str
    index: str | None = None

    @property
    def name(self) -> str:
        return ":".join([self.setting, str(self.rows), self.engine, *([self.index] if self.index else [])])


@dataclass(frozen=True)
class Stage:
    """Seconds, CPU seconds of all processes, and the most bytes they held."""

    seconds: float
    cpu: float
    peak: int


@dataclass(frozen=True)
class Case:
    """One release, from the start of Python to its end."""

    plan: Plan
    seconds: float
    cpu: float
    peak: int
    stages: dict[str, Stage]
    steps: int
    distinct: int
    load: float
    """Of the machine, before the run."""


@dataclass(frozen=True)
class Found:
    """All cases, each from its last run."""

    machine: Machine
    cases: list[Case]

    def of(self, name: str) -> Case | None:
        return next((case for case in self.cases if case.plan.name == name), None)


def keep(case: Case, machine: Machine) -> None:
    """Puts a case in the place of its last run."""
    others = [one for one in kept().cases if one.plan != case.plan] if KEPT.exists() else []
    order = sorted([*others, case], key=_place)
    KEPT.write_text(json.dumps(asdict(Found(machine, order)), indent=1) + "\n", encoding="utf-8")


def _place(case: Case) -> tuple[int, int, str, bool]:
    plan = case.plan
    return int(plan.setting.split()[0]), plan.rows, plan.engine, plan.setting.endswith("local")


def kept() -> Found:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    return Found(Machine(**kept["machine"]), [_case(case) for case in kept["cases"]])


def _case(kept: dict) -> Case:
    stages = {name: Stage(**stage) for name, stage in kept.pop("stages").items()}
    return Case(plan=Plan(**kept.pop("plan")), stages=stages, **kept)
