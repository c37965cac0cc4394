"""What private releases are worth, next to other private tools in one run: accuracy and AUC of classifiers, and tables.

    python bench/private.py [--splits 5] [--draws 3] [--epsilons 0.1,0.25,0.5,1,2] [--without aim,mst]
                            [--spec SPEC] [--write-docs]

Adult: 2/3 of the records are released, 1/3 are for tests. With `--spec`, the table of a private spec of numbers and of
categories with taxonomies takes its place. Nothing is asserted. Figures go to `.benchmarks/private.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from accuracy_diffgen import Setting, spec
from blowup import original_records
from diffgen import PEERS
from parts import fill
from places import CACHE, ROOT
from private_page import private_parts
from readers import Array, Coded, Readable, Scores, learned, scores, tables_kept
from rich.console import Console

from peers import python_with
from unveil import Release, load_spec, publish
from unveil.masking import Discretization
from unveil.noise import Ledger, SeededSource
from unveil.publishers.additive.bins import number_levels
from unveil.schema import AdditivePlan, Attribute, PrivatePlan, Spec
from unveil.tables import load_table

sys.path.insert(0, str(ROOT))
from reproduce.contingency import COUNT, contingency_table

SEED = 2011
H = 10
"""How many specializations DiffGen makes: as many as the bundled spec had for it."""
DELTA = 1e-9
DPMM = ("dpmm==0.1.9",)
FOUND = CACHE / "private.json"
PAGE = ROOT / "docs" / "additive.md"

Figures = dict[str, Scores]
Method = Callable[["Split", float, int], Figures]


@dataclass(frozen=True, eq=False)
class Split:
    """Rows that are released and rows for tests, with their public places."""

    spec: Spec
    train: pa.Table
    test: pa.Table

    @property
    def attributes(self) -> list[Attribute]:
        return list(self.spec.released)

    @property
    def class_(self) -> str:
        return self.spec.table.class_

    def labels(self, table: pa.Table) -> Array:
        """1 for the second declared class."""
        assert self.spec.table.class_values is not None
        return (np.array(table[self.class_].to_pylist()) == self.spec.table.class_values[1]).astype(np.int64)

    def truth(self) -> tuple[list[Array], list[int]]:
        """The true places of all columns and of the class."""
        places = [Public(attribute).places(self.train[attribute.name]) for attribute in self.attributes]
        sizes = [Public(attribute).size for attribute in self.attributes]
        return [*places, self.labels(self.train)], [*sizes, 2]


class Public:
    """The public places of an attribute: the finest bins of a number, the leaves of a category."""

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute
        if attribute.ordered:
            bins = number_levels(attribute)[-1]
            self.starts = np.array([bins.grid.value(place) for place in (0, *bins.thresholds)], dtype=np.float64)
            self.end = float(bins.grid.value(bins.grid.size))
            self.size = len(self.starts)
        else:
            assert attribute.taxonomy is not None
            self.leaves = list(attribute.taxonomy.leaves)
            self.size = len(self.leaves)

    def places(self, column: pa.ChunkedArray) -> Array:
        if self.attribute.ordered:
            return np.searchsorted(self.starts, column.to_numpy().astype(np.float64), side="right") - 1
        place_of = {leaf: place for place, leaf in enumerate(self.leaves)}
        return np.array([place_of[value] for value in column.to_pylist()])

    def spread(self, entry: object) -> Array:
        """How the blocks of a cut cover the places."""
        if isinstance(entry, Discretization):
            ends = np.append(self.starts[1:], self.end)
            shares = [
                np.clip(np.minimum(block.hi, ends) - np.maximum(block.lo, self.starts), 0, None)
                for block in entry.blocks
            ]
        else:
            shares = [np.isin(self.leaves, block.values) for block in entry.blocks]  # type: ignore[attr-defined]
        found = np.array(shares, dtype=np.float64)
        return found / found.sum(axis=1, keepdims=True)


def of_release(split: Split, release: Release) -> Readable:
    """A release of ours: its blocks as codes."""
    masked = release.masking.labels(split.test)
    columns = []
    for attribute in split.attributes:
        entry = release.masking.columns[attribute.name]
        code_of = {label: code for code, label in enumerate(entry.shown)}
        codes, test = (
            np.array([code_of[label] for label in table[attribute.name].to_pylist()])
            for table in (release.table, masked)
        )
        columns.append(Coded(codes, test, Public(attribute).spread(entry), attribute.ordered))
    return Readable(columns, split.labels(release.table), release.table.column(-1).to_numpy().astype(np.float64))


def of_places(split: Split, places: list[Array], labels: Array, weights: Array) -> Readable:
    """Rows of public places."""
    columns = [
        Coded(
            codes,
            (public := Public(attribute)).places(split.test[attribute.name]),
            np.eye(public.size),
            attribute.ordered,
        )
        for attribute, codes in zip(split.attributes, places, strict=True)
    ]
    return Readable(columns, labels, weights)


def read(split: Split, release: Readable) -> Figures:
    """What readers get from a release."""
    truth = split.labels(split.test)
    return {**dict(learned(release, truth)), "tables": tables_kept(release, *split.truth())}


def raw(split: Split, _epsilon: float, _seed: int) -> Figures:
    places, _ = split.truth()
    return read(split, of_places(split, places[:-1], places[-1], np.ones(split.train.num_rows)))


def additive(split: Split, epsilon: float, seed: int) -> Figures:
    plan = AdditivePlan(Fraction(str(epsilon)))
    return read(split, of_release(split, publish(split.train, replace(split.spec, plan=plan), unsafe_seed=seed)))


def diffgen(split: Split, epsilon: float, seed: int) -> Figures:
    plan = PrivatePlan(Fraction(str(epsilon)), H)
    return read(split, of_release(split, publish(split.train, replace(split.spec, plan=plan), unsafe_seed=seed)))


def contingency(split: Split, epsilon: float, seed: int) -> Figures:
    """The noisy table of all raw combinations."""
    table = load_table(split.spec, split.train)
    cells = contingency_table(table, Ledger(Fraction(str(epsilon))), SeededSource(seed))
    places = [Public(attribute).places(cells[attribute.name]) for attribute in split.attributes]
    return read(split, of_places(split, places, split.labels(cells), cells[COUNT].to_numpy().astype(np.float64)))


def synthetic(mechanism: str, split: Split, epsilon: float, seed: int) -> Figures:
    """AIM or MST (δ > 0), on the public places."""
    places, sizes = split.truth()
    names = [*(attribute.name for attribute in split.attributes), split.class_]
    with tempfile.TemporaryDirectory() as folder:
        table, domain, out = (str(Path(folder) / name) for name in ("codes.csv", "sizes.json", "out.csv"))
        pd.DataFrame(dict(zip(names, places, strict=True))).to_csv(table, index=False)
        Path(domain).write_text(json.dumps(dict(zip(names, sizes, strict=True))), encoding="utf-8")
        words = ["synthetic_peer.py", mechanism, table, domain, epsilon, DELTA, seed, out]
        _run(DPMM, *words)
        drawn = pd.read_csv(out)[names].to_numpy()
    return read(split, of_places(split, list(drawn.T[:-1]), drawn.T[-1], np.ones(len(drawn))))


def library(model: str, split: Split, epsilon: float, seed: int) -> Figures:
    """A model of diffprivlib on raw rows: a classifier, so there is no table to read."""
    publics = [Public(attribute) for attribute in split.attributes]
    train, test = (
        np.stack([public.places(table[public.attribute.name]) for public in publics], axis=1).astype(np.float64)
        for table in (split.train, split.test)
    )
    bounds = np.array([np.zeros(len(publics)), [public.size - 1 for public in publics]], dtype=np.float64)
    with tempfile.TemporaryDirectory() as folder:
        arrays = {"train": train, "labels": split.labels(split.train), "test": test, "bounds": bounds}
        paths = {name: str(Path(folder) / f"{name}.npy") for name in [*arrays, "out"]}
        for name, array in arrays.items():
            np.save(paths[name], array)
        files = [paths[name] for name in arrays]
        _run(PEERS, "private_peers.py", "chances", model, *files, epsilon, seed, paths["out"])
        return {"itself": scores(np.load(paths["out"]), split.labels(split.test))}


def _run(packages: tuple[str, ...], script: str, *words: object) -> None:
    python = str(python_with(*packages))
    subprocess.run(
        [python, str(Path(__file__).with_name(script)), *map(str, words)], check=True, stdout=subprocess.PIPE
    )


METHODS: dict[str, Method] = {
    "raw": raw,
    "additive": additive,
    "diffgen": diffgen,
    "contingency": contingency,
    "aim": partial(synthetic, "aim"),
    "mst": partial(synthetic, "mst"),
    "diffprivlib tree": partial(library, "tree"),
    "diffprivlib forest": partial(library, "forest"),
}


@cache
def _table(path: str | None) -> tuple[Spec, pa.Table]:
    if path is None:
        return load_spec(spec(Setting("full", 1.0, H))), original_records()
    loaded = load_spec(path)
    return loaded, pa.parquet.read_table(loaded.table.source)


def _measure(path: str | None, method: str, epsilon: float, number: int, draw: int) -> Figures:
    """One split into train and test, one release."""
    loaded, records = _table(path)
    order = np.random.default_rng((SEED, number)).permutation(records.num_rows)
    cut = records.num_rows * 2 // 3
    train, test = (records.take(pa.array(part)) for part in (order[:cut], order[cut:]))
    return METHODS[method](Split(loaded, train, test), epsilon, 1000 * number + draw)


def tasks(options: argparse.Namespace) -> Iterator[tuple[str | None, str, float, int, int]]:
    for method in METHODS:
        if method in options.without.split(","):
            continue
        for epsilon in [1.0] if method == "raw" else map(float, options.epsilons.split(",")):
            for number in range(options.splits):
                for draw in range(1 if method == "raw" else options.draws):
                    yield options.spec, method, epsilon, number, draw


def main() -> None:
    options = _options()
    CACHE.mkdir(exist_ok=True)
    for packages in (PEERS, DPMM):
        python_with(*packages)
    todo = list(tasks(options))
    found: dict[str, list[Figures]] = defaultdict(list)
    with Console().status("releases and readers") as status, ProcessPoolExecutor(options.workers) as pool:
        for (_, method, epsilon, _, _), figures in zip(todo, pool.map(_measure, *zip(*todo, strict=True)), strict=True):
            found[f"{method}@{epsilon:g}"].append(figures)
            status.update(f"{method}, ε = {epsilon:g}")
            FOUND.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    parts = private_parts(found, options.splits, options.draws)
    Console().print("\n\n".join(parts.values()))
    if options.write_docs:
        fill(PAGE, parts)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=5, help="random splits into train and test")
    parser.add_argument("--draws", type=int, default=3, help="releases of each split")
    parser.add_argument("--epsilons", default="0.1,0.25,0.5,1,2", help="with commas between")
    parser.add_argument("--without", default="", help="methods to leave out, with commas between")
    parser.add_argument("--spec", help="a private spec whose table takes the place of Adult")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--write-docs", action="store_true", help="write the figures into docs/additive.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
