"""The parts of `docs/scale.md` about scale, from the cases that are kept: what was measured, and what follows."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from blowup import original_records
from scale_results import STAGES, Case, Found
from settings import ga_domains

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
LARGE = 10**7
"""Smaller tables are not on the page: starting takes most of their time."""
NOT_YET = "Not measured yet: `make bench FULL=1` fills this in."


def scale_parts(found: Found) -> dict[str, str]:
    """What was measured and what follows from it, by the names that the page has for it."""
    return {
        "scale": _table(HEADER, (cells(case) for case in found.cases if case.plan.rows >= LARGE)),
        "scale_machine": str(found.machine),
        "arithmetic": _table(("step", "seconds", *(f"n = {rows:.0e}" for rows in SIZES)), _arithmetic(found)),
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


def _arithmetic(found: Found) -> Iterator[tuple[str, ...]]:
    """Each step with its formula, and its seconds for every size."""
    passes, small, large, steps = (found.of(name) for name in (PASSES, SMALL_JOBS, JOBS, STEPS))
    if passes is None or small is None or large is None or steps is None:
        return
    cores = MACHINES * CORES
    for stage, what in (("survey", "survey"), ("index", "index"), ("write", "rows and writing")):
        rate = _rate(passes, stage)
        yield what, f"n / ({cores} · {rate:,.0f})", *(f"{rows / cores / rate:,.0f} s" for rows in SIZES)
    sent = (f"{rows * SHUFFLED / MACHINES / NETWORK:,.0f} s" for rows in SIZES)
    yield "index, shuffle, if no rows are equal", f"n · {SHUFFLED} B / ({MACHINES} · {NETWORK:.3g} B/s)", *sent
    count, job, step = steps.steps + 1, _job(small), _step(large)
    searched = (f"{count * (job + min(rows, _product()) * step / cores):,.0f} s" for rows in SIZES)
    formula = f"{count} · ({job:.1f} s + d · {step * 1e6:.1f} µs / {cores})"
    yield "search on the cluster, at most", formula, *searched


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
    return prod(len(domain.held) for domain in ga_domains().values())
