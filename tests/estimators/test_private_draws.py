"""DiffGen as a transformer: nothing is read off the rows but through the draws, and every draw is charged."""

import json

import numpy as np
import pandas as pd
import pytest

import unveil
from estimators.people import DOMAINS, JOBS, people
from unveil.sklearn import DiffGen

SPEC = """\
[table]
source = "people.parquet"
class  = "ill"
name   = "people"
budget = 3.0

[attributes]
age    = { kind = "number", range = [0, 100], whole = true }
town   = { kind = "category", values = ["Aarhus", "Bergen", "Cork"] }
job    = { role = "identifier" }
income = { role = "identifier" }
ill    = { values = ["no", "yes"] }

[[require]]
kind    = "differential-privacy"
epsilon = 1.0

[publish]
method          = "diffgen"
specializations = 3
"""


def private(**more) -> DiffGen:
    arguments = {"attributes": DOMAINS, "taxonomies": {"job": JOBS}, "classes": ["no", "yes"], "specializations": 4}
    return DiffGen(**{**arguments, **more})


def test_the_release_is_that_of_publish():
    X, y = people()
    fitted = private(unsafe_seed=3, utility="infogain", choice="exponential", budget="paper", epsilon=2).fit(X, y)
    manifest = fitted.release_.manifest
    assert (manifest.utility, manifest.choice, manifest.budget) == ("infogain", "exponential", "paper")
    assert manifest.requirements == ({"kind": "differential-privacy", "epsilon": "2"},)
    again = unveil.publish(X.assign(ill=y), fitted.spec_, unsafe_seed=3)
    assert again.table.equals(fitted.release_.table)
    assert again.manifest == manifest


def test_without_a_seed_it_is_private_and_differs():
    X, y = people()
    with pytest.warns(unveil.UnchargedWarning, match=r"costs ε = 0\.5 and is not entered in a ledger"):
        first, second = (private(epsilon=0.5).fit(X, y) for _ in range(2))
    assert first.release_.manifest.private
    assert "ε-differentially private with ε = 0.5" in first.guarantee_
    assert not first.release_.table.equals(second.release_.table)
    assert private(unsafe_seed=0).fit(X, y).guarantee_.startswith("None: it was made with a seed")


@pytest.mark.parametrize("rows", [[0], [0, 1, 2]])
def test_one_row_and_one_class_are_published_like_any_other(rows):
    X, _ = people()
    fitted = private(unsafe_seed=0).fit(X.iloc[rows], ["yes"] * len(rows))
    assert list(fitted.classes_) == ["no", "yes"]
    assert set(fitted.release_.table["class"].to_pylist()) == {"no", "yes"}


def test_declared_labels_need_not_have_the_type_of_those_that_occur():
    X, _ = people()
    fitted = private(classes=[0, 1, "unknown"], unsafe_seed=0).fit(X, np.arange(len(X)) % 2)
    assert list(fitted.classes_) == ["0", "1", "unknown"]
    assert set(fitted.training_data()[1]) <= {"0", "1", "unknown"}


def test_what_a_fitted_transformer_says_next_to_its_draws_does_not_depend_on_the_rows():
    """Two tables that share no value and no class, drawn alike: all that is not drawn is the same."""
    first = pd.DataFrame({"age": [20, 21], "job": ["clerk", "clerk"], "town": ["Cork"] * 2, "income": [1.0, 2.0]})
    second = pd.DataFrame({"age": [70, 71], "job": ["smith"] * 2, "town": ["Aarhus"] * 2, "income": [90, 95]})
    fitted = [
        private(unsafe_seed=0, specializations=0, threshold=10**6).fit(first, ["no", "no"]),
        private(unsafe_seed=0, specializations=0, threshold=10**6).fit(second, ["yes", "yes"]),
    ]
    left, right = (
        {name: str(value) for name, value in vars(masker).items() if name not in ("release_", "taxonomies")}
        for masker in fitted
    )
    left["spec_"], right["spec_"] = (masker.spec_.attributes.keys() for masker in fitted)
    assert left == right
    assert fitted[0].release_.table.equals(fitted[1].release_.table)
    assert fitted[0].release_.manifest == fitted[1].release_.manifest


