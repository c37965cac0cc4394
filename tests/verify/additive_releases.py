"""Additive releases that the engine made, for the verifier to check: it shares no code with it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

import unveil
from unveil.verifier import Finding
from verdicts import verify_release
from verify.releases import TAXONOMY, edit_manifest, rehash, write_parquet

Manifest = dict[str, Any]
SPEC = """
[table]
source = "raw.csv"
class = "income"

[attributes.age]
kind = "number"
range = [17, 91]
whole = true

[attributes.height]
kind = "number"
range = [1.5, 2]
step = 0.1

[attributes.since]
kind = "date"
range = [2000-01-01, 2020-01-01]

[attributes.education]
kind = "category"
taxonomy = "education.tree"

[attributes.job]
kind = "category"
values = ["baker", "cook", "clerk", "porter"]

[attributes.income]
values = ["low", "high"]

[[require]]
kind = "differential-privacy"
epsilon = 2

[publish]
method = "additive"
"""
GUARANTEE = (
    "This release is ε-differentially private with ε = 2: adding or removing one record changes the probability of any "
    "release by a factor of at most exp(2)."
)
THREE = SPEC.replace('values = ["low", "high"]', 'values = ["low", "high", "top"]')


def people(rows: int = 3000, *, top: bool = False) -> pa.Table:
    """The class depends on the age, the day, the education and the job, and not on the height."""
    rng = np.random.default_rng(11)
    age, day = rng.integers(17, 91, rows), rng.integers(0, 7305, rows)
    education = rng.choice(["Bachelors", "Masters", "9th", "10th"], rows)
    job = rng.choice(["baker", "cook", "clerk", "porter"], rows)
    score = (age - 50) / 15 + (job == "clerk") + (education == "Masters") - (day > 4000) + rng.logistic(size=rows)
    income = np.where(score > 0, "high", "low")
    return pa.table(
        {
            "age": age,
            "height": np.round(rng.integers(15, 20, rows) / 10, 1),
            "since": pa.array(day + 10957, pa.int32()).cast(pa.date32()),
            "education": education,
            "job": job,
            "income": np.where(score > 2, "top", income) if top else income,
        }
    )


def write_project(folder: Path, spec: str = SPEC, table: pa.Table | None = None) -> Path:
    """Writes the spec, its taxonomy and the raw table."""
    csv.write_csv(people(top="top" in spec) if table is None else table, folder / "raw.csv")
    (folder / "education.tree").write_text(TAXONOMY, encoding="utf-8")
    path = folder / "spec.toml"
    path.write_text(spec, encoding="utf-8")
    return path


def published(folder: Path, name: str = "release", *, spec: str = SPEC, seed: int = 1) -> Path:
    """A release of the raw table, next to it. It calls itself private, as one without a seed does."""
    found = unveil.load_spec(write_project(folder, spec))
    unveil.publish(people(top="top" in spec), found, unsafe_seed=seed).write(folder / name)
    edit_manifest(folder / name, lambda manifest: manifest.update(private=True, guarantee=GUARANTEE))
    return folder / name


def content(folder: Path) -> Manifest:
    read: Manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return read


def planted(true: Path, folder: Path, edit: Callable[[Manifest], Any]) -> Path:
    """A copy of a release whose manifest was edited."""
    shutil.copytree(true, folder / "planted")
    edit_manifest(folder / "planted", edit)
    return folder / "planted"


def rewritten(true: Path, folder: Path, change: Callable[[pa.Table], pa.Table]) -> list[Finding]:
    """What is found in a copy with other rows, whose hash fits them."""
    copy = planted(true, folder, lambda _: None)
    path = copy / "data.parquet"
    table = change(pq.read_table(path))
    path.unlink()
    write_parquet(table, path)
    rehash(copy)
    return verify_release(copy)
