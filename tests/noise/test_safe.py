"""True rows with an (ε, δ) statement, as an owner meets them."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import unveil
from commands import Run
from noise.private import SPEC
from noise.test_additive import DECLARED, people
from project import Project
from unveil.reports.page import handout_page
from unveil.sklearn import SafeRows

SAFE = SPEC.replace('"diffgen"\nspecializations = 3\n', '"safe"\ndelta = 1e-6\nspecializations = 3\n')
ASKED = {**DECLARED, "publish": {"method": "safe", "delta": 1e-6, "specializations": 4}}


@pytest.fixture
def owner(project: Project) -> Project:
    assert SAFE != SPEC
    project.spec.write_text(SAFE, encoding="utf-8")
    return project


def test_every_row_is_true_and_shared() -> None:
    rows = people()
    release = unveil.publish(rows, ASKED, unsafe_seed=3)
    names = ["age", "town", "shoe", "ill"]
    released = Counter(zip(*(release.table[name].to_pylist() for name in names), strict=True))
    masked = release.masking.apply(rows, intervals="text")
    raw = Counter(zip(*(masked[name].to_pylist() for name in names), strict=True))
    assert released
    assert min(released.values()) >= release.manifest.k
    assert all(count <= raw[row] for row, count in released.items())
    assert 0 < release.rows.num_rows < rows.num_rows * float(Fraction(release.manifest.sampled)) * 1.1


def test_the_ledger_gives_a_quarter_to_the_cut() -> None:
    ledger = unveil.publish(people(), ASKED, unsafe_seed=3).manifest.ledger
    assert Fraction(ledger[-1].epsilon) == Fraction(3, 4)
    assert sum(Fraction(entry.epsilon) for entry in ledger[:-1]) <= Fraction(1, 4)


def test_no_row_at_all_is_released_like_any_table() -> None:
    assert unveil.publish(people(0), ASKED, unsafe_seed=1).rows.num_rows == 0


def test_records_of_a_weighted_row_are_sampled_one_by_one() -> None:
    rows = people(50).append_column("n", pa.array(np.full(50, 100)))
    asked = {**ASKED, "table": {"class": "ill", "weight": "n"}}
    release = unveil.publish(rows, asked, unsafe_seed=3)
    assert release.table.column_names == ["age", "town", "shoe", "ill"]
    assert release.rows.num_rows > 500


def test_publish_verify_and_the_page(run: Run, owner: Project, tmp_path: Path) -> None:
    rows = [f"Ann,{age},lawyer,Bergen,{age * 10},{ill}" for age in (30, 40) for ill in ("no", "yes")]
    header = owner.table.read_text(encoding="utf-8").splitlines()[0]
    assert header == "name,age,job,town,income,ill"
    owner.table.write_text("\n".join([header, *rows * 100]) + "\n", encoding="utf-8")
    done = run("publish", owner.spec, "--to", tmp_path / "release")
    assert done.code == 0, done.err
    assert done.out.startswith("Sampled rows of ")
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["requirements"] == [{"kind": "differential-privacy", "epsilon": "1/2", "delta": "1/1000000"}]
    assert "(ε, δ)-differentially private with ε = 0.5 and δ = 1e-06" in manifest["guarantee"]
    checked = run("verify", tmp_path / "release", "--raw", owner.spec)
    assert checked.code == 0, checked.out
    told = run("explain", owner.spec, "--release", tmp_path / "release")
    assert "75.0% to the sampling of the rows" in told.out
    page = handout_page(unveil.open_release(tmp_path / "release"))
    assert "A sample of masked rows" in page
    assert f"at least {manifest['k']} rows agree in all columns" in page


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("delta = 1e-6\n", "", "[publish] lacks the key 'delta'"),
        ("delta = 1e-6", "delta = 0.1", "delta is 0.1, but it must be above 0 and at most 0.001"),
        ("delta = 1e-6", "delta = 0", "delta is 0, but"),
        ("delta = 1e-6", "delta = 1e-6\nthreshold = 3", "threshold belongs to the method 'diffgen'"),
        ("epsilon = 0.5", "epsilon = 0.05", "below 0.1 all is noise"),
    ],
)
def test_a_spec_that_makes_no_sense_is_refused(run: Run, owner: Project, old: str, new: str, message: str) -> None:
    assert old in SAFE
    owner.spec.write_text(SAFE.replace(old, new), encoding="utf-8")
    done = run("check", owner.spec)
    assert done.code == 2
    assert message in done.err


def test_the_transformer_trains_on_the_rows() -> None:
    rows = people()
    domains = {name: DECLARED["attributes"][name] for name in ("age", "town", "shoe")}  # type: ignore[index]
    fitted = SafeRows(epsilon=2.0, specializations=4, classes=["no", "yes"], attributes=domains, unsafe_seed=1)
    table = rows.drop_columns(["ill"]).to_pandas()
    fitted.fit(table, np.array(rows["ill"].to_pylist()))
    features, classes, weights = fitted.training_data()
    assert len(features) == len(classes) == fitted.release_.rows.num_rows
    assert set(weights) == {1.0}
    assert fitted.transform(table).shape == (4000, features.shape[1])
