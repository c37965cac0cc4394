"""Information loss and re-identification risk next to those of a tool that is not ours: pycanon."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import unveil
from unveil.evaluation.information import average_class_size, information_loss
from unveil.evaluation.reidentification import group_sizes, reidentification_risk
from unveil.schema import load_spec
from unveil.workflow.demo import DATA

ROOT = Path(__file__).resolve().parents[2]
PEER = Path(os.environ.get("UNVEIL_PEERS", ROOT / ".venv-peers")) / "bin" / "python"
QUASI = ["age", "sex", "education"]


@pytest.fixture(scope="module")
def peer() -> Path:
    if not PEER.exists():
        pytest.skip("pycanon is not installed; `make test` sets it up in an environment of its own")
    return PEER


def spec_of(k: int) -> dict[str, Any]:
    trees = {name: str(DATA / "taxonomies" / f"{name}.tree") for name in ("education", "sex")}
    taxonomies = {name: {"kind": "category", "taxonomy": tree} for name, tree in trees.items()}
    return {
        "table": {"class": "income", "others": "drop", "missing": {"values": ["?"], "rows": "drop"}},
        "attributes": {"age": {"kind": "number", "range": [17, 91], "whole": True}, **taxonomies},
        "require": [{"kind": "k-anonymity", "quasi-identifier": QUASI, "k": k}],
    }


def ask(peer: Path, release: unveil.Release, folder: Path) -> dict[str, float]:
    release.write(folder / "release", ("parquet", "csv"))
    question = json.dumps({"quasi": QUASI, "class": release.manifest.class_})
    command = [str(peer), str(Path(__file__).with_name("remeasure.py")), str(folder / "release" / "data.csv"), question]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


def tied(rows: pd.DataFrame) -> float:
    """The share of the records that Iyengar's metric counts and pycanon does not.

    Where two classes tie for the majority of a group, pycanon takes both for the majority class.
    """
    counts = rows.groupby([*QUASI, "income"]).size().unstack(fill_value=0)
    ties = counts[counts.iloc[:, 0] == counts.iloc[:, 1]]
    return float(ties.iloc[:, 0].sum() / len(rows))


@pytest.mark.parametrize(("k", "steps"), [(40, None), (2, None), (40, 0)], ids=["k=40", "k=2", "fully masked"])
def test_pycanon_measures_the_same(k: int, steps: int | None, peer: Path, tmp_path: Path) -> None:
    spec = load_spec(spec_of(k))
    release = unveil.publish(DATA / "adult.parquet", spec, steps=steps)
    theirs = ask(peer, release, tmp_path)
    loss, risk = information_loss(release, spec), reidentification_risk(release, QUASI)
    sizes = group_sizes(release, QUASI)
    assert (loss.groups, sizes[0], sizes[-1]) == (theirs["groups"], theirs["smallest"], theirs["largest"])
    assert (loss.groups > 1) == (steps is None)
    assert loss.discernibility == theirs["discernibility"]
    # They divide by the k that the table has, we by the k that it promises.
    assert average_class_size(sizes, int(sizes[0])) == pytest.approx(theirs["average class size"])
    assert loss.average_class_size * k == pytest.approx(theirs["average class size"] * theirs["smallest"])
    plain = release.table.to_pandas().astype(str)
    assert loss.classification_metric == pytest.approx(theirs["classification"] + tied(plain))
    assert risk.prosecutor.highest == pytest.approx(theirs["highest risk"])
    # Their average is over the groups, ours over the records.
    assert np.mean(1 / sizes) == pytest.approx(theirs["average risk of a group"])
    assert risk.groups == theirs["groups"]


def test_ties_are_where_the_two_part(peer: Path, tmp_path: Path) -> None:
    """A group of two classes with two records each: two of four are outside the one majority class."""
    raw = pd.DataFrame({"age": [20] * 4, "sex": ["Male"] * 4, "education": ["9th"] * 4, "income": ["a", "a", "b", "b"]})
    release = unveil.publish(raw, spec_of(2), steps=0)
    assert information_loss(release, load_spec(spec_of(2))).classification_metric == 0.5
    assert ask(peer, release, tmp_path)["classification"] == 0
    assert tied(release.table.to_pandas().astype(str)) == 0.5
