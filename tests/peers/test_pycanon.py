"""Released tables, re-checked by a tool that is not ours: pycanon, on frames with a default index."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import unveil
from unveil.workflow.demo import DATA

ROOT = Path(__file__).resolve().parents[2]
PEER = Path(os.environ.get("UNVEIL_PEERS", ROOT / ".venv-peers")) / "bin" / "python"
QUASI = ["age", "sex", "education"]
CATEGORIES = ["education", "occupation", "sex", "relationship"]


@pytest.fixture(scope="module")
def peer() -> Path:
    if not PEER.exists():
        pytest.skip("pycanon is not installed; `make test` sets it up in an environment of its own")
    return PEER


def spec(*requirements: dict[str, Any]) -> dict[str, Any]:
    trees = DATA / "taxonomies"
    taxonomies = {name: {"kind": "category", "taxonomy": str(trees / f"{name}.tree")} for name in CATEGORIES}
    return {
        "table": {"class": "income", "others": "drop", "missing": {"values": ["?"], "rows": "drop"}},
        "attributes": {"age": {"kind": "number", "range": [17, 91], "whole": True}, **taxonomies},
        "require": [{"quasi-identifier": QUASI, **requirement} for requirement in requirements],
    }


def ask(peer: Path, release: unveil.Release, folder: Path, sensitive: str) -> dict[str, float]:
    release.write(folder / "release", ("parquet", "csv"))
    question = json.dumps({"quasi": QUASI, "sensitive": sensitive})
    command = [str(peer), str(Path(__file__).with_name("recheck.py")), str(folder / "release" / "data.csv"), question]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


CASES: dict[str, tuple[dict[str, Any], str, float]] = {
    "k-anonymity": ({"kind": "k-anonymity", "k": 40}, "k", 40),
    "distinct l-diversity": ({"kind": "l-diversity", "sensitive": "occupation", "l": 9}, "distinct", 9),
    "entropy l-diversity": (
        {"kind": "l-diversity", "sensitive": "occupation", "l": 6, "variant": "entropy"},
        "entropy",
        6,
    ),
    "t-closeness": ({"kind": "t-closeness", "sensitive": "occupation", "t": 0.35}, "t", 0.35),
    "alpha-k-anonymity": (
        {"kind": "alpha-k-anonymity", "sensitive": "occupation", "k": 30, "alpha": 0.5},
        "alpha",
        0.5,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_pycanon_agrees(name: str, peer: Path, tmp_path: Path) -> None:
    requirement, figure, bound = CASES[name]
    release = unveil.publish(DATA / "adult.parquet", spec(requirement))
    assert any(len(getattr(entry, "blocks", ())) > 1 for entry in release.masking.columns.values())
    found = ask(peer, release, tmp_path, "occupation")
    if figure in ("t", "alpha"):
        assert found[figure] <= bound + 1e-9
    else:
        assert found[figure] >= bound
    if name == "alpha-k-anonymity":
        assert found["alpha k"] >= requirement["k"]


def test_pycanon_finds_a_table_that_breaks_its_promise(peer: Path, tmp_path: Path) -> None:
    release = unveil.publish(DATA / "adult.parquet", spec({"kind": "k-anonymity", "k": 2}))
    assert ask(peer, release, tmp_path, "occupation")["k"] < 40
