"""What a command costs before and after its work, next to what its libraries take to import, in one run.

    python bench/start.py [--rows 1000000]

Nothing is asserted. CPU seconds hardly depend on what else runs on the machine, so ratios are of these.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import REPEATS, UNVEIL, publish_command
from places import BUNDLED, CACHE
from rich.console import Console
from rich.table import Table
from settings import SETTINGS, write_spec

WARM_UP_ROWS = 5_000
VERIFIED = """
import sys
from pathlib import Path
from time import process_time
from unveil.verifier import judge_release
folder = Path(sys.argv[1])
judge_release(folder)
before = process_time()
judge_release(folder)
print(process_time() - before)
"""
PUBLISHED = """
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
import unveil
def publish(spec):
    before = process_time()
    with TemporaryDirectory(dir=sys.argv[3]) as folder:
        unveil.publish(spec).write(Path(folder) / "release")
        return process_time() - before
publish(sys.argv[1])
print(min(publish(sys.argv[2]) for _ in range(2)))
"""
"""Reads, searches and writes in a process in which everything is loaded already."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the table that is published")
    rows = parser.parse_args().rows
    blowup = str(Path(__file__).with_name("blowup.py"))
    subprocess.run([sys.executable, blowup, str(WARM_UP_ROWS), str(rows)], check=True)
    table = Table("what", "CPU seconds", "asked", "found")
    for line in (version(), verify(), publish(rows), first_run()):
        table.add_row(*line)
    Console(width=110).print(table)


def version() -> tuple[str, ...]:
    command, imports = cpu([UNVEIL, "--version"]), cpu([sys.executable, "-c", "import typer, rich"])
    ratio = f"{command / imports:.1f} ×"
    return "unveil --version", f"{command:.2f}", "3 × import typer, rich", ratio


def verify() -> tuple[str, ...]:
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        release = Path(folder) / "release"
        subprocess.run(
            [UNVEIL, "publish", BUNDLED / "adult.toml", "--to", release], check=True, stdout=subprocess.DEVNULL
        )
        command = cpu([UNVEIL, "verify", release])
        own = worked(VERIFIED, release)
    imports = cpu([sys.executable, "-c", "import pyarrow.parquet"])
    ratio = f"{(command - own) / imports:.1f} ×, and {own:.2f} of work"
    return "unveil verify, the demo's release", f"{command:.2f}", "2 × import pyarrow.parquet, and its work", ratio


def publish(rows: int) -> tuple[str, ...]:
    spec = write_spec(SETTINGS[0], 0, rows)
    command = min(publish_command(spec).cpu for _ in range(REPEATS))
    own = worked(PUBLISHED, write_spec(SETTINGS[0], 0, WARM_UP_ROWS), spec, CACHE)
    found = f"{command - own:.2f} s beyond {own:.2f} s"
    return f"unveil publish, {rows:,} rows", f"{command:.2f}", "0.7 s beyond read, search and write", found


def first_run() -> tuple[str, ...]:
    spec = write_spec(SETTINGS[0], 0, WARM_UP_ROWS)
    first, usual = publish_command(spec, new=True), min(publish_command(spec).cpu for _ in range(REPEATS))
    found = f"{first.cpu - usual:.1f} s of compiling"
    return f"unveil publish, {WARM_UP_ROWS:,} rows, the first", f"{first.cpu:.2f}", "", found


def worked(program: str, *arguments: Path) -> float:
    """The CPU seconds that a program says its work takes once everything is loaded."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def cpu(command: list[str | Path]) -> float:
    """The CPU seconds of a command, the best of some runs; the first of them is not counted."""
    found = []
    for _ in range(REPEATS + 2):
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        found.append(usage.ru_utime + usage.ru_stime)
    return min(found[1:])


if __name__ == "__main__":
    main()