def test_a_domain_is_never_read_off_the_rows():
    X, y = people()
    with pytest.raises(
        unveil.SpecError, match="the domain of 'town' is not declared, and what the rows hold is private"
    ):
        private(attributes={name: section for name, section in DOMAINS.items() if name != "town"}).fit(X, y)
    with pytest.raises(unveil.SpecError, match=r"\[attributes.town\] has observed values, which are private"):
        private(attributes={**DOMAINS, "town": {"kind": "category"}}).fit(X, y)
    with pytest.raises(unveil.SpecError, match=r"\[attributes.town\] lacks the key 'kind'"):
        private(attributes={**DOMAINS, "town": {}}).fit(X, y)
    with pytest.raises(unveil.TableError, match=r"the value 'yes' .* is not among its declared values"):
        private(classes=["no", "maybe"]).fit(X, y)


def test_numbers_between_steps_count_as_the_lower_one():
    X = pd.DataFrame({"dose": [0.05, 0.29, 0.295, 0.3, 0.7, 0.79999]})
    y = ["no", "no", "no", "yes", "yes", "yes"]
    masker = DiffGen(50, specializations=3, attributes={"dose": {"range": [0, 1], "step": 0.01}}, classes=["no", "yes"])
    exact = pd.DataFrame({"dose": [0.05, 0.29, 0.29, 0.3, 0.7, 0.79]})
    for seed in range(5):
        fitted = masker.set_params(unsafe_seed=seed).fit(X, y)
        drawn = fitted.release_.table
        masked = fitted.transform(X)
        assert (masked == fitted.transform(exact)).all()
        assert masker.fit(exact, y).release_.table.equals(drawn)


def test_numbers_outside_are_clamped_at_both_ends_of_the_pipeline():
    section = {"range": [0, 10], "whole": True}
    X, y = np.array([[-5], [3], [8], [40]]), [0, 0, 1, 1]
    with pytest.raises(unveil.TableError, match="lies outside its range"):
        DiffGen(specializations=2, default=section, classes=[0, 1]).fit(X, y)
    masker = DiffGen(50, specializations=2, default={**section, "outside": "clamp"}, classes=[0, 1], unsafe_seed=0)
    assert (masker.fit(X, y).transform([[-5], [40]]) == masker.transform([[0], [9]])).all()


def test_every_fit_is_entered_into_the_owners_ledger(tmp_path):
    X, y = people()
    (tmp_path / "people.toml").write_text(SPEC, encoding="utf-8")
    masker = DiffGen(spec=tmp_path / "people.toml").fit(X, y)
    masker.set_params(epsilon=1.5).fit(X, y)
    entries = json.loads((tmp_path / "unveil-ledger.json").read_text(encoding="utf-8"))
    assert [(entry["name"], entry["epsilon"]) for entry in entries] == [("people", "1"), ("people", "3/2")]
    with pytest.raises(unveil.UnveilError, match=r"0\.5 is left, and this one asks for 1\.5"):
        masker.fit(X, y)
    masker.set_params(unsafe_seed=0).fit(X, y)
    assert len(json.loads((tmp_path / "unveil-ledger.json").read_text(encoding="utf-8"))) == 2


def test_a_budget_needs_a_name_for_what_is_fitted(tmp_path):
    X, y = people()
    (tmp_path / "people.toml").write_text(SPEC.replace('name   = "people"\n', ""), encoding="utf-8")
    with pytest.raises(unveil.BudgetError, match="these rows came without a path; give them a name"):
        DiffGen(spec=tmp_path / "people.toml").fit(X, y)
    assert not (tmp_path / "unveil-ledger.json").exists()


def test_loose_arguments_are_charged_under_a_name(tmp_path, monkeypatch):
    X, y = people()
    monkeypatch.chdir(tmp_path)
    private(name="people").fit(X, y)
    entries = json.loads((tmp_path / "unveil-ledger.json").read_text(encoding="utf-8"))
    assert entries == [{"name": "people", "spec": "spec", "epsilon": "1"}]
    with pytest.raises(unveil.SpecError, match="name is given"):
        DiffGen(spec={}, name="people").fit(X, y)
