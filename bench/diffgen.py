"""DiffGen on Adult blown up to a million rows (Figure 5: h = 15, ε = 1), next to diffprivlib and OpenDP in one run.

    python bench/diffgen.py [--sizes 200000,500000,1000000]

Nothing is asserted. Figures go to the terminal and to `.benchmarks/diffgen.json`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from time import perf_counter
from typing import Any

from best import best_command
from measure import Command
from places import CACHE, table_file
from rich.console import Console
from rich.table import Table
from settings import ATTRIBUTES, CLASS, RANGES, taxonomy_file

SPECIALIZATIONS = 15
EPSILON = 1.0
DEPTH = 8
REPEATS = 5
SIZES = (200_000, 500_000, 1_000_000)
WARM_UP_ROWS = 5_000
DRAWS = 1_000_000
DRAWN_AT = (1.0, 0.1, 0.001)
"""The ε at which noise is drawn."""
FOUND = CACHE / "diffgen.json"
# scikit-learn is older than ours, so these tools get an environment of their own.
PEERS = ("diffprivlib==0.6.6", "scikit-learn==1.5.2", "opendp==0.16.0", "pandas>=2.1", "pyarrow>=17")
ENVIRONMENT = CACHE / "venv-private"

ASKED_ROWS = 1_000_000
ASKED_SEARCH = 0.5
ASKED_PASSES = 1.0
GB = 1e9


@dataclass(frozen=True)
class Stages:
    """Seconds of each stage. Passes over the rows are the best of several; what depends on draws is the mean."""

    read: float
    histograms: float
    search: float
    slowest_search: float
    cells: float
    noise: float
    write: float
    columns: int
    """Bytes of the columns in codes."""
    product: int
    """Cells of the product of the cuts, in the last run."""
    published: int
    """Rows that were published, in the last run."""


@dataclass(frozen=True)
class Measured:
    """One size of the table."""

    rows: int
    stages: Stages
    command: Command
    peer: float
    """Seconds of diffprivlib's decision tree."""


@dataclass(frozen=True)
class Drawn:
    """Noise for a million counts: seconds here and with OpenDP."""

    epsilon: float
    ours: float
    peer: float


@dataclass(frozen=True)
class Results:
    measured: list[Measured]
    drawn: list[Drawn]


def run(sizes: Sequence[int], console: Console) -> Results:
    """Measures everything, and keeps the figures."""
    # In a process of its own: a child's peak is never below its parent's.
    blowup = str(Path(__file__).with_name("blowup.py"))
    subprocess.run([sys.executable, blowup, str(WARM_UP_ROWS), *map(str, sizes)], check=True)
    with console.status("other tools") as status, tempfile.TemporaryDirectory(dir=CACHE) as folder:
        _prepare()
        measured = []
        for rows in sizes:
            status.update(f"DiffGen, {rows:,} rows")
            spec, warm_up = (write_spec(Path(folder), size) for size in (rows, WARM_UP_ROWS))
            stages = Stages(**_json([sys.executable, __file__, "--stages", str(spec), str(warm_up)]))
            command = best_command(spec)
            status.update(f"diffprivlib, {rows:,} rows")
            measured.append(Measured(rows, stages, command, _peer("tree", table_file(rows, "parquet"), CLASS, DEPTH)))
        status.update("noise")
        drawn = [
            Drawn(epsilon, _json([sys.executable, __file__, "--draws", str(epsilon)]), _peer("draws", epsilon, DRAWS))
            for epsilon in DRAWN_AT
        ]
    results = Results(measured, drawn)
    FOUND.write_text(json.dumps(asdict(results), indent=1) + "\n", encoding="utf-8")
    return results


PUBLISH = ('method = "diffgen"', f"specializations = {SPECIALIZATIONS}")


def write_spec(folder: Path, rows: int, publish: Sequence[str] = PUBLISH, ending: str = "csv") -> Path:
    """A folder below the cache, so that the owner's ledger of the benchmark goes with it."""
    lines = ["[table]", f'source = "../{table_file(rows, ending).name}"', f'class = "{CLASS}"']
    for name in ATTRIBUTES:
        lines += ["", f"[attributes.{name}]"]
        if name in RANGES:
            lines += ['kind = "number"', f"range = {json.dumps(RANGES[name])}", "whole = true"]
        else:
            lines += ['kind = "category"', f"taxonomy = {json.dumps(str(taxonomy_file(name)))}"]
    lines += ["", f"[attributes.{CLASS}]", 'kind = "category"', 'values = ["<=50K", ">50K"]']
    lines += ["", "[[require]]", 'kind = "differential-privacy"', f"epsilon = {EPSILON}"]
    lines += ["", "[publish]", *publish]
    path = folder / f"diffgen-{rows}.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def print_report(console: Console, results: Results) -> None:
    table = Table(title=f"DiffGen, h = {SPECIALIZATIONS}, ε = {EPSILON:g}: seconds, and gigabytes of memory")
    headers = ("rows", "read", "histograms", "search", "cells", "noise", "write", "command", "peak GB", "diffprivlib")
    for header in headers:
        table.add_column(header, justify="right", no_wrap=True)
    for one in results.measured:
        stages = one.stages
        seconds = (stages.read, stages.histograms, stages.search, stages.cells, stages.noise, stages.write)
        figures = (*seconds, one.command.seconds, one.command.peak / GB, one.peer)
        table.add_row(f"{one.rows:,}", *(f"{figure:.2f}" for figure in figures))
        if one.rows == ASKED_ROWS:
            passes = f"< {ASKED_PASSES:g} together"
            table.add_row("asked", "", passes, f"< {ASKED_SEARCH:g}", "", "", "", "", "", "", style="dim")
    console.print(table)
    for sentence in sentences(results):
        console.print(f"- {sentence}", markup=False, highlight=False, soft_wrap=True)


