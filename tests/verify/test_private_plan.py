"""A differentially private release next to the owner's spec, end to end too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import unveil
from unveil.schema import load_spec
from unveil.verifier import Finding
from verdicts import verify_against_raw
from verify.private_releases import (
    SPEC,
    Manifest,
    PrivateDraft,
    above_threshold,
    discretization,
    each,
    found,
    private_draft,
    write_spec,
)
from verify.releases import draft, write_raw

PLANS = {
    "full": "",
    "paper": 'budget = "paper"',
    "infogain": 'utility = "infogain"',
    "threshold": "threshold = 4",
    "exponential": 'choice = "exponential"',
}


Edit = Callable[[Manifest], Any]


def against_spec(folder: Path, planted: PrivateDraft, spec: str = SPEC) -> list[Finding]:
    return verify_against_raw(planted.write(folder / "release"), load_spec(write_spec(folder, spec)))


def edited(folder: Path, edit: Edit, spec: str = SPEC) -> list[Finding]:
    planted = private_draft()
    edit(planted.manifest)
    return against_spec(folder, planted, spec)


def test_a_release_that_keeps_to_the_spec(tmp_path: Path) -> None:
    assert against_spec(tmp_path, private_draft()) == []


def _publish(line: str) -> str:
    return SPEC + line + "\n"


SPECS = {
    "specializations": (SPEC.replace("specializations = 6", "specializations = 5"), "specializations 6"),
    "utility": (_publish('utility = "infogain"'), "utility 'max'"),
    "choice": (_publish('choice = "exponential"'), "choice 'permute-and-flip'"),
    "budget": (_publish('choice = "exponential"\nbudget = "paper"'), "budget 'full'"),
    "threshold": (_publish("threshold = 2"), "threshold None"),
}


@each(SPECS)
def test_another_plan_is_found(tmp_path: Path, case: tuple[str, str]) -> None:
    spec, words = case
    found([*against_spec(tmp_path, private_draft(), spec)], "spec-plan", f"has the {words}, but the spec has")


def test_the_threshold_of_the_spec_must_be_kept(tmp_path: Path) -> None:
    planted = private_draft()
    above_threshold(planted)
    assert against_spec(tmp_path, planted, _publish("threshold = 3")) == []


@pytest.mark.parametrize("epsilon", ["2", "0.999999", "1.000001"])
def test_another_epsilon_is_found(tmp_path: Path, epsilon: str) -> None:
    spec = SPEC.replace("epsilon = 1", f"epsilon = {epsilon}")
    found(against_spec(tmp_path, private_draft(), spec), "spec-requirement", "has ε = 1, but the spec has")


@pytest.mark.parametrize("labels", ['["low", "high", "top"]', '["low", "top"]'])
def test_other_class_labels_are_found(tmp_path: Path, labels: str) -> None:
    spec = SPEC.replace('["low", "high"]', labels)
    found(against_spec(tmp_path, private_draft(), spec), "spec-classes", "'low', 'high'")


def _split(name: str, *intervals: tuple[float, float]) -> Edit:
    return lambda content: content["masking"][name].update(blocks=discretization(*intervals)["blocks"])


DOMAINS: dict[str, tuple[Edit, str]] = {
    "range": (_split("age", (17, 30), (30, 37), (37, 100)), "intervals from 17 to 100"),
    "observed end": (_split("age", (17, 30), (30, 37), (37, 90)), "intervals from 17 to 90"),
    "off the grid": (_split("height", (1.5, 1.65), (1.65, 2)), "'height' is split at 1.65"),
    "nearly on the grid": (_split("height", (1.5, 1.7000000001), (1.7000000001, 2)), "is split at 1.7000000001"),
    "half a year": (_split("age", (17, 30), (30, 36.5), (36.5, 91)), "'age' is split at 36.5"),
    "at the lowest value": (_split("age", (17, 17), (17, 30), (30, 91)), "'age' is split at 17"),
    "at the end": (_split("age", (17, 30), (30, 91), (91, 91)), "'age' is split at 91"),
    "taxonomy": (
        lambda content: content["masking"]["education"]["blocks"][1].update(label="Primary"),
        "'Primary', which is not in its taxonomy",
    ),
    "leaves": (
        lambda content: content["masking"]["education"]["blocks"][0].update(values=["Masters"]),
        "but its leaves are 'Bachelors', 'Masters'",
    ),
    "some values": (
        lambda content: content["masking"]["sex"].update(disclosed=["F"]),
        "not all of its declared values",
    ),
    "values in another order": (
        lambda content: content["masking"]["sex"].update(disclosed=["M", "F"]),
        "not all of its declared values in their order",
    ),
    "undeclared values": (
        lambda content: content["masking"]["sex"].update(disclosed=["F", "X"]),
        "discloses 'X', which is not among its declared values",
    ),
    "observed": (lambda content: content["masking"]["job"].update(domain="observed"), "by the spec it is declared"),
}


@each(DOMAINS)
def test_a_domain_that_is_not_the_specs_is_found(tmp_path: Path, case: tuple[Edit, str]) -> None:
    edit, words = case
    findings = [finding for finding in edited(tmp_path, edit) if finding.claim != "specializations"]
    found(findings, "spec-domain", words)


@pytest.mark.parametrize("split", [1.6, 1.7, 1.8, 1.9])
def test_splits_on_the_grid_are_fine_however_floats_round(tmp_path: Path, split: float) -> None:
    assert edited(tmp_path, _split("height", (1.5, split), (split, 2))) == []


def test_an_identifier_is_found(tmp_path: Path) -> None:
    def edit(content: Manifest) -> None:
        content["masking"]["name"] = content["masking"].pop("job")

    findings = edited(tmp_path, edit)
    assert {finding.claim for finding in findings} == {"identifier", "spec-columns"}


def test_another_class_is_found(tmp_path: Path) -> None:
    def edit(content: Manifest) -> None:
        content["class"] = "wealth"

    found(edited(tmp_path, edit), "spec-columns", "has the class 'wealth', but the spec has 'income'")


def test_an_attribute_left_out_is_found(tmp_path: Path) -> None:
    planted = private_draft()
    del planted.manifest["masking"]["job"]
    planted.rows = [(*row[:4], *row[5:]) for row in planted.rows]
    found(against_spec(tmp_path, planted), "spec-columns", "the spec says")


def test_a_column_that_the_spec_does_not_describe_is_found(tmp_path: Path) -> None:
    def edit(content: Manifest) -> None:
        content["masking"]["zip"] = {**content["masking"]["job"]}

    planted = private_draft()
    edit(planted.manifest)
    planted.rows = [(*row[:5], "⊥", *row[5:]) for row in planted.rows]
    findings = against_spec(tmp_path, planted)
    assert {finding.claim for finding in findings} == {"spec-columns", "spec-domain"}


def test_cuts_that_take_another_number_of_specializations_are_found(tmp_path: Path) -> None:
    """Both the top and School were specialized; a cut of University and School takes one less."""

    def edit(content: Manifest) -> None:
        content["masking"]["education"]["blocks"][1:] = [{"label": "School", "values": ["9th", "10th"]}]

    found(edited(tmp_path, edit), "specializations", "by the taxonomies of the spec its cuts take 5")


def test_a_masking_of_another_kind_is_found(tmp_path: Path) -> None:
    def edit(content: Manifest) -> None:
        content["masking"]["sex"] = {**content["masking"]["education"]}

    findings = edited(tmp_path, edit)
    assert {finding.claim for finding in findings} == {"spec-domain"}


def test_a_private_release_next_to_a_spec_for_refinement_is_found(tmp_path: Path) -> None:
    folder = private_draft().write(tmp_path / "release")
    [finding] = verify_against_raw(folder, load_spec(write_raw(tmp_path)))
    assert finding == Finding("spec-method", "manifest.json has the method 'diffgen', but the spec 'refinement'.")


def test_a_refinement_next_to_a_private_spec_is_found(tmp_path: Path) -> None:
    folder = draft().write(tmp_path / "release")
    [finding] = verify_against_raw(folder, load_spec(write_spec(tmp_path)))
    assert finding == Finding("spec-method", "manifest.json has the method 'refinement', but the spec 'diffgen'.")


def test_a_manifest_of_a_wrong_shape_cannot_be_compared(tmp_path: Path) -> None:
    found(edited(tmp_path, lambda content: content.update(rows=3)), "truth", "cannot be compared")


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
