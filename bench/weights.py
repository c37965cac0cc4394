"""What weights cost: `unveil publish` with `method = "additive"` on Adult blown up to a million rows, for both goals.

    python bench/weights.py [--sizes 250000,500000,1000000]

All 14 attributes; the product of their domains exceeds 10^9 cells by far. CPU (user and system) and peak memory are
those of the whole command, parquet to release, the best of several runs. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from diffgen import write_spec
from measure import Command, publish_command
from places import CACHE
from rich.console import Console
from rich.table import Table

SIZES = (250_000, 500_000, 1_000_000)
WARM_UP_ROWS = 5_000
REPEATS = 3
GOALS = ("class", "statistics")
ASKED_ROWS, ASKED_CPU, ASKED_GB = 1_000_000, 3.0, 1.0
GB = 1e9


def run(sizes: list[int], console: Console) -> dict[tuple[str, int], Command]:
    """The best run of every goal and size."""
    # In a process of its own: a child's peak is never below its parent's.
    blowup = str(Path(__file__).with_name("blowup.py"))
    subprocess.run([sys.executable, blowup, str(WARM_UP_ROWS), *map(str, sizes)], check=True)
    found = {}
    with console.status("weights") as status, tempfile.TemporaryDirectory(dir=CACHE) as folder:
        for goal in GOALS:
            wish = ('method = "additive"', f'goal = "{goal}"')
            publish_command(write_spec(Path(folder), WARM_UP_ROWS, wish, "parquet"))
            for rows in sizes:
                status.update(f"{goal}, {rows:,} rows")
                spec = write_spec(Path(folder), rows, wish, "parquet")
                found[goal, rows] = min((publish_command(spec) for _ in range(REPEATS)), key=lambda one: one.cpu)
    return found


def print_report(console: Console, found: dict[tuple[str, int], Command]) -> None:
    table = Table(title="weights, ε = 1: seconds of CPU, and gigabytes of memory")
    for header in ("goal", "rows", "CPU", "exponent", "peak GB"):
        table.add_column(header, justify="right")
    before: tuple[str, int] | None = None
    for (goal, rows), command in found.items():
        same = before is not None and before[0] == goal
        grown = math.log(command.cpu / found[before].cpu, rows / before[1]) if before is not None and same else None
        exponent = "" if grown is None else f"{grown:.2f}"
        table.add_row(goal, f"{rows:,}", f"{command.cpu:.2f}", exponent, f"{command.peak / GB:.2f}")
        before = goal, rows
    table.add_row("asked", f"{ASKED_ROWS:,}", f"< {ASKED_CPU:g}", "1", f"< {ASKED_GB:g}", style="dim")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="rows, with commas between")
    sizes = sorted(int(size) for size in parser.parse_args().sizes.split(","))
    CACHE.mkdir(exist_ok=True)
    console = Console()
    print_report(console, run(sizes, console))


if __name__ == "__main__":
    main()
