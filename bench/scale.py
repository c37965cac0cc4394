"""How far one machine goes: Adult blown up to 1M, 10M and 100M rows, from parquet to release, on every engine.

    python bench/scale.py [--full] [--only SETTING:ROWS:ENGINE] [--write-docs]

1M and 10M rows; with --full also 100M, which takes minutes for each of its cases, and 20 GB for that in memory. Every
case is run in a fresh process and kept in `.benchmarks/scale.json` when it is done, in place of an older run of the
same case.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from parts import fill
from places import PAGE
from processes import Usage, run_watched
from results import load, this_machine
from rich.console import Console
from rich.table import Table
from scale_page import HEADER, cells, scale_parts
from scale_results import STAGES, Case, Plan, Stage, keep, kept
from settings import write_scale_spec

MILLION = 1_000_000
SMALL = (MILLION, 10 * MILLION)
LARGE = 100 * MILLION
SPARK_MEMORY = {LARGE: "12g"}
"""What the driver's Java gets where the usual 4 GB do not hold the distinct rows."""
WARM_UP_ROWS = 5_000
PLANS = (
    *(Plan(setting, rows, engine) for rows in SMALL for setting in ("8", "14") for engine in ("memory", "stream")),
    *(Plan("8 local", rows, engine) for rows in SMALL for engine in ("memory", "stream")),
    *(Plan("8", rows, "spark", "driver") for rows in SMALL),
    *(Plan("8", rows, "spark", "cluster") for rows in SMALL),
    Plan("14", 10 * MILLION, "spark", "driver"),
)
LARGE_PLANS = (
    *(Plan(setting, LARGE, "stream") for setting in ("8", "14")),
    Plan("8", LARGE, "memory"),
    Plan("8", LARGE, "spark", "driver"),
)


def measure(plan: Plan) -> Case:
    """One case in a process of its own."""
    before = load()
    usage = _publish(plan)
    result = json.loads(usage.output.splitlines()[-1])
    moments = result["moments"]
    stages = {}
    for name, start, stop in zip(STAGES, moments[:-1], moments[1:], strict=True):
        cpu, peak = usage.between(start, stop)
        stages[name] = Stage(stop - start, cpu, peak)
    facts = {"steps": result["steps"], "distinct": result["distinct"], "load": before}
    return Case(plan, usage.seconds, usage.cpu, usage.peak, stages=stages, **facts)


def _publish(plan: Plan) -> Usage:
    spec = write_scale_spec(plan.setting, plan.rows)
    script = str(Path(__file__).with_name("scale_stages.py"))
    place = [plan.index, SPARK_MEMORY.get(plan.rows, "4g")] if plan.index else []
    return run_watched([sys.executable, script, str(spec), plan.engine, *place], os.environ)


def prepare(plans: tuple[Plan, ...]) -> None:
    """Writes the tables, and has the kernels compiled, so that no case waits for that."""
    sizes = sorted({plan.rows for plan in plans} | {WARM_UP_ROWS})
    blowup = str(Path(__file__).with_name("blowup.py"))
    subprocess.run([sys.executable, blowup, "--streamed", *map(str, sizes)], check=True)
    for setting in ("8", "14", "8 local"):
        _publish(Plan(setting, WARM_UP_ROWS, "stream"))


def main() -> None:
    options = _options()
    console = Console(width=max(Console().width, 140))
    plans = (*PLANS, *LARGE_PLANS) if options.full else PLANS
    if options.only:
        plans = tuple(plan for plan in (*PLANS, *LARGE_PLANS) if plan.name.startswith(tuple(options.only)))
    if plans and not options.page_only:
        with console.status("tables") as status:
            prepare(plans)
            for plan in plans:
                status.update(plan.name)
                keep(measure(plan), this_machine())
    table = Table(title="from parquet to release: seconds, and gigabytes of memory")
    for place, title in enumerate(HEADER):
        table.add_column(title, justify="left" if place == 0 else "right", no_wrap=True)
    found = kept()
    for case in found.cases:
        table.add_row(*cells(case))
    console.print(table)
    if options.write_docs:
        fill(PAGE, scale_parts(found))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="also 100M rows")
    parser.add_argument("--only", nargs="+", help="the cases whose names begin so, such as 8:10000000:stream")
    parser.add_argument("--page-only", action="store_true", help="measure nothing, show what is kept")
    parser.add_argument("--write-docs", action="store_true", help="write the figures into docs/scale.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
