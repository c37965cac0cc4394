"""What it costs to count persons: the blown-up Adult, each row of some patient, published by records and by persons.

    python bench/persons.py [--rows 1000000]

There are 0.7 persons per row, as in a table of hospital encounters, and their rows differ. Both searches publish the
same rows in the same process, by records and by persons in turns. CPU seconds and ratios go to the terminal and to
`.benchmarks/persons.json`; 2 is the most that is asked for.
"""

from __future__ import annotations

import argparse
import json
from statistics import median
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


def seconds(table: pa.Table, search: str, *, by_person: bool) -> float:
    """The CPU seconds of a release."""
    before = process_time()
    unveil.publish(table, spec(search, by_person=by_person))
    return process_time() - before


def measure(table: pa.Table, search: str) -> dict[str, float]:
    """The median of a few rounds, each by records and by persons, after one that loads the loops."""
    small = table.slice(0, 5_000)
    for by_person in (False, True):
        seconds(small, search, by_person=by_person)
    rounds = [[seconds(table, search, by_person=by_person) for by_person in (False, True)] for _ in range(ROUNDS)]
    ratio = median(persons / records for records, persons in rounds)
    records, persons = (median(times) for times in zip(*rounds, strict=True))
    return {"records": records, "persons": persons, "ratio": ratio}


def main() -> None:
    """Measures, prints and keeps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    table = visits(rows)
    found = {search: measure(table, search) for search in ("paper", "joint")}
    shown = Table("search", "records", "persons", "ratio", title=f"CPU seconds to publish {rows:,} rows")
    for search, figures in found.items():
        shown.add_row(search, *(f"{figures[key]:.2f}" for key in ("records", "persons", "ratio")))
    Console().print(shown)
    CACHE.mkdir(exist_ok=True)
    FOUND.write_text(json.dumps({"rows": rows, **found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