def sentences(results: Results) -> list[str]:
    """What the figures say."""
    said = []
    for one in results.measured:
        stages = one.stages
        passes = stages.histograms + stages.cells
        whole = passes + stages.search + stages.noise
        said.append(
            f"{one.rows:,} rows: both passes over the rows {passes:.2f} s, search {stages.search:.2f} s (the slowest "
            f"of {REPEATS}: {stages.slowest_search:.2f} s); {stages.published:,} rows published of {stages.product:,} "
            f"cells; columns of {stages.columns / GB:.2f} GB. diffprivlib's tree of depth {DEPTH}: {one.peer:.2f} s, "
            f"{one.peer / whole:.1f} times DiffGen from columns to noisy counts."
        )
    first, last = results.measured[0], results.measured[-1]
    if first.rows != last.rows:
        passes = [one.stages.histograms + one.stages.cells for one in (first, last)]
        said.append(
            f"{last.rows / first.rows:.1f} times the rows take {passes[1] / passes[0]:.1f} times the passes, and "
            f"{last.stages.search / first.stages.search:.1f} times the search."
        )
    if died := sum(one.command.died for one in results.measured):
        said.append(f"A signal ended {died} of the commands; they were run again and are not in the figures.")
    for drawn in results.drawn:
        ours, peer = (DRAWS / seconds for seconds in (drawn.ours, drawn.peer))
        said.append(
            f"noise at ε = {drawn.epsilon:g}: {ours / 1e6:.1f} million draws a second, from the operating system's "
            f"randomness; OpenDP's discrete Laplace, a million in one call: {peer / 1e6:.2f} million."
        )
    return said


def _prepare() -> None:
    ready = ENVIRONMENT / ".ready"
    if not ready.exists():
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        pip = [str(ENVIRONMENT / "bin" / "python"), "-m", "pip", "install", "--quiet", *PEERS]
        subprocess.run(pip, check=True)
        ready.touch()


def _peer(kind: str, *words: object) -> float:
    script = Path(__file__).with_name("private_peers.py")
    last = [EPSILON] if kind == "tree" else []
    found = _json([str(ENVIRONMENT / "bin" / "python"), str(script), kind, *map(str, [*words, *last])])
    return float(found["seconds"])


def _json(arguments: list[str]) -> Any:
    return json.loads(subprocess.run(arguments, stdout=subprocess.PIPE, check=True, text=True).stdout)


def _stages(spec_file: Path) -> Stages:
    # Imported here, because the process that measures peaks must stay small.
    from unveil.counting.memory import MemoryEngine
    from unveil.noise import SystemSource
    from unveil.publishers.private import publish_diffgen
    from unveil.schema import load_spec
    from unveil.tables import load_table
    from unveil.version import __version__

    class TimedEngine(MemoryEngine):
        """Notes when the passes over the rows begin and end; the search is between them."""

        def histograms(self) -> Any:
            begins = perf_counter()
            found = super().histograms()
            self.histogrammed = (begins, perf_counter())
            return found

        def cells(self, cuts: Any) -> Any:
            begins = perf_counter()
            found = super().cells(cuts)
            self.counted = (begins, perf_counter())
            return found

    spec = load_spec(spec_file)
    plan = spec.plan
    assert plan is not None
    before = perf_counter()
    table = load_table(spec)
    read = perf_counter() - before
    histograms, search, cells, noise = [], [], [], []
    for _ in range(REPEATS):
        engine = TimedEngine(table)
        release = publish_diffgen(table, spec, plan, engine, SystemSource(), __version__)
        ended = perf_counter()
        histograms.append(engine.histogrammed[1] - engine.histogrammed[0])
        search.append(engine.counted[0] - engine.histogrammed[1])
        cells.append(engine.counted[1] - engine.counted[0])
        noise.append(ended - engine.counted[1])
    before = perf_counter()
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        release.write(Path(folder) / "release")
    write = perf_counter() - before
    return Stages(
        read=read,
        histograms=min(histograms),
        search=mean(search),
        slowest_search=max(search),
        cells=min(cells),
        noise=mean(noise),
        write=write,
        columns=sum(column.codes.nbytes for column in (*table.columns, table.classes)),
        product=release.manifest.cells,
        published=release.table.num_rows,
    )


def _draws(epsilon: float) -> float:
    from fractions import Fraction

    from unveil.noise import SystemSource, TwoSidedGeometric

    def draw() -> float:
        before = perf_counter()
        TwoSidedGeometric(Fraction(str(epsilon)), SystemSource()).draw(DRAWS)
        return perf_counter() - before

    return min(draw() for _ in range(3))


def main() -> None:
    options = _options()
    if options.stages:
        spec, warm_up = options.stages
        _stages(Path(warm_up))
        print(json.dumps(asdict(_stages(Path(spec)))))
    elif options.draws:
        print(json.dumps(_draws(options.draws)))
    else:
        console = Console(width=max(110, Console().width))
        sizes = sorted({int(rows) for rows in options.sizes.split(",")})
        print_report(console, run(sizes, console))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="rows of the tables, with commas between")
    # For the processes of their own that this script starts.
    parser.add_argument("--stages", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--draws", type=float, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
