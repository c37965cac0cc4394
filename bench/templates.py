"""PDA on Adult blown up to a million rows: Section 5.3 of the paper.

    python bench/templates.py [--sizes 200000,500000,1000000]

The sensitive values are the 50% least frequent of marital-status; the channel is the other 7 categorical attributes, by
suppression; the limit is 90%. Variations of a record have random values of up to 7 attributes of the channel and keep
the rest. Nothing is asserted. Figures go to the terminal and to `.benchmarks/templates.json`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from best import best_command
from measure import Command, Stages, stages
from places import CACHE
from rich.console import Console
from rich.table import Table
from settings import CLASS, PUBLISH

SENSITIVE = "marital-status"
CHANNEL = ("workclass", "education", "occupation", "relationship", "race", "sex", "native-country")
LIMIT = 0.9
SEED = 2005
SIZES = (200_000, 500_000, 1_000_000)
WARM_UP_ROWS = 5_000
FOUND = CACHE / "templates.json"

ASKED_ROWS = 1_000_000
ASKED_SEARCH = 2.0
REPORTED = 150
"""Seconds in the paper, for a million records."""
GB = 1e9


@dataclass(frozen=True)
class Measured:
    """One size of the table."""

    rows: int
    stages: Stages
    command: Command


def run(sizes: Sequence[int], console: Console) -> list[Measured]:
    """Measures everything, and keeps the figures."""
    # In a process of its own: a child's peak is never below its parent's.
    subprocess.run([sys.executable, __file__, "--tables", *map(str, (WARM_UP_ROWS, *sizes))], check=True)
    measured = []
    with console.status("templates") as status:
        for rows in sizes:
            status.update(f"templates, {rows:,} rows")
            command = best_command(_spec(rows))
            measured.append(Measured(rows, stages(_spec(rows), _spec(WARM_UP_ROWS)), command))
    FOUND.write_text(json.dumps([asdict(one) for one in measured], indent=1) + "\n", encoding="utf-8")
    return measured


def print_report(console: Console, measured: Sequence[Measured]) -> None:
    table = Table(title=f"templates on {SENSITIVE}, limit {LIMIT:.0%}: seconds, and gigabytes of memory")
    for header in ("rows", "read", "search", "disclosures", "mask, write", "command", "peak GB"):
        table.add_column(header, justify="right", no_wrap=True)
    for one in measured:
        seconds = (f"{figure:.2f}" for figure in (one.stages.read, one.stages.search))
        rest = (f"{figure:.2f}" for figure in (one.stages.write, one.command.seconds, one.command.peak / GB))
        table.add_row(f"{one.rows:,}", *seconds, str(one.stages.refinements), *rest)
        if one.rows == ASKED_ROWS:
            table.add_row("asked", "", f"< {ASKED_SEARCH:g}", "", "", "", "", style="dim")
    console.print(table)
    for sentence in sentences(measured):
        console.print(f"- {sentence}", markup=False, highlight=False, soft_wrap=True)


def sentences(measured: Sequence[Measured]) -> list[str]:
    """What the figures say."""
    first, last = measured[0], measured[-1]
    said = []
    if first.rows != last.rows:
        said.append(
            f"{last.rows / first.rows:.1f} times the rows ({first.rows:,} to {last.rows:,}) take "
            f"{last.stages.search / first.stages.search:.1f} times the search."
        )
    if died := sum(one.command.died for one in measured):
        said.append(f"A signal ended {died} of the commands; they were run again and are not in the figures.")
    said.append(
        f"Reported elsewhere, on another machine: {REPORTED} s of suppression for 1M records (Wang, Fung and Yu, "
        "Template-Based Privacy Preservation in Classification Problems, ICDM 2005, Section 5.3)."
    )
    return said


def _table(rows: int, ending: str) -> Path:
    return CACHE / f"adult-templates-{rows}.{ending}"


def _spec(rows: int) -> Path:
    return _table(rows, "toml")


def _write_tables(sizes: Sequence[int]) -> None:
    """Writes the tables that the cache does not hold yet, as csv and parquet, and the specs."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet
    from blowup import original_records

    records = original_records()
    counts = sorted(records[SENSITIVE].value_counts().to_pylist(), key=lambda entry: entry["counts"])
    rare = [entry["values"] for entry in counts[: len(counts) // 2]]
    CACHE.mkdir(exist_ok=True)
    for rows in sizes:
        _write_spec(rows, rare)
        if _table(rows, "csv").exists() and _table(rows, "parquet").exists():
            continue
        rng = np.random.default_rng(SEED)
        sources = np.arange(rows) % records.num_rows
        order = rng.permuted(np.tile(np.arange(len(CHANNEL)), (rows, 1)), axis=1)
        replaced = order < rng.integers(1, len(CHANNEL), size=(rows, 1), endpoint=True)
        replaced[: records.num_rows] = False
        columns = {}
        for place, name in enumerate(CHANNEL):
            encoded = records[name].combine_chunks().dictionary_encode()
            codes = encoded.indices.to_numpy()[sources]
            varied = np.where(replaced[:, place], rng.integers(len(encoded.dictionary), size=rows), codes)
            columns[name] = encoded.dictionary.take(pa.array(varied))
        kept = {name: records[name].take(pa.array(sources)) for name in (SENSITIVE, CLASS)}
        table = pa.table({**columns, **kept})
        for ending, write in (("csv", pa.csv.write_csv), ("parquet", pa.parquet.write_table)):
            draft = Path(f"{_table(rows, ending)}.part")
            write(table, draft)
            draft.rename(_table(rows, ending))


def _write_spec(rows: int, rare: Sequence[str]) -> None:
    lines = ["[table]", f'source = "{_table(rows, "csv").name}"', f'class = "{CLASS}"']
    for name in (*CHANNEL, SENSITIVE):
        lines += ["", f"[attributes.{name}]", 'kind = "category"']
    lines += ["", "[[require]]", 'kind = "confidence"', f"channel = {json.dumps(CHANNEL)}"]
    lines += [f'sensitive = "{SENSITIVE}"', f"values = {json.dumps(rare)}", f"limit = {LIMIT}"]
    lines += PUBLISH
    _spec(rows).write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    options = _options()
    if options.tables:
        _write_tables(options.tables)
    else:
        console = Console()
        print_report(console, run(sorted({int(rows) for rows in options.sizes.split(",")}), console))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="rows of the tables, with commas between")
    # For the process of its own that this script starts.
    parser.add_argument("--tables", nargs="+", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
