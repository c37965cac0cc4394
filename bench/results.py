"""What a run of the benchmark found."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from statistics import mean

from measure import Command, Stages

from peers import Anjana

LIBRARIES = ("unveil", "numpy", "numba", "pyarrow", "pandas")


@dataclass(frozen=True)
class Case:
    """One requirement on one table."""

    stages: Stages
    command: Command


@dataclass(frozen=True)
class Measured:
    """A setting on a table: one case, or one for each of its random requirements."""

    setting: str
    rows: int
    cases: list[Case]

    def mean(self, figure: Callable[[Case], float]) -> float:
        return mean(map(figure, self.cases))

    def max(self, figure: Callable[[Case], float]) -> float:
        return max(map(figure, self.cases))


@dataclass(frozen=True)
class Peers:
    """Other tools on a table. anjana is left out where it would take minutes."""

    rows: int
    read_csv_runs: list[float]
    anjana: Anjana | None

    @property
    def read_csv(self) -> float:
        return min(self.read_csv_runs)


@dataclass(frozen=True)
class Machine:
    """Where it ran, in general terms."""

    cores: int
    memory_gb: int
    python: str
    libraries: dict[str, str]

    def __str__(self) -> str:
        libraries = ", ".join(f"{name} {number}" for name, number in self.libraries.items())
        return f"{self.cores} cores, {self.memory_gb} GB of memory; Python {self.python}, {libraries}."


@dataclass
class Results:
    """All figures of a run."""

    machine: Machine
    load_before: float
    """How many processes wanted to run on the machine, over the last minute. The benchmark itself is about one."""
    compiling: float
    load_after: float = 0.0
    measured: list[Measured] = field(default_factory=list)
    peers: list[Peers] = field(default_factory=list)

    def of(self, setting: str, rows: int) -> Measured:
        return next(one for one in self.measured if (one.setting, one.rows) == (setting, rows))

    @property
    def sizes(self) -> list[int]:
        return sorted({one.rows for one in self.measured})


def load() -> float:
    return round(os.getloadavg()[0], 1)


def this_machine() -> Machine:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Machine(
        cores=os.cpu_count() or 1,
        memory_gb=round(memory / 1e9),
        python=platform.python_version(),
        libraries={name: version(name) for name in LIBRARIES},
    )
