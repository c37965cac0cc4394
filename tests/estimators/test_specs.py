"""A whole spec in place of loose arguments, and the values that a transformer sets in it."""

import pandas as pd
import pytest

import unveil
from estimators.people import group_sizes, people
from project import Project
from unveil.sklearn import DiffGen, ProgressiveDisclosure, TopDownRefinement

MAPPING = {
    "table": {"class": "ill", "others": "drop"},
    "attributes": {"age": {"kind": "number"}, "town": {"kind": "category"}},
    "require": [
        {"kind": "k-anonymity", "quasi-identifier": ["age"], "k": 3},
        {"kind": "confidence", "channel": ["age"], "sensitive": "town", "values": ["Cork"], "limit": 0.9},
    ],
}


@pytest.fixture
def rows(project: Project) -> pd.DataFrame:
    return pd.read_csv(project.table)


def test_a_spec_file_says_everything(project, rows):
    fitted = TopDownRefinement(spec=project.spec, output="labels").fit(rows.drop(columns="ill"), rows["ill"])
    release = unveil.publish(rows, project.spec)
    assert fitted.release_.table.equals(release.table)
    assert fitted.guarantee_ == release.manifest.guarantee
    kept = rows[rows["age"] != "?"].drop(columns="ill")
    names = list(fitted.get_feature_names_out())
    assert names == ["age", "job", "town", "income"]
    masked = fitted.transform(kept)
    assert min(group_sizes(masked[:, :3]).values()) >= 3


def test_a_spec_may_derive_columns():
    X, y = people()
    spec = {**MAPPING, "attributes": {"town": {"kind": "category"}, "old": {"derive": "age >= 40"}}}
    spec["require"] = [{"kind": "k-anonymity", "quasi-identifier": ["old", "town"], "k": 3}]
    masked = TopDownRefinement(spec=spec, output="labels").fit(X, y).transform(X)
    assert {(bool(age >= 40), label) for age, label in zip(X["age"], masked[:, 1], strict=True)} <= {
        (True, "true"),
        (False, "false"),
        (True, "⊥"),
        (False, "⊥"),
    }


def test_k_and_limit_replace_those_of_the_spec(project, rows):
    fitted = TopDownRefinement(9, spec=str(project.spec)).fit(rows.drop(columns="ill"), rows["ill"])
    assert [requirement["k"] for requirement in fitted.release_.manifest.requirements] == [9]
    X, y = people()
    fitted = ProgressiveDisclosure(limit=0.8, criterion="infogain", spec=MAPPING).fit(X, y)
    assert [fitted.spec_.requirements[0].k, fitted.spec_.requirements[1].limit] == [3, 0.8]
    assert fitted.spec_.criterion == "infogain"
    assert MAPPING["require"][1]["limit"] == 0.9


def test_a_finished_spec_is_taken_as_it_is(project, rows):
    X, y = rows.drop(columns="ill"), rows["ill"]
    spec = unveil.load_spec(project.spec)
    assert TopDownRefinement(spec=spec).fit(X, y).spec_ is spec
    with pytest.raises(
        unveil.SpecError, match="k is given together with a finished Spec; give the spec as a path or a map"
    ):
        TopDownRefinement(9, spec=spec).fit(X, y)


@pytest.mark.parametrize(
    ("masker", "sentence"),
    [
        (TopDownRefinement(0, spec=MAPPING), r"number 1 k is 0, but it must be at least 1\."),
        (
            TopDownRefinement(quasi_identifier=["age"], spec=MAPPING),
            "quasi_identifier is given together with a spec, which",
        ),
        (
            TopDownRefinement(default={}, spec=MAPPING),
            "default is given together with a spec, which describes the table",
        ),
        (
            ProgressiveDisclosure([{"sensitive": "town"}], spec=MAPPING),
            "templates is given together with a spec, which",
        ),
        (
            ProgressiveDisclosure(limit=0.5, spec={**MAPPING, "require": MAPPING["require"][:1]}),
            "limit is given, but no",
        ),
        (
            TopDownRefinement(spec={**MAPPING, "require": "k = 5"}),
            r"\[require\] is in single brackets|must be a list",
        ),
        (TopDownRefinement(spec=7), "a spec is a path, a mapping or a Spec, not a int"),
        (DiffGen(spec=MAPPING), "method is 'refinement', which is not that of DiffGen"),
        (TopDownRefinement(spec={**MAPPING, "table": {"class": "age"}}), "ill|age"),
    ],
)
def test_specs_that_do_not_fit(masker, sentence):
    X, y = people()
    with pytest.raises(unveil.UnveilError, match=sentence):
        masker.fit(X, y)


def test_the_class_is_not_among_the_rows(project, rows):
    with pytest.raises(unveil.TableError, match="X holds the column 'ill', which is the class of"):
        TopDownRefinement(spec=project.spec).fit(rows, rows["ill"])


def test_a_weight_of_the_spec_and_one_next_to_it():
    X, y = people()
    spec = {**MAPPING, "table": {**MAPPING["table"], "weight": "n"}}
    fitted = TopDownRefinement(spec=spec).fit(X.assign(n=2), y)
    assert fitted.release_.manifest.records == 2 * len(X)
    assert list(fitted.training_data()[2].astype(int)) == fitted.release_.table["n"].to_pylist()
    with pytest.raises(unveil.SpecError, match="weight names 'n', and sample_weight is given too"):
        TopDownRefinement(spec=spec).fit(X.assign(n=2), y, sample_weight=[1] * len(X))
