"""Releases that the engine made, end to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import unveil
from verify.private_releases import SPEC, write_spec


@pytest.fixture(autouse=True, scope="module")
def _small_batches() -> None:
    """Some releases here have so many rows that batches of three would take minutes."""


def people(rows: int = 500) -> pa.Table:
    rng = np.random.default_rng(11)
    age = rng.integers(17, 91, rows)
    return pa.table(
        {
            "name": [f"p{number}" for number in range(rows)],
            "age": age,
            "height": np.round(rng.integers(15, 20, rows) / 10, 1),
            "education": rng.choice(["Bachelors", "Masters", "9th", "10th"], rows),
            "sex": rng.choice(["F", "M"], rows),
            "job": rng.choice(["baker", "cook", "clerk"], rows),
            "income": np.where(age > 40, "high", "low"),
        }
    )


PLANS = {
    "full": "",
    "paper": 'budget = "paper"',
    "infogain": 'utility = "infogain"',
    "threshold": "threshold = 4",
    "exponential": 'choice = "exponential"',
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("steps", [0, 1, 6, 12])
def test_a_seeded_release_holds(tmp_path: Path, plan: str, steps: int) -> None:
    text = SPEC.replace("specializations = 6", f"specializations = {steps}\n{plan}")
    spec = unveil.load_spec(write_spec(tmp_path, text))
    table = people()
    csv.write_csv(table, tmp_path / "raw.csv")
    for seed in range(3):
        folder = tmp_path / str(seed)
        unveil.publish(table, spec, unsafe_seed=seed).write(folder, formats=("parquet", "csv"))
        assert unveil.verify(folder, spec) == []


def test_a_private_release_holds(tmp_path: Path) -> None:
    spec = unveil.load_spec(write_spec(tmp_path))
    csv.write_csv(people(), tmp_path / "raw.csv")
    unveil.publish(people(), spec).write(tmp_path / "release")
    assert unveil.verify(tmp_path / "release", spec) == []
    manifest: dict[str, Any] = json.loads((tmp_path / "release" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["private"] is True


def test_a_release_of_more_cells_than_can_be_listed_holds(tmp_path: Path) -> None:
    numbers = [f"x{number}" for number in range(20)]
    domain = "kind = 'number'\nrange = [0, 8]\nwhole = true\n"
    attributes = "".join(f"[attributes.{name}]\n{domain}" for name in numbers)
    text = (
        "[table]\nsource = 'raw.parquet'\nclass = 'y'\n[attributes.y]\nvalues = ['a', 'b']\n"
        f"{attributes}[[require]]\nkind = 'differential-privacy'\nepsilon = 5\n"
        "[publish]\nmethod = 'diffgen'\nspecializations = 60\n"
    )
    rng = np.random.default_rng(3)
    table = pa.table({**{name: rng.integers(8, size=200) for name in numbers}, "y": rng.choice(["a", "b"], 200)})
    spec = unveil.load_spec(write_spec(tmp_path, text))
    pq.write_table(table, tmp_path / "raw.parquet")
    release = unveil.publish(table, spec, unsafe_seed=1)
    release.write(tmp_path / "release")
    assert unveil.verify(tmp_path / "release", spec) == []
    assert json.loads((tmp_path / "release" / "manifest.json").read_text(encoding="utf-8"))["cells"] > 10**9
