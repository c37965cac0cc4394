"""What releases are worth at the same k: unveil's searches and other tools, on the same rows.

    python bench/same_k.py [--tables adult-8,census] [--k 100] [--splits 3] [--ways "joint, local"] [--write-docs]

Every release is counted again by a plain group-by. Figures go to the terminal and to `.benchmarks/same-k.json`; a run
of some tables, k or ways replaces theirs and keeps the others. ARX runs where ARX_JAR names its jar,
Census-Income where it is in the folder that DATA names.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from page import same_k_parts
from parts import fill
from places import CACHE, PAGE
from releases import ARX_JAR, Given, Made, raw, ways
from results import this_machine
from rich.console import Console
from rich.table import Table
from same_k_results import HEADER, RAW, RAW_K, Cell, kept, lines
from samples import KS, SAMPLES, Sample
from worth import BOOSTING, worth


def cells(sample: Sample, ks: Sequence[int], chosen: Sequence[str]) -> Iterator[Cell]:
    """Measures a table: raw, and each way at each k."""
    releases = {RAW: raw, **ways(sample)}
    for split, (train, test) in enumerate(sample.splits):
        parts = [sample.rows.take(part).to_pandas() for part in (train, test)]
        for way, release in releases.items():
            for k in (RAW_K,) if way == RAW else ks:
                if not chosen or way in chosen:
                    given = Given(sample, *parts, k)
                    yield _cell(given, way, split, release(given))


def _cell(given: Given, way: str, split: int, made: Made) -> Cell:
    sample = given.sample
    rows = given.train, made.released, made.learned, made.test
    found = worth(*rows, sample.qids, sample.domains(), sample.class_, made.masking)
    if found.k < given.k:
        raise RuntimeError(f"{way} released a group of {found.k} for k = {given.k}")
    return Cell(sample.name, given.k, way, split, len(given.train), found)


def main() -> None:
    options = _options()
    # A file or a pipe is 80 characters wide to rich, which would cut the table.
    console = Console(width=max(Console().width, 120))
    CACHE.mkdir(exist_ok=True)
    found = kept()
    found.machine, found.boosting = str(this_machine()), BOOSTING
    if ARX_JAR is None:
        console.print("ARX is skipped: ARX_JAR does not name its jar.", highlight=False)
    for name in options.tables.split(","):
        sample = SAMPLES[name](options.splits)
        if sample is None:
            console.print(f"{name} is skipped: its files are not in the data folder (DATA).", highlight=False)
            continue
        measured = []
        for cell in cells(sample, [int(k) for k in options.k.split(",")], options.ways):
            found.add(cell)
            measured.append(cell)
        _show(console, sample.name, measured)
    if options.write_docs:
        fill(PAGE, same_k_parts())


def _show(console: Console, title: str, measured: Sequence[Cell]) -> None:
    table = Table(title=f"{title}: percent; boosting is {BOOSTING}")
    for name in HEADER:
        table.add_column(name, justify="left" if name == "release" else "right", no_wrap=True)
    for line in lines(measured):
        table.add_row(*line)
    console.print(table)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default=",".join(SAMPLES), help="tables, with commas between")
    parser.add_argument("--k", default=",".join(map(str, KS)), help="values of k, with commas between")
    parser.add_argument("--splits", type=int, default=3, help="how many splits of each table")
    parser.add_argument("--ways", nargs="*", default=(), help="only these releases")
    parser.add_argument("--write-docs", action="store_true", help="write all kept figures into docs/scale.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
