"""k-anonymity by several tools on the same rows, in one run: seconds, and what the result is worth.

    python bench/side_by_side.py [--sizes 30000,100000] [--limit 900] [--write-docs]

Every tool reads a csv file and writes the released rows to another, in a process of its own. pycanon counts k of each
result. ARX runs where ARX_JAR names its jar, sdcMicro where Rscript finds the package. Figures go to the terminal and
to `.benchmarks/side-by-side.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from blowup import blow_up, original_records
from page import side_part
from parts import fill
from places import CACHE, PAGE
from processes import Usage, run_watched
from results import load
from rich.console import Console
from rich.table import Table
from settings import CLASS, GA, PAPER, K, ga_domains, write_side_spec
from side_results import HEADER, KEPT, UNVEIL, Outcome, lines
from worth import drawn, read, worth

from peers import ANJANA, SUPPRESSION, absent, arx_command, python_with, sdcmicro_command, write_hierarchies
from unveil import open_release

SIZES = (30_000, 100_000)
TRAINING = 30_000
"""How many of the original records are for training; the rest are for testing."""
ANONYPY = ("anonypy==0.2.1", "pandas==2.3.3")
PYCANON = "pycanon==1.3.6"
LIMIT = 900


@dataclass(frozen=True)
class Files:
    """Where a tool finds its rows and puts what it makes of them."""

    train: Path
    test: Path
    folder: Path

    @property
    def out(self) -> Path:
        return self.folder / "out.csv"

    @property
    def masked(self) -> Path:
        """The test rows, masked as the release is."""
        return self.folder / "masked.csv"

    @property
    def in_order(self) -> tuple[Path, Path, Path, Path]:
        return self.train, self.test, self.out, self.masked


def run_unveil(files: Files, limit: float, publish: tuple[str, ...] = ()) -> Usage:
    unveil = [sys.executable, "-m", "unveil"]
    release = files.folder / "release"
    spec = write_side_spec(files.train, publish)
    usage = run_watched([*unveil, "publish", str(spec), "--to", str(release), "--format", "csv"], os.environ, limit)
    (release / "data.csv").rename(files.out)
    apply = [*unveil, "apply", str(release), str(files.test), "--to", str(files.masked)]
    subprocess.run(apply, check=True, stdout=subprocess.DEVNULL)
    return usage


def run_anjana(files: Files, limit: float) -> Usage:
    arguments = [
        files.train,
        write_hierarchies(ga_domains(), CACHE),
        K,
        SUPPRESSION,
        files.out,
        files.test,
        files.masked,
    ]
    return run_watched([str(python_with(ANJANA)), script("anjana_peer"), *map(str, arguments)], os.environ, limit)


def run_anonypy(files: Files, limit: float) -> Usage:
    arguments = [files.train, files.out, K, CLASS]
    return run_watched([str(python_with(*ANONYPY)), script("anonypy_peer"), *map(str, arguments)], os.environ, limit)


def run_arx(files: Files, limit: float) -> Usage:
    command = arx_command(ga_domains(), files.folder, files.in_order, K, CLASS, GA)
    return run_watched(command, os.environ, limit)


def run_sdcmicro(files: Files, limit: float) -> Usage:
    return run_watched(sdcmicro_command(ga_domains(), files.folder, files.in_order, K), os.environ, limit)


TOOLS: dict[str, Callable[[Files, float], Usage]] = {
    UNVEIL: run_unveil,
    "unveil, paper's search": partial(run_unveil, publish=PAPER),
    ANJANA: run_anjana,
    ANONYPY[0]: run_anonypy,
    "ARX": run_arx,
    "sdcMicro": run_sdcmicro,
}


def outcome(tool: str, rows: int, limit: float) -> Outcome:
    """A tool on a table, and what its result is worth."""
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        files = Files(_table(rows), _table(0), Path(folder))
        try:
            usage = TOOLS[tool](files, limit)
        except subprocess.TimeoutExpired:
            return Outcome(rows, tool, stopped=limit)
        release = files.folder / "release"
        masking = open_release(release).masking if release.exists() else None
        test, released = read(files.test), read(files.out)
        if files.masked.exists():
            learned, tested = released, read(files.masked).assign(**{CLASS: test[CLASS]})
        else:
            learned, tested = drawn(released, ga_domains()), test
        found = worth(read(files.train), released, learned, tested, [GA], ga_domains(), CLASS, masking)
        return Outcome(rows, tool, usage.seconds, usage.cpu, usage.peak, _k(files.out), found)


def baseline(rows: int) -> Outcome:
    """The raw rows, which nothing protects."""
    train, test = read(_table(rows)), read(_table(0))
    found = worth(train, train, train, test, [GA], ga_domains(), CLASS)
    return Outcome(rows, "raw rows", k=_k(_table(rows)), worth=found)


def _k(path: Path) -> int:
    arguments = [str(python_with(PYCANON)), script("pycanon_peer"), str(path), *GA]
    return int(subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1])


def script(name: str) -> str:
    return str(Path(__file__).with_name(f"{name}.py"))


def _table(rows: int) -> Path:
    """The training table of this many rows; the test table for None."""
    return CACHE / (f"side-{rows}.csv" if rows else "side-test.csv")


def write_tables(sizes: list[int]) -> None:
    """Original records to learn from and to test on; larger tables add variations of the former."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv

    records = original_records()
    order = np.random.default_rng(2007).permutation(records.num_rows)
    training = records.take(pa.array(order[:TRAINING]))
    columns = [*GA, CLASS]
    pa.csv.write_csv(records.take(pa.array(order[TRAINING:])).select(columns), _table(0))
    for rows in sizes:
        pa.csv.write_csv(blow_up(training, rows).select(columns), _table(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="rows of the tables, with commas between")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds after which a tool is stopped")
    parser.add_argument("--write-docs", action="store_true", help="write the figures into docs/scale.md")
    options = parser.parse_args()
    sizes = [int(rows) for rows in options.sizes.split(",")]
    CACHE.mkdir(exist_ok=True)
    write_tables(sizes)
    console = Console(width=max(Console().width, 150))
    skipped = absent()
    for reason in skipped.values():
        console.print(reason, highlight=False)
    before, outcomes = load(), []
    with console.status("side by side") as status:
        for rows in sizes:
            outcomes.append(baseline(rows))
            for tool in (tool for tool in TOOLS if tool not in skipped):
                status.update(f"{tool}, {rows:,} rows")
                outcomes.append(outcome(tool, rows, options.limit))
    kept = {"load": before, "limit": options.limit, "outcomes": [asdict(one) for one in outcomes]}
    KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    table = Table(title=f"k = {K} on {len(GA)} attributes: from csv to released csv")
    for title in HEADER:
        table.add_column(title, justify="left" if title == "tool" else "right", no_wrap=True)
    for row in lines(outcomes):
        table.add_row(*row)
    console.print(table)
    if options.write_docs:
        fill(PAGE, side_part())


if __name__ == "__main__":
    main()
