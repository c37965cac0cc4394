"""What it costs to count persons, and to publish after an earlier release: the blown-up Adult.

    python bench/persons.py [--rows 1000000]

There are 0.7 persons per row, as in a table of hospital encounters, and their rows differ. Both searches publish the
same rows in the same process, by records and by persons in turns. After an earlier release, each person has one row; a
tenth left and a tenth joined since, and a release by itself is published in turns. CPU seconds and ratios go to the
terminal and to `.benchmarks/persons.json`; by persons, 2 is the most that is asked for.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
from blowup import blow_up, original_records
from places import CACHE
from rich.console import Console
from rich.table import Table
from settings import CLASS, GA, RANGES, K, taxonomy_file

import unveil

PERSONS_PER_ROW = 0.7
SEED = 2007
ROUNDS = 3
WHO = "who"
FIRST = 10
"""How many times the later k the first release has."""
FOUND = CACHE / "persons.json"


def visits(rows: int) -> pa.Table:
    """Rows of patients, in no order."""
    who = np.random.default_rng(SEED).integers(0, int(rows * PERSONS_PER_ROW), rows)
    return blow_up(original_records(), rows).append_column(WHO, pa.array(who))


def spec(search: str, *, by_person: bool) -> dict[str, Any]:
    """The spec of the scale benchmark, by either search."""
    attributes = {
        name: {"kind": "number", "range": list(RANGES[name]), "whole": True}
        if name in RANGES
        else {"kind": "category", "taxonomy": str(taxonomy_file(name))}
        for name in GA
    }
    return {
        "table": {"class": CLASS, "others": "drop", **({"person": WHO} if by_person else {})},
        "attributes": attributes,
        "require": [{"kind": "k-anonymity", "quasi-identifier": list(GA), "k": K}],
        "publish": {"search": search},
    }


def seconds(table: pa.Table, asked: dict[str, Any]) -> float:
    """The CPU seconds of a release."""
    before = process_time()
    unveil.publish(table, asked)
    return process_time() - before


def measure(table: pa.Table, plain: dict[str, Any], other: dict[str, Any]) -> dict[str, float]:
    """The median of a few rounds, each by two specs in turns, after one that loads the loops."""
    for asked in (plain, other):
        # Of a small part, too many people would have left since an earlier release.
        seconds(table if "history" in asked["publish"] else table.slice(0, 5_000), asked)
    rounds = [[seconds(table, asked) for asked in (plain, other)] for _ in range(ROUNDS)]
    ratio = median(more / less for less, more in rounds)
    less, more = (median(times) for times in zip(*rounds, strict=True))
    return {"plain": less, "other": more, "ratio": ratio}


def measure_after(rows: int) -> dict[str, float]:
    """A release by itself, and the same table after an earlier release of it, a tenth of the people replaced."""
    people = blow_up(original_records(), rows + rows // 10)
    people = people.append_column(WHO, pa.array(np.random.default_rng(SEED).permutation(people.num_rows)))
    alone = spec("joint", by_person=True)
    with TemporaryDirectory() as folder:
        kept = {**alone, "publish": {"history": str(Path(folder) / "history")}}
        first = {**kept, "require": [{**alone["require"][0], "k": FIRST * K}]}
        unveil.publish(people.slice(0, rows), first).write(Path(folder) / "first")
        return measure(people.slice(rows // 10), alone, kept)


def main() -> None:
    """Measures, prints and keeps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    table = visits(rows)
    found = {
        f"{search}: by persons, not records": measure(
            table, spec(search, by_person=False), spec(search, by_person=True)
        )
        for search in ("paper", "joint")
    }
    found["joint: after another, not alone"] = measure_after(rows)
    shown = Table("", "without", "with", "ratio", title=f"CPU seconds to publish {rows:,} rows")
    for what, figures in found.items():
        shown.add_row(what, *(f"{figures[key]:.2f}" for key in ("plain", "other", "ratio")))
    Console().print(shown)
    CACHE.mkdir(exist_ok=True)
    FOUND.write_text(json.dumps({"rows": rows, **found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
