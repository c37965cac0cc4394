"""A black-box audit of differential privacy on a real table.

    python audit/run.py [--runs 5000] [--scenario NAME] [--planted]

Publishes two neighbouring tables thousands of times and tries to tell them apart. Every figure is a lower bound on the
ε that was really spent; it must not exceed the ε that was promised. The exit code is 1 if one does. With `--planted`
the mechanism has half the noise it should have, and the exit code is 1 if that is not found out.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from time import perf_counter
from typing import Any

from neighbours import COUNTED, MEASURED, SCENARIOS, TABLES, Statistic, pair_of
from rich.console import Console
from rich.table import Table

from unveil.attacks.neighbours import Evidence, MeasuredNeighbours, Neighbours, Seen
from unveil.attacks.privacy_loss import Bound, lower_bound
from unveil.noise import SeededSource, SystemSource
from unveil.publishers.additive import cells
from unveil.schema import AdditivePlan, StatisticsPlan

DOUBT = 0.001
"""The chance that any bound of a run is wrong."""
BATCH = 250
POINTS = 500
"""How many points an additive release has here. They are drawn from noisy numbers, so fewer only save time."""


@dataclass(frozen=True)
class Audit:
    """What was found in a scenario."""

    name: str
    limits: dict[str, float]
    """What each statistic may cost."""
    bounds: dict[str, Bound]
    seconds: float

    @property
    def violated(self) -> bool:
        """Whether more was spent than was promised."""
        return any(bound.epsilon > self.limits[statistic] for statistic, bound in self.bounds.items())


def audit(name: str, options: argparse.Namespace, doubt: float) -> Audit:
    """Publishes both tables repeatedly and bounds ε by every statistic."""
    before = perf_counter()
    sizes = [min(BATCH, options.runs - start) for start in range(0, options.runs, BATCH)]
    seeds = [None if options.unsafe_seed is None else options.unsafe_seed + number for number in range(len(sizes))]
    parts = list(zip(seeds, sizes, strict=True))
    batches = [(name, options.planted, present, *part) for present in (True, False) for part in parts]
    if options.workers == 1:
        seen = [_batch(*batch) for batch in batches]
    else:
        with ProcessPoolExecutor(options.workers) as pool:
            seen = list(pool.map(_batch, *zip(*batches, strict=True)))
    halves = (seen[: len(seeds)], seen[len(seeds) :])
    present, absent = ([one for batch in half for one in batch] for half in halves)
    epsilon, statistics = float(SCENARIOS[name].plan.epsilon), _statistics(name)
    bounds = {
        title: lower_bound([statistic(one) for one in present], [statistic(one) for one in absent], doubt)
        for title, (statistic, _) in statistics.items()
    }
    limits = {title: share * epsilon for title, (_, share) in statistics.items()}
    return Audit(name, limits, bounds, perf_counter() - before)


def _is_additive(name: str) -> bool:
    return isinstance(SCENARIOS[name].plan, AdditivePlan)


def _statistics(name: str) -> dict[str, tuple[Statistic, float]]:
    if isinstance(SCENARIOS[name].plan, StatisticsPlan):
        return TABLES
    return MEASURED if _is_additive(name) else COUNTED


def _batch(name: str, planted: bool, present: bool, seed: int | None, size: int) -> list[Seen | Evidence]:
    """Several releases of one of the tables."""
    plan = SCENARIOS[name].plan
    if planted:
        plan = replace(plan, epsilon=2 * plan.epsilon)
    neighbours: Any = _neighbours(name)
    # Two tables with the same seed would be alike in more than they should be.
    source = SystemSource() if seed is None else SeededSource(2 * seed + present)
    return [neighbours.publish(plan, source, present=present) for _ in range(size)]


@cache
def _neighbours(name: str) -> Neighbours | MeasuredNeighbours:
    cells.POINTS = POINTS
    return (MeasuredNeighbours if _is_additive(name) else Neighbours)(pair_of(SCENARIOS[name]))


def show(console: Console, audits: list[Audit], planted: bool) -> None:
    """One line per scenario and statistic."""
    title = f"lower bounds on ε, {1 - DOUBT:.1%} confidence{'; half the noise' if planted else ''}"
    table = Table(title=title)
    for place, header in enumerate(("scenario", "told apart by", "often", "seldom", "ε at least", "paid")):
        table.add_column(header, justify="left" if place < 2 else "right", no_wrap=True)
    for one in audits:
        for statistic, bound in one.bounds.items():
            limit = one.limits[statistic]
            above = bound.epsilon > limit
            found = f"[red]{bound.epsilon:.3f}[/red]" if above else f"{max(bound.epsilon, 0):.3f}"
            figures = (f"{bound.often:.4f}", f"{bound.seldom:.4f}", found, f"{limit:g}")
            table.add_row(one.name, statistic, *figures)
    console.print(table)
    console.print(f"{sum(one.seconds for one in audits):.0f} s", style="dim")


def main() -> int:
    """Runs the audit; gives the exit code."""
    options = _options()
    names = [options.scenario] if options.scenario else list(SCENARIOS)
    if options.planted:
        names = [name for name in names if SCENARIOS[name].half_shows]
    doubt = DOUBT / sum(len(_statistics(name)) for name in names)
    audits = [audit(name, options, doubt) for name in names]
    console = Console()
    show(console, audits, options.planted)
    violated = [one.name for one in audits if one.violated]
    if options.planted:
        missed = [one.name for one in audits if not one.violated]
        console.print(f"Not found out in: {', '.join(missed)}." if missed else "Found out in every scenario.")
        return 1 if missed else 0
    console.print(f"More was spent than promised in: {', '.join(violated)}." if violated else "No bound exceeds ε.")
    return 1 if violated else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5_000, help="how often each of the two tables is published")
    parser.add_argument("--scenario", choices=SCENARIOS, help="this one only")
    parser.add_argument("--planted", action="store_true", help="audit a mechanism with half the noise")
    parser.add_argument("--unsafe-seed", type=int, help="draw from a seed, for tests of the audit itself")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
