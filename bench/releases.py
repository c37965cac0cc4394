"""The ways to release a table at a k that are compared: the searches of unveil, and other tools.

Each gives the released training rows, and test rows masked by the same release. Where a tool cannot mask later rows,
the released ones are drawn from their labels instead and the test rows are raw.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from places import CACHE
from processes import run_watched
from samples import Sample
from side_by_side import ANONYPY, script
from worth import drawn, read

from peers import ANJANA, ARX_JAR, SUPPRESSION, arx_command, python_with, write_hierarchies
from unveil import Masking, publish

LIMIT = 900.0
"""Seconds after which another tool is stopped."""


@dataclass(frozen=True)
class Given:
    """The rows of a split, raw."""

    sample: Sample
    train: pd.DataFrame
    test: pd.DataFrame
    k: int


@dataclass(frozen=True)
class Made:
    """What a way made of them: rows to measure, rows to learn from, and test rows that fit the latter."""

    released: pd.DataFrame
    learned: pd.DataFrame
    test: pd.DataFrame
    masking: Masking | None = None
    """Says which labels of the rows overlap, where groups have labels of their own."""


def raw(given: Given) -> Made:
    return Made(given.train, given.train, given.test)


def searched(**settings: Any) -> Callable[[Given], Made]:
    """unveil with these settings of `[publish]`."""

    def release(given: Given) -> Made:
        settled = {key.replace("_", "-"): value for key, value in settings.items()}
        made = publish(given.train, given.sample.spec(given.k, settled))
        rows = made.table.to_pandas()
        masked = made.masking.rows(_arrow(given.test)).to_pandas()
        return Made(rows, rows, masked, made.masking)

    return release


def anjana(given: Given) -> Made:
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        folder = Path(name)
        train, test = _write(given, folder, [*given.train])
        files = [train, write_hierarchies(given.sample.domains(), folder), given.k, SUPPRESSION]
        files += [folder / "out.csv", test, folder / "masked.csv"]
        _run([python_with(ANJANA), script("anjana_peer"), *files])
        released = read(folder / "out.csv")
        return Made(released, released, _with_class(read(folder / "masked.csv"), given))


def anonypy(given: Given) -> Made:
    """Groups and their counts are all that anonypy gives, so other columns are lost."""
    sample = given.sample
    held = [*sample.masked, sample.class_]
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        folder = Path(name)
        train, _ = _write(given, folder, held)
        _run([python_with(*ANONYPY), script("anonypy_peer"), train, folder / "out.csv", given.k, sample.class_])
        released = read(folder / "out.csv")
    return Made(released, drawn(released, sample.domains()), given.test[held])


def arx(given: Given) -> Made:
    """ARX with its classification metric, 5% of the rows left out at most."""
    sample = given.sample
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        folder = Path(name)
        files = [*_write(given, folder, [*given.train]), folder / "out.csv", folder / "masked.csv"]
        _run(arx_command(sample.domains(), folder, files, given.k, sample.class_, sample.masked))
        released = read(folder / "out.csv")
        return Made(released, released, _with_class(read(folder / "masked.csv"), given))


UNVEIL: dict[str, Callable[[Given], Made]] = {
    "paper": searched(search="paper"),
    "joint, global": searched(search="joint", recoding="global"),
    "joint, local": searched(search="joint", recoding="local"),
    "joint, local, by anonymity": searched(search="joint", recoding="local", criterion="anonymity"),
}
FOR_ONE: dict[str, Callable[[Given], Made]] = {
    "joint, global, 1% out": searched(search="joint", recoding="global", leave_out="1%"),
    ANJANA: anjana,
    ANONYPY[0]: anonypy,
} | ({"ARX": arx} if ARX_JAR else {})
"""The ways that take one quasi-identifier only."""


def ways(sample: Sample) -> dict[str, Callable[[Given], Made]]:
    return UNVEIL | (FOR_ONE if len(sample.qids) == 1 else {})


def _write(given: Given, folder: Path, columns: list[str]) -> tuple[Path, Path]:
    files = folder / "train.csv", folder / "test.csv"
    for rows, file in zip((given.train, given.test), files, strict=True):
        rows[columns].to_csv(file, index=False)
    return files


def _run(arguments: list[Any]) -> None:
    run_watched([str(argument) for argument in arguments], os.environ, LIMIT)


def _with_class(masked: pd.DataFrame, given: Given) -> pd.DataFrame:
    return masked[[*given.train]].assign(**{given.sample.class_: given.test[given.sample.class_].to_numpy()})


def _arrow(rows: pd.DataFrame) -> Any:
    import pyarrow as pa

    return pa.Table.from_pandas(rows, preserve_index=False)
