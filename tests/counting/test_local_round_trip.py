"""Publish by groups, then apply to the same rows: the released rows come back, on every engine."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import engines
import unveil
from oracles import boxes as oracle
from unveil.schema import Taxonomy

pytestmark = pytest.mark.engines(*engines.ROWS)

TREE = ("Any", [("Office", [("Clerk", []), ("Sales", []), ("Temp", [])]), ("Manual", [("Crafts", []), ("Driver", [])])])
SPEC: dict[str, Any] = {
    "table": {"class": "ill"},
    "attributes": {
        "age": {"kind": "number", "range": [0, 64], "whole": True},
        "job": {"kind": "category", "taxonomy": Taxonomy(TREE)},
        "city": {"kind": "category"},
        "sex": {"kind": "category", "values": ["f", "m"]},
    },
    "require": [
        {"kind": "k-anonymity", "quasi-identifier": ["age", "job", "sex"], "k": 4},
        {"kind": "k-anonymity", "quasi-identifier": ["city", "sex"], "k": 4},
    ],
    "publish": {"search": "joint", "recoding": "local"},
}


@pytest.fixture(autouse=True)
def searched_in_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the cluster the joint search takes many jobs; `test_engines` has it there."""
    if os.environ.get("UNVEIL_INDEX") == "cluster":
        monkeypatch.setenv("UNVEIL_INDEX", "auto")


def people(rows: int = 160) -> pd.DataFrame:
    random = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "age": random.integers(0, 64, rows),
            "job": random.choice(["Clerk", "Sales", "Temp", "Crafts", "Driver"], rows),
            "city": random.choice(["Bern", "Chur", "Genf"], rows, p=[0.7, 0.2, 0.1]),
            "sex": random.choice(["f", "m"], rows),
        }
    )
    return frame.assign(ill=np.where((frame["age"] > 30) ^ (frame["job"] == "Clerk"), "yes", "no"))


def test_rows_of_a_release_are_what_apply_makes_of_the_raw_rows(tmp_path: Path) -> None:
    frame = people()
    unveil.publish(frame, SPEC).write(tmp_path / "release")
    release = unveil.open_release(tmp_path / "release")
    assert any(tree.leaves > 3 for tree in release.masking.boxes)
    applied = unveil.apply(tmp_path / "release", frame)
    assert sorted(tuple(row.values()) for row in applied.to_pylist()) == [
        tuple(row.values()) for row in release.table.to_pylist()
    ]
    manifest = release.manifest.model_dump(mode="json", by_alias=True)
    for row, labels in zip(frame.to_dict("records"), applied.to_pylist(), strict=True):
        assert oracle.labels(manifest, row) == {name: labels[name] for name in ("age", "job", "city", "sex")}
    assert not list(unveil.verify(tmp_path / "release"))


def test_later_rows_are_masked_by_the_tree(tmp_path: Path) -> None:
    unveil.publish(people(), SPEC).write(tmp_path / "release")
    later = pa.table({"age": [10, 99], "job": ["Clerk", "Clerk"], "city": ["Sion", "Bern"], "sex": ["f", "m"]})
    with pytest.raises(unveil.UnveilError, match="column 'age': 99 has no block in this release"):
        unveil.apply(tmp_path / "release", later)
    first, second = unveil.apply(tmp_path / "release", later, unseen="suppress").to_pylist()
    assert first["city"] == "⊥"
    assert second["age"] == "⊥"


@pytest.mark.parametrize("recoding", ["local", "global"])
def test_the_same_rows_are_left_out_of_two_sets_of_attributes(recoding: str) -> None:
    publish = {"search": "joint", "recoding": recoding, "leave-out": "20%"}
    release, same = (unveil.publish(people(), {**SPEC, "publish": publish}, engine=name) for name in (None, "memory"))
    assert release.manifest.rows.left_out > 0
    assert release.manifest == same.manifest
    assert release.table.to_pylist() == same.table.to_pylist()
