"""What private releases are worth, next to other private tools in one run: scores of classifiers, and tables.

    python bench/private.py [--tables adult,census] [--splits 5] [--draws 3] [--epsilons 0.1,0.25,0.5,1,2]
                            [--also aim,mst] [--without contingency] [--spec SPEC] [--resume] [--write-docs]

Adult: 2/3 of the records are released, 1/3 are for tests. Census-Income, where it is given, has one split of its own
and fewer ε. With `--spec`, the table of a private spec takes the place of both. `aim-authors` and `mst-authors` run
where PGM_MECHANISMS names the folder `mechanisms` of private-pgm. Nothing is asserted. Every figure goes to
`.benchmarks/private.json` as soon as it is measured; with `--resume` those that are there are not measured again.
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
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from diffgen import PEERS
from parts import fill
from places import CACHE, ROOT
from private_page import private_parts
from private_tables import TABLES, Public, Split, held, split_of
from readers import Array, Coded, Readable, Scores, learned, scores, tables_kept
from rich.console import Console

from peers import python_with
from unveil import Release, publish
from unveil.masking import dictionary_of
from unveil.noise import Ledger, SeededSource, TwoSidedGeometric
from unveil.schema import AdditivePlan, PrivatePlan, StatisticsPlan
from unveil.tables import load_table

sys.path.insert(0, str(ROOT))
from reproduce.contingency import COUNT, contingency_table

H = 10
"""How many specializations DiffGen makes: as many as the bundled spec had for it."""
DELTA = 1e-9
DPMM = ("dpmm==0.1.9",)
AUTHORS = ("mbi==1.0.0", "jax==0.7.0", "jaxlib==0.7.0", "chex==0.1.90", "pandas>=2.2,<3", "matplotlib>=3.8")
"""What the programs of private-pgm need; they fail with a later jax or pandas."""
MECHANISMS = os.environ.get("PGM_MECHANISMS")
FOUND = CACHE / "private.json"
PAGE = ROOT / "docs" / "additive.md"
BY_AUTHORS = ("aim-authors", "mst-authors")
SLOW = ("aim", "mst", *BY_AUTHORS)
"""Measured only if asked for, one release at each of a few ε: they take minutes for each."""
SLOW_EPSILONS = (0.1, 1.0)
LIMIT = 1800
"""Seconds after which another tool is stopped; it then has no figures."""
NEEDED = {
    **dict.fromkeys(SLOW, (DPMM,)),
    **dict.fromkeys(BY_AUTHORS, (AUTHORS,)),
    "diffprivlib tree": (PEERS,),
    "diffprivlib forest": (PEERS,),
}
"""The environments of other tools; they are made before the processes start."""
CENSUS_EPSILONS = (0.1, 0.25, 1.0)
TOO_WIDE = {"census": ("contingency", "diffprivlib tree", *SLOW)}
"""What is not measured on a table: the product of its domains is too large, or Adult says it all."""

Figures = dict[str, Scores]
Method = Callable[[Split, float, int], Figures]
Task = tuple[str, str, float, int, int]
"""Table, method, ε, split and draw."""


def of_release(split: Split, release: Release) -> Readable:
    """A release of ours: its blocks as codes."""
    masked = release.masking.labels(split.test)
    columns = []
    for attribute in split.attributes:
        entry = release.masking.columns[attribute.name]
        code_of = {label: code for code, label in enumerate(entry.shown)}
        codes, test = (_codes(table[attribute.name], code_of) for table in (release.table, masked))
        columns.append(Coded(codes, test, Public(attribute).spread(entry), attribute.ordered))
    return Readable(columns, split.labels(release.table), release.table.column(-1).to_numpy().astype(np.float64))


def _codes(column: pa.ChunkedArray, code_of: dict[str, int]) -> Array:
    distinct = dictionary_of(column)
    return np.array([code_of[label] for label in distinct.dictionary.to_pylist()])[distinct.indices.to_numpy()]


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


def statistics(split: Split, epsilon: float, seed: int) -> Figures:
    plan = StatisticsPlan(Fraction(str(epsilon)))
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


def marginals(split: Split, epsilon: float, seed: int) -> Figures:
    """A noisy table of each attribute and the class, which share ε; attributes are independent within a class.

    A record is in one cell of each table, so each gets ε divided by their number. There are no rows to learn from.
    """
    places, sizes = split.truth()
    *columns, classes = places
    noise = TwoSidedGeometric(Fraction(str(epsilon)) / len(columns), SeededSource(seed), longest=1 << 12)
    tables = []
    for column, size in zip(columns, sizes[:-1], strict=True):
        counts = np.bincount(column * 2 + classes, minlength=size * 2)
        tables.append(np.maximum(counts + noise.draw(len(counts)), 0).reshape(size, 2) + 1e-9)
    shares = np.mean([table.sum(axis=0) / table.sum() for table in tables], axis=0)
    within = [*(table / table.sum(axis=0) for table in tables), np.eye(2)]
    one = [
        distance(part @ shares, np.bincount(column, minlength=len(part)))
        for column, part in zip(places, within, strict=True)
    ]
    two = [
        distance(
            (within[a] * shares) @ within[b].T,
            np.bincount(places[a] * sizes[b] + places[b], minlength=sizes[a] * sizes[b]).reshape(sizes[a], sizes[b]),
        )
        for a, b in combinations(range(len(places)), 2)
    ]
    return {"tables": {"one": float(np.mean(one)), "two": float(np.mean(two))}}


def distance(found: Array, true: Array) -> float:
    """The total variation of shares from counts."""
    return float(np.abs(found - true / true.sum()).sum() / 2)


def synthetic(mechanism: str, split: Split, epsilon: float, seed: int, by_authors: bool = False) -> Figures:
    """AIM or MST (δ > 0), on the public places: of dpmm, or of their authors."""
    places, sizes = split.truth()
    names = [*(attribute.name for attribute in split.attributes), split.class_]
    with tempfile.TemporaryDirectory() as folder:
        table, domain, out = (str(Path(folder) / name) for name in ("codes.csv", "sizes.json", "out.csv"))
        pd.DataFrame(dict(zip(names, places, strict=True))).to_csv(table, index=False)
        Path(domain).write_text(json.dumps(dict(zip(names, sizes, strict=True))), encoding="utf-8")
        words = ["synthetic_peer.py", mechanism, table, domain, epsilon, DELTA, seed, out]
        _run(*((AUTHORS, *words, MECHANISMS) if by_authors else (DPMM, *words)))
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
        [python, str(Path(__file__).with_name(script)), *map(str, words)],
        check=True,
        stdout=subprocess.PIPE,
        timeout=LIMIT,
    )


METHODS: dict[str, Method] = {
    "raw": raw,
    "additive": additive,
    "statistics": statistics,
    "diffgen": diffgen,
    "contingency": contingency,
    "marginals": marginals,
    "aim": partial(synthetic, "aim"),
    "mst": partial(synthetic, "mst"),
    "aim-authors": partial(synthetic, "aim", by_authors=True),
    "mst-authors": partial(synthetic, "mst", by_authors=True),
    "diffprivlib tree": partial(library, "tree"),
    "diffprivlib forest": partial(library, "forest"),
}


def measure(task: Task) -> Figures:
    """One split into train and test, one release; nothing of a tool that was stopped."""
    table, method, epsilon, number, draw = task
    try:
        return METHODS[method](split_of(table, number), epsilon, 1000 * number + draw)
    except subprocess.TimeoutExpired:
        return {}


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """All that is to be measured, the slowest first so that no process waits for the last of them."""
    tables = [options.spec] if options.spec else [name for name in options.tables.split(",") if held(name)]
    also, without = options.also.split(","), options.without.split(",")
    epsilons = [float(epsilon) for epsilon in options.epsilons.split(",")]
    for table in sorted(tables, reverse=True):
        for method in METHODS:
            if method in (*without, *TOO_WIDE.get(table, ())) or (method in SLOW and method not in also):
                continue
            if method in BY_AUTHORS and MECHANISMS is None:
                continue
            few = CENSUS_EPSILONS if table == "census" else SLOW_EPSILONS if method in SLOW else epsilons
            for epsilon in [1.0] if method == "raw" else [epsilon for epsilon in epsilons if epsilon in few]:
                for number in range(1 if table == "census" or method in SLOW else options.splits):
                    for draw in range(1 if method == "raw" or method in SLOW else options.draws):
                        yield table, method, epsilon, number, draw


def main() -> None:
    options = _options()
    CACHE.mkdir(exist_ok=True)
    if MECHANISMS is None and set(BY_AUTHORS) & set(options.also.split(",")):
        Console().print("private-pgm is skipped: PGM_MECHANISMS does not name its folder.", highlight=False)
    todo = list(tasks(options))
    for packages in {packages for _, method, *_ in todo for packages in NEEDED.get(method, ())}:
        python_with(*packages)
    done = _stored() if options.resume else {}
    with Console().status("releases and readers") as status, ProcessPoolExecutor(options.workers) as pool:
        running = {pool.submit(measure, task): task for task in todo if task not in done}
        for place, result in enumerate(as_completed(running), start=1):
            done[running[result]] = result.result()
            status.update(f"{place} of {len(running)}: {running[result]}")
            _store(done)
    found: dict[str, dict[str, list[Figures]]] = defaultdict(lambda: defaultdict(list))
    for table, method, epsilon, number, draw in todo:
        found[table][f"{method}@{epsilon:g}"].append(done[table, method, epsilon, number, draw])
    parts = private_parts(found, options.splits, options.draws)
    Console().print("\n\n".join(parts.values()))
    if options.write_docs:
        fill(PAGE, parts)


def _stored() -> dict[Task, Figures]:
    kept = json.loads(FOUND.read_text(encoding="utf-8")) if FOUND.exists() else []
    return {(table, method, epsilon, number, draw): figures for (table, method, epsilon, number, draw), figures in kept}


def _store(done: dict[Task, Figures]) -> None:
    """Replaces the file at once, so that a run that is interrupted loses nothing."""
    draft = FOUND.with_suffix(".draft")
    draft.write_text(json.dumps(list(done.items())) + "\n", encoding="utf-8")
    draft.replace(FOUND)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default=",".join(TABLES), help="with commas between")
    parser.add_argument("--splits", type=int, default=5, help="random splits of Adult into train and test")
    parser.add_argument("--draws", type=int, default=3, help="releases of each split")
    parser.add_argument("--epsilons", default="0.1,0.25,0.5,1,2", help="with commas between")
    parser.add_argument(
        "--also", default="", help=f"slow methods to measure too, with commas between: {', '.join(SLOW)}"
    )
    parser.add_argument("--without", default="", help="methods to leave out, with commas between")
    parser.add_argument("--spec", help="a private spec whose table takes the place of the others")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--resume", action="store_true", help="keep what an interrupted run has measured")
    parser.add_argument("--write-docs", action="store_true", help="write the figures into docs/additive.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
