"""Each command at a million rows: seconds, and how often pandas or Arrow could read the same file meanwhile.

    python bench/verbs.py [--rows 1000000] [--before SOURCE] [--write-docs]

With `--before`, the folder `src` of an older version runs the same commands in turns with this one. The best of three
runs counts; `evaluate` and `report --owner` take long, run once and are not compared.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from measure import REPEATS, timed
from parts import fill
from places import CACHE, PAGE, table_file
from rich.console import Console
from rich.table import Table
from settings import ATTRIBUTES, GA, LOCAL, PAPER, QID, spec_text, write

from report import markdown

READ_CSV = "import pandas; pandas.DataFrame({'any': [1]}); read = pandas.read_csv"
READ_PARQUET = "import pyarrow.parquet; read = pyarrow.parquet.read_table"
TIMED = "\nimport sys, time\nbefore = time.perf_counter()\nread(sys.argv[1])\nprint(time.perf_counter() - before)"
HEADER = ("command", "seconds", "CPU", "before", "CPU", "× read")


@dataclass(frozen=True)
class Verb:
    """A command by its words, what is read as often in the same time, and how often it is run."""

    name: str
    words: tuple[str | Path, ...]
    reading: str
    source: Path
    runs: int = REPEATS


@dataclass(frozen=True)
class Took:
    """Seconds and CPU seconds."""

    seconds: float
    cpu: float


def verbs(rows: int, folder: Path, older: bool) -> Iterator[Verb]:
    """What an owner and a reader run, each on what the one before made; an older version knows one search only."""
    csv, parquet = table_file(rows, "csv"), table_file(rows, "parquet")
    paper, usual = ((), ()) if older else (PAPER, LOCAL)
    for suffix, names in (("", ATTRIBUTES), (", 8 attributes", GA)):
        at = partial(_spec, folder, names)
        release = folder / f"paper-{len(names)}"
        yield Verb(f"publish, paper's search{suffix}", ("publish", at(csv, paper), "--to", release), READ_CSV, csv)
        words = ("publish", at(parquet, paper), "--to", release.with_name(f"parquet-{len(names)}"))
        yield Verb(f"publish, paper's search, from parquet{suffix}", words, READ_PARQUET, parquet)
    for suffix, names in (("", ATTRIBUTES), (", 8 attributes", GA)):
        spec, local = _spec(folder, names, csv, usual), folder / f"local-{len(names)}"
        yield Verb(f"publish{suffix}", ("publish", spec, "--to", local), READ_CSV, csv)
        yield Verb(f"verify{suffix}", ("verify", local), READ_CSV, csv)
        target = folder / f"later-{len(names)}.parquet"
        yield Verb(f"apply{suffix}", ("apply", local, csv, "--to", target), READ_CSV, csv)
        yield Verb(f"evaluate{suffix}", ("evaluate", spec), READ_CSV, csv, 1)
        words = ("report", local, "--owner", spec, "--to", folder / f"page-{len(names)}.html")
        yield Verb(f"report --owner{suffix}", words, READ_CSV, csv, 1)


def _spec(folder: Path, names: QID, source: Path, publish: tuple[str, ...]) -> Path:
    """The spec of GA for a file, which attributes it releases, and how."""
    path = folder / f"{source.suffix[1:]}-{len(names)}-{len(publish)}.toml"
    return write(path, spec_text(str(source), names, (GA,), publish, drop=True))


def reading(verb: Verb) -> float:
    """Seconds in which the library reads the file, in a process of its own."""
    command = [sys.executable, "-c", verb.reading + TIMED, str(verb.source)]
    runs = (subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True) for _ in range(REPEATS))
    return min(float(run.stdout) for run in runs)


def measured(verb: Verb, source: Path | None) -> Took:
    """The best run of a command of the version in a folder; what it wrote is kept for the next command."""
    environment = dict(os.environ) | ({} if source is None else {"PYTHONPATH": str(source)})
    command = [sys.executable, "-m", "unveil", *map(str, verb.words)]
    found = []
    for _ in range(verb.runs):
        if "--to" in command:
            remove(Path(command[command.index("--to") + 1]))
        code, seconds, usage = timed(command, environment)
        if code:
            raise subprocess.CalledProcessError(code, command)
        found.append(Took(seconds, usage.ru_utime + usage.ru_stime))
    return Took(min(one.seconds for one in found), min(one.cpu for one in found))


def remove(path: Path) -> None:
    """Removes what an earlier run wrote, if any."""
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def table_rows(rows: int, folder: Path, older: Path | None) -> Iterator[tuple[str, ...]]:
    """A line per command."""
    now, then = (folder / name for name in ("now", "then"))
    for path in (now, then):
        path.mkdir()
    for verb, same in zip(verbs(rows, now, False), verbs(rows, then, True), strict=True):
        before = () if older is None or verb.runs == 1 else (measured(same, older),)
        took = measured(verb, None)
        figures = [f"{one:.2f}" for held in (took, *before) for one in (held.seconds, held.cpu)]
        yield verb.name, *figures, *[""] * (4 - len(figures)), f"{took.seconds / reading(verb):.1f}"


def verb_part(lines: list[tuple[str, ...]]) -> dict[str, str]:
    """The table, by the name that the page has for it."""
    return {"verbs": markdown(HEADER, *lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the table")
    parser.add_argument("--before", type=Path, help="the folder src of an older version")
    parser.add_argument("--write-docs", action="store_true", help="write the figures into docs/scale.md")
    options = parser.parse_args()
    subprocess.run([sys.executable, str(Path(__file__).with_name("blowup.py")), str(options.rows)], check=True)
    table = Table(*HEADER, title=f"GA at {options.rows:,} rows: seconds")
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        lines = list(table_rows(options.rows, Path(folder), options.before))
    for line in lines:
        table.add_row(*line)
    Console(width=110).print(table)
    if options.write_docs:
        fill(PAGE, verb_part(lines))


if __name__ == "__main__":
    main()
