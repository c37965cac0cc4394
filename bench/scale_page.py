"""The parts of `docs/scale.md` about scale, from the cases that are kept: what was measured, and what follows."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from blowup import original_records
from scale_results import STAGES, Case, Found
from settings import GA, RANGES, taxonomy_file

from peers import paths_of
from report import markdown

HEADER = ("attributes", "rows", "engine", "distinct", "steps", *STAGES, "total", "CPU", "GB", "load")
MACHINES, CORES, NETWORK = 20, 16, 1.25e9
"""The cluster of the arithmetic; bytes that a machine sends in a second."""
SIZES = (10**9, 10**10)
SHUFFLED = 16
"""Bytes of a distinct row between machines: its codes in one word, and the weight."""
PASSES, SMALL_JOBS, JOBS = "8:100000000:spark:driver", "8:1000000:spark:cluster", "8:10000000:spark:cluster"
STEPS = "8:100000000:stream"
"""The cases that the arithmetic takes its constants from."""
NOT_YET = "Not measured yet: `make bench FULL=1` fills this in."


def scale_parts(found: Found) -> dict[str, str]:
    """What was measured and what follows from it, by the names that the page has for it."""
    return {
        "scale": markdown(HEADER, *map(cells, found.cases)) if found.cases else NOT_YET,
        "scale_machine": str(found.machine),
        "constants": _table(("constant", "value", "from"), _constants(found)),
        "arithmetic": _table(("rows", "step", "arithmetic", "result"), _arithmetic(found)),
        "cluster": f"{MACHINES} machines of {CORES} cores, {NETWORK / 1e9:g} GB/s to and from each",
        "product": f"{_product():,}",
        "values": f"{_weights():,}",
    }


def cells(case: Case) -> tuple[str, ...]:
    """A case as a line of the table."""
    plan = case.plan
    engine = f"{plan.engine}, {plan.index}" if plan.index else plan.engine
    seconds = (f"{case.stages[name].seconds:.1f}" for name in STAGES)
    whole = (f"{case.seconds:.1f}", f"{case.cpu:.1f}", f"{case.peak / 1e9:.2f}", f"{case.load:.1f}")
    share = f"{case.distinct / plan.rows:.0%}"
    return (plan.setting, f"{plan.rows:,}", engine, share, str(case.steps), *seconds, *whole)


def _table(header: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    held = list(rows)
    return markdown(header, *held) if held else NOT_YET


def _constants(found: Found) -> Iterator[tuple[str, ...]]:
    """Per core and second, and per distinct row: CPU seconds, which depend less on what else the machine does."""
    for name in ("8:10000000:stream", "14:10000000:stream", PASSES):
        if case := found.of(name):
            for stage in ("survey", "index", "rows", "write"):
                if case.stages[stage].cpu > 1:
                    yield f"{stage}, rows per core and second", f"{_rate(case, stage):,.0f}", name
    for name in ("8:10000000:stream", STEPS):
        if case := found.of(name):
            search = case.stages["search"]
            yield "search, CPU µs per distinct row and step", f"{_step(case) * 1e6:.3f}", name
            more = (search.peak - case.stages["survey"].peak) / case.distinct
            yield "search, bytes per distinct row beyond the survey", f"{more:.0f}", name
    if case := found.of(SMALL_JOBS):
        yield "search on the cluster, seconds per job", f"{_job(case):.1f}", SMALL_JOBS
    if case := found.of(JOBS):
        yield "search on the cluster, CPU µs per distinct row and step", f"{_step(case) * 1e6:.1f}", JOBS


def _arithmetic(found: Found) -> Iterator[tuple[str, ...]]:
    passes, small, large, steps = (found.of(name) for name in (PASSES, SMALL_JOBS, JOBS, STEPS))
    if passes is None or small is None or large is None or steps is None:
        return
    cores = MACHINES * CORES
    for rows in SIZES:
        for stage, what in (("survey", "survey"), ("index", "index"), ("write", "rows and writing")):
            rate = _rate(passes, stage)
            yield f"{rows:.0e}", what, f"{rows:.0e} / ({cores} · {rate:,.0f})", f"{rows / cores / rate:,.0f} s"
        sent = rows * SHUFFLED
        over = f"{rows:.0e} · {SHUFFLED} B / ({MACHINES} · {NETWORK:.3g} B/s)"
        yield f"{rows:.0e}", "index, shuffle, if no rows are equal", over, f"{sent / MACHINES / NETWORK:,.0f} s"
        distinct = min(rows, _product())
        count, job = steps.steps + 1, _job(small)
        busy = distinct * _step(large) / cores
        told = f"{count} · ({job:.1f} s + {distinct:.1e} · {_step(large) * 1e6:.1f} µs / {cores})"
        yield f"{rows:.0e}", "search on the cluster, at most", told, f"{count * (job + busy):,.0f} s"


def _rate(case: Case, stage: str) -> float:
    """Rows per core and second."""
    return case.plan.rows / case.stages[stage].cpu


def _step(case: Case) -> float:
    """CPU seconds per distinct row and step of the search; the first count is a step too."""
    return case.stages["search"].cpu / case.distinct / (case.steps + 1)


def _job(case: Case) -> float:
    return case.stages["search"].seconds / (case.steps + 1)


def _weights() -> int:
    """How many values fnlwgt has in the original records, and so in all variations."""
    return len(original_records()["fnlwgt"].unique())


def _product() -> int:
    """How many distinct rows the domains of the quasi-identifier allow."""
    return prod(
        RANGES[name][1] - RANGES[name][0] if name in RANGES else len(list(paths_of(taxonomy_file(name)))) for name in GA
    )
