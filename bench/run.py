"""Speed and memory on Adult blown up to a million rows, next to other tools, in one run.

    python bench/run.py [--quick] [--full] [--sizes 200000,500000,1000000] [--write-docs]

Nothing is asserted. Figures go to the terminal and to `.benchmarks/results.json`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from measure import REPEATS, Command, publish_command, stages
from page import speed_parts
from parts import fill
from places import PAGE, RESULTS
from results import Case, Measured, Peers, Results, load, this_machine
from rich.console import Console
from settings import SETTINGS, Setting, write_spec

from peers import run_anjana, time_read_csv
from report import print_report

WARM_UP_ROWS = 5_000
ANJANA_ROWS = 200_000
"""With more rows anjana takes minutes."""


def measure(setting: Setting, rows: int) -> Measured:
    """All requirements of a setting on one table."""
    repeats = REPEATS if len(setting.requirements) == 1 else 1
    cases = []
    for number in range(len(setting.requirements)):
        spec = write_spec(setting, number, rows)
        in_process = stages(spec, write_spec(setting, number, WARM_UP_ROWS))
        runs = [publish_command(spec) for _ in range(repeats)]
        best = Command(
            seconds=min(run.seconds for run in runs),
            cpu=min(run.cpu for run in runs),
            peak=max(run.peak for run in runs),
            died=sum(run.died for run in runs),
        )
        cases.append(Case(in_process, best))
    return Measured(setting.name, rows, cases)


def compiling() -> float:
    """Seconds that the first command takes longer; the kernels are compiled when this returns."""
    spec = write_spec(SETTINGS[0], 0, WARM_UP_ROWS)
    first = publish_command(spec, new=True).seconds
    return first - min(publish_command(spec).seconds for _ in range(REPEATS))


def other_tools(rows: int, full: bool) -> Peers:
    """The other tools on one table."""
    return Peers(rows, time_read_csv(rows), run_anjana(rows) if full or rows <= ANJANA_ROWS else None)


def main() -> None:
    options = _options()
    # A file or a pipe is 80 characters wide to rich, which would cut the table.
    console = Console(width=max(Console().width, 110))
    sizes = [200_000] if options.quick else sorted({int(rows) for rows in options.sizes.split(",")})
    before = load()
    blowup = str(Path(__file__).with_name("blowup.py"))
    # In a process of its own: a child's peak is never below its parent's.
    subprocess.run([sys.executable, blowup, str(WARM_UP_ROWS), *map(str, sizes)], check=True)
    with console.status("compiling the kernels") as status:
        results = Results(this_machine(), before, compiling())
        for rows in sizes:
            for setting in SETTINGS:
                status.update(f"{setting.name}, {rows:,} rows")
                results.measured.append(measure(setting, rows))
            status.update(f"other tools, {rows:,} rows")
            results.peers.append(other_tools(rows, options.full))
    results.load_after = load()
    print_report(console, results)
    RESULTS.write_text(json.dumps(asdict(results), indent=1) + "\n", encoding="utf-8")
    if options.write_docs:
        fill(PAGE, speed_parts(results))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="200000,500000,1000000", help="rows of the tables, with commas between")
    parser.add_argument("--quick", action="store_true", help="200,000 rows only")
    parser.add_argument(
        "--full", action="store_true", help=f"anjana also beyond {ANJANA_ROWS:,} rows, which takes long"
    )
    parser.add_argument("--write-docs", action="store_true", help="write the figures into docs/scale.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
