"""How the search grows with its number of steps: tables where nearly every value takes a step of its own.

    python bench/steps.py [--first 1500]

Numbers: all different, random classes, k = 1, so that intervals are split down to single records. Values: suppressed,
two records each, random classes, k = 1, so that all are disclosed. Rests: the same values and one that is alone, k = 2,
by the joint search group by group and with the release: values are separated one after the other.

Each table is doubled three times. The exponent is the slope of the logarithms, from the first size to the last: 1 is in
proportion to the steps, 2 is to their square. Nothing is asserted. Figures go to the terminal and to
`.benchmarks/steps.json`.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
from places import CACHE
from rich.console import Console
from rich.table import Table

import unveil
from unveil.counting.memory import MemoryEngine
from unveil.publishers.refinement import start_search
from unveil.schema import load_spec
from unveil.tables import load_table

FIRST = 1500
DOUBLED = 3
SEED = 2007
WARM_UP = 300
FOUND = CACHE / "steps.json"

Made = tuple[pa.Table, dict[str, Any]]


@dataclass(frozen=True)
class Measured:
    """The CPU seconds of one search."""

    kind: str
    size: int
    steps: int
    seconds: float


def numbers(size: int) -> Made:
    """As many different numbers."""
    rng = np.random.default_rng(SEED)
    table = pa.table({"x": rng.permutation(size) + 0.5, "class": rng.choice(["a", "b"], size)})
    return table, {"kind": "number", "range": [0, size]}


def values(size: int) -> Made:
    """As many different values."""
    rng = np.random.default_rng(SEED)
    held = rng.permutation(np.arange(2 * size) % size)
    table = pa.table({"x": [f"v{value:07d}" for value in held], "class": rng.choice(["a", "b"], 2 * size)})
    return table, {"kind": "category"}


def rests(size: int) -> Made:
    """As many different values and one that a single record has, so that not all can be disclosed at once."""
    table, attribute = values(size)
    return pa.concat_tables([table, pa.table({"x": ["alone"], "class": ["a"]})]), attribute


KINDS: dict[str, Callable[[int], Made]] = {"numbers": numbers, "values": values, "rests": rests}


def measure(kind: str, size: int) -> Measured:
    """Searches one table; one of rests is also released."""
    table, attribute = KINDS[kind](size)
    local = kind == "rests"
    spec = load_spec(
        {
            "table": {"class": "class"},
            "attributes": {"x": attribute},
            "require": [{"kind": "k-anonymity", "quasi-identifier": ["x"], "k": 2 if local else 1}],
            "publish": {"search": "joint", "recoding": "local"} if local else {"search": "paper"},
        }
    )
    coded = load_table(spec, table)
    before = process_time()
    if local:
        steps = len(unveil.publish(table, spec).trace)
    else:
        steps = sum(1 for _ in start_search(coded, spec, MemoryEngine(coded)).steps())
    return Measured(kind, size, steps, process_time() - before)


def run(first: int, console: Console) -> list[Measured]:
    """Measures all kinds at all sizes, and keeps the figures."""
    measured = []
    with console.status("steps") as status:
        for kind in KINDS:
            measure(kind, WARM_UP)
            for size in (first << doubled for doubled in range(DOUBLED + 1)):
                status.update(f"steps, {size:,} {kind}")
                measured.append(measure(kind, size))
    CACHE.mkdir(exist_ok=True)
    FOUND.write_text(json.dumps([asdict(one) for one in measured], indent=1) + "\n", encoding="utf-8")
    return measured


def exponent(measured: Sequence[Measured]) -> float:
    """The power of the number of steps that the seconds grow with."""
    first, last = measured[0], measured[-1]
    return math.log(last.seconds / first.seconds) / math.log(last.steps / first.steps)


def print_report(console: Console, measured: Sequence[Measured]) -> None:
    table = Table(title="the search by its number of steps: CPU seconds")
    for header in ("", "size", "steps", "seconds", "ms a step", "times the size before"):
        table.add_column(header, justify="right", no_wrap=True)
    for kind in KINDS:
        before = None
        for one in (held for held in measured if held.kind == kind):
            ratio = f"{one.seconds / before:.2f}" if before else ""
            each = f"{1000 * one.seconds / one.steps:.2f}"
            table.add_row(kind, f"{one.size:,}", f"{one.steps:,}", f"{one.seconds:.2f}", each, ratio)
            before = one.seconds
    console.print(table)
    for kind in KINDS:
        power = exponent([one for one in measured if one.kind == kind])
        console.print(f"- {kind}: the time grows with the steps to the power of {power:.2f}.", highlight=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=FIRST, help="the smallest size")
    console = Console()
    print_report(console, run(parser.parse_args().first, console))


if __name__ == "__main__":
    main()
