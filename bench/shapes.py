"""How publishing grows with the rows of tables of awkward shapes.

    python bench/shapes.py [--rows 250000] [--shape NAME ...]

Each table is published with the defaults at n, 2n and 4n rows. The exponent is the slope of the logarithms from the
first size to the last: 1 is in proportion to the rows. Nothing is asserted. Figures go to the terminal and to
`.benchmarks/shapes.json`.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
from places import CACHE
from rich.console import Console
from rich.table import Table

import unveil
from unveil.schema import Taxonomy

ROWS = 250_000
DOUBLED = 2
WARM_UP = 2_000
K = 5
SEED = 2007
FOUND = CACHE / "shapes.json"

Made = tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]
"""The columns, the attributes and the requirements of a table."""


def _usual(rng: np.random.Generator, rows: int) -> Made:
    """Three attributes with few values, and the class."""
    columns = {name: rng.integers(0, size, rows) for name, size in (("age", 80), ("hours", 60), ("zone", 40))}
    columns["class"] = np.where(rng.random(rows) < columns["age"] / 160 + columns["zone"] / 160, "yes", "no")
    attributes = {name: {"kind": "number", "whole": True} for name in ("age", "hours", "zone")}
    return columns, attributes, [_anonymous(["age", "hours", "zone"])]


def _anonymous(names: list[str]) -> dict[str, Any]:
    return {"kind": "k-anonymity", "quasi-identifier": names, "k": K}


def _with(made: Made, name: str, values: Any, attribute: dict[str, Any]) -> Made:
    """One more attribute in the quasi-identifier."""
    columns, attributes, (requirement,) = made
    names = [*requirement["quasi-identifier"], name]
    return {**columns, name: values}, {**attributes, name: attribute}, [_anonymous(names)]


def wide(rng: np.random.Generator, rows: int) -> Made:
    """300 columns, most of them released as they are."""
    columns, attributes, requirements = _usual(rng, rows)
    texts = pa.array(list(map(str, range(20))))
    # As dictionaries: as text of NumPy the columns alone would take 25 GB.
    drawn = (rng.integers(0, 20, rows, dtype=np.int32) for _ in range(296))
    more = {f"c{number:03d}": pa.DictionaryArray.from_arrays(codes, texts) for number, codes in enumerate(drawn)}
    return {**columns, **more}, {**attributes, **{name: {"kind": "category"} for name in more}}, requirements


def categories(rng: np.random.Generator, rows: int) -> Made:
    """A suppressed attribute with as many values as rows, at most 100,000."""
    values = np.char.add("v", rng.integers(0, min(rows, 100_000), rows).astype(str))
    return _with(_usual(rng, rows), "code", values, {"kind": "category"})


def leaves(rng: np.random.Generator, rows: int) -> Made:
    """A taxonomy of 10,000 leaves."""
    tree = (
        "any",
        [(f"{a}", [(f"{a}.{b}", [(f"{a}.{b}.{c}", []) for c in range(20)]) for b in range(20)]) for a in range(25)],
    )
    place = rng.integers(0, 10_000, rows)
    values = [f"{at // 400}.{at // 20 % 20}.{at % 20}" for at in place.tolist()]
    return _with(_usual(rng, rows), "job", values, {"kind": "category", "taxonomy": Taxonomy(tree)})


def floats(rng: np.random.Generator, rows: int) -> Made:
    """A number that differs in every row."""
    return _with(_usual(rng, rows), "wage", rng.permutation(rows) + 0.25, {"kind": "number"})


def classes(rng: np.random.Generator, rows: int) -> Made:
    """1,000 classes."""
    columns, attributes, requirements = _usual(rng, rows)
    label = (columns["age"] * 12 + rng.integers(0, 40, rows)) % 1000
    return {**columns, "class": np.char.add("c", label.astype(str))}, attributes, requirements


def requirements(rng: np.random.Generator, rows: int) -> Made:
    """50 quasi-identifiers of three out of twenty attributes each."""
    names = [f"a{number:02d}" for number in range(20)]
    columns: dict[str, Any] = {name: rng.integers(0, 12, rows) for name in names}
    columns["class"] = np.where(rng.random(rows) < columns["a00"] / 24 + columns["a07"] / 24, "yes", "no")
    sets = {tuple(sorted(rng.choice(20, 3, replace=False).tolist())) for _ in range(60)}
    needed = [_anonymous([names[place] for place in held]) for held in sorted(sets)[:50]]
    return columns, {name: {"kind": "number", "whole": True} for name in names}, needed


SHAPES: dict[str, Callable[[np.random.Generator, int], Made]] = {
    shape.__name__: shape for shape in (wide, categories, leaves, floats, classes, requirements)
}


@dataclass(frozen=True)
class Measured:
    """The CPU seconds of one release, and those of verifying it."""

    shape: str
    rows: int
    groups: int
    publish: float
    verify: float


def measure(shape: str, rows: int) -> Measured:
    """Publishes one table, writes it and verifies it."""
    columns, attributes, needed = SHAPES[shape](np.random.default_rng(SEED), rows)
    spec = {"table": {"class": "class"}, "attributes": attributes, "require": needed}
    table = pa.table(columns)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        before = process_time()
        release = unveil.publish(table, spec)
        release.write(Path(folder) / "release")
        written = process_time()
        broken = unveil.verify(Path(folder) / "release")
        verified = process_time()
    if broken:
        raise RuntimeError(f"{shape}, {rows:,} rows: {broken[0]}")
    groups = sum(tree.leaves for tree in release.manifest.boxes)
    return Measured(shape, rows, groups, written - before, verified - written)


def exponent(first: Measured, last: Measured) -> float:
    """The power of the number of rows that the seconds grow with."""
    return math.log(last.publish / first.publish) / math.log(last.rows / first.rows)


def print_report(console: Console, measured: list[Measured]) -> None:
    table = Table(title="awkward shapes: CPU seconds")
    for header in ("", "rows", "leaves", "publish", "verify", "exponent"):
        table.add_column(header, justify="right", no_wrap=True)
    for shape in dict.fromkeys(one.shape for one in measured):
        held = [one for one in measured if one.shape == shape]
        for one in held:
            power = f"{exponent(held[0], one):.2f}" if one is not held[0] else ""
            table.add_row(shape, f"{one.rows:,}", f"{one.groups:,}", f"{one.publish:.2f}", f"{one.verify:.2f}", power)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=ROWS, help="the smallest size")
    parser.add_argument("--shape", nargs="*", choices=SHAPES, default=list(SHAPES))
    options = parser.parse_args()
    CACHE.mkdir(exist_ok=True)
    measured, console = [], Console()
    for shape in options.shape:
        measure(shape, WARM_UP)
        for doubled in range(DOUBLED + 1):
            measured.append(measure(shape, options.rows << doubled))
            console.print(f"{shape}, {measured[-1].rows:,} rows: {measured[-1].publish:.2f} s", highlight=False)
    print_report(console, measured)
    FOUND.write_text(json.dumps([asdict(one) for one in measured], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
