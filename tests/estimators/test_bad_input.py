"""What is refused, and the sentence that says why."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import unveil
from estimators.people import DOMAINS, JOBS, TEMPLATES, people
from project import Project
from unveil.sklearn import DiffGen, ProgressiveDisclosure, TopDownRefinement


def refused(masker, X=None, y=None, error=unveil.UnveilError, **more):
    frame, classes = people()
    with pytest.raises(error) as caught:
        masker.fit(frame if X is None else X, classes if y is None else y, **more)
    assert not hasattr(masker, "release_")
    return str(caught.value)


def test_a_missing_target():
    X, _ = people()
    with pytest.raises(ValueError, match="TopDownRefinement requires y to be passed, but the target y is None: rows"):
        TopDownRefinement().fit(X)


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (np.linspace(0, 1, 120), "y is continuous, but TopDownRefinement masks rows so that a class can still be"),
        (np.ones((120, 2)), "y is multilabel-indicator, but"),
        (["yes"] * 120, "the class 'class' has one label only, 'yes', so there is nothing to learn."),
    ],
)
def test_targets_that_are_not_class(y, sentence):
    assert sentence in refused(TopDownRefinement(), y=y)


@pytest.mark.parametrize("y", [[0.0, np.nan], ["no", None], pd.array(["no", pd.NA]), pd.array([1, pd.NA])])
def test_missing_targets(y):
    assert (
        refused(TopDownRefinement(), people(2)[0], y) == "y has missing values (1 row), but every row needs its class."
    )


def test_as_many_targets_as_rows():
    assert "inconsistent numbers of samples" in refused(TopDownRefinement(), y=["no", "yes"], error=ValueError)


def test_a_column_that_is_neither_numbers_nor_text():
    X = people()[0].to_numpy(dtype=object)
    X[3, 1] = 4
    assert refused(TopDownRefinement(), X).startswith("column 'x1': its values are neither all numbers nor all text:")
    X[3, 1] = {"a": 1}
    assert refused(TopDownRefinement(), X).startswith("column 'x1': its values are neither all numbers nor all text:")


def test_a_type_that_nobody_describes():
    X = people()[0].assign(born=pd.Timestamp("2000-01-01"))
    assert "the column 'born' holds values of type timestamp" in refused(TopDownRefinement(), X)


def test_sparse_rows():
    assert "dense" in refused(TopDownRefinement(), scipy.sparse.csr_matrix(np.eye(120)), error=TypeError)


def test_one_row_cannot_be_k_anonymous():
    X, y = people()
    assert "1 sample" in refused(TopDownRefinement(), X[["age"]].to_numpy()[:1], y[:1], error=ValueError)
    assert "no release of table can satisfy k = 5" in refused(TopDownRefinement(5), X[:3], ["no", "yes", "no"])


@pytest.mark.parametrize(
    ("masker", "sentence"),
    [
        (TopDownRefinement(0), "[[require]] number 1 k is 0, but it must be at least 1."),
        (TopDownRefinement(2.5), "[[require]] number 1 k is 2.5, but it must be a whole number"),
        (TopDownRefinement(1000), "no release of table can satisfy k = 1,000 on {age, job, town, income}"),
        (
            TopDownRefinement(output="one-hot"),
            "output is 'one-hot', but it must be one of 'onehot', 'codes', 'labels'.",
        ),
        (TopDownRefinement(unseen="ignore"), "unseen is 'ignore', but it must be one of 'refuse', 'suppress'."),
        (TopDownRefinement(criterion="best"), "[publish] criterion is 'best', but"),
        (TopDownRefinement(search="greedy"), "[publish] search is 'greedy', but it must be 'paper' or 'joint'."),
        (TopDownRefinement(search="joint", leave_out="all"), "[publish] leave-out is 'all', but it must be a percent"),
        (TopDownRefinement(search="paper", recoding="local"), "[publish] recoding = 'local' needs search = 'joint'"),
        (TopDownRefinement(search="paper", left_out="mask"), "[publish] left-out = 'mask' needs search = 'joint'"),
        (TopDownRefinement(search="joint", goal=("jobb",)), "[publish] goal names 'jobb', which is not described"),
        (ProgressiveDisclosure(TEMPLATES, search="joint", goal="all"), "[publish] goal is 'all', but it must be"),
        (TopDownRefinement(quasi_identifier=["agee"]), "names 'agee', which is not described; did you mean 'age'?"),
        (TopDownRefinement(quasi_identifier=[]), "quasi-identifier is [], but it must not be empty."),
        (
            TopDownRefinement(attributes={"jobb": {}}),
            "attributes describes 'jobb', which is not a column of X; did you mean",
        ),
        (TopDownRefinement(taxonomies={"job": {"a": [], "b": []}}), "taxonomy of 'job': there are 2 roots, but a tree"),
        (TopDownRefinement(taxonomies={"job": {"a": 5}}), "taxonomy of 'job': 5 is neither a mapping nor a list"),
        (TopDownRefinement(taxonomies={"job": {"Any": ["clerk"]}}), "is not a leaf of the taxonomy taxonomy of 'job'"),
        (TopDownRefinement(taxonomies={"job": "no.tree"}), "no.tree: the taxonomy cannot be read"),
        (
            TopDownRefinement(attributes={"age": {"rnage": [0, 1]}}),
            "has the unknown key 'rnage'; did you mean 'range'?",
        ),
        (TopDownRefinement(quasi_identifier="age"), "quasi-identifier is 'age', but it must be a list"),
        (TopDownRefinement(attributes={"age": (0, 9)}), "the description of 'age' is (0, 9), but it must be a mapping"),
        (ProgressiveDisclosure(["town"]), "a template is 'town', but it must be a mapping with the keys of a spec."),
        (ProgressiveDisclosure(), "has neither templates nor a spec, so nothing would be protected."),
        (ProgressiveDisclosure([{"sensitive": "town"}]), "[[require]] number 1 lacks the key 'limit'."),
        (ProgressiveDisclosure([{"limit": 0.5}]), "[[require]] number 1 lacks the key 'sensitive'."),
        (ProgressiveDisclosure(TEMPLATES, limit=1.5), "limit is 1.5, but it must be at most 1."),
        (ProgressiveDisclosure(TEMPLATES, limit=0.01), "no release of table can satisfy"),
        (DiffGen(), "the domain of 'age', 'job', 'town', 'income' is not declared, and what the rows hold is private;"),
        (DiffGen(attributes=DOMAINS, taxonomies={"job": JOBS}), "DiffGen needs the labels of the class declared"),
    ],
)
def test_arguments_that_cannot_be_followed(masker, sentence):
    assert sentence in refused(masker)


def test_rows_that_only_choose_the_masking():
    """They are fitted and not released, so transform could not have the groups of the release."""
    asked = {
        "table": {"class": "class"},
        "attributes": {"age": {"kind": "number"}, "job": {"kind": "category"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "job"], "k": 3}],
    }
    X = people()[0][["age", "job"]]
    assert TopDownRefinement(spec=asked).fit(X, people()[1]).release_.table.num_rows == 120
    sentence = refused(TopDownRefinement(spec={**asked, "publish": {"learn": "20%"}}), X)
    assert sentence.startswith("spec: [publish] learn keeps fitted rows out of the release, but transform would return")


@pytest.mark.parametrize("weights", [np.full(120, 0.5), np.full(120, -1)])
def test_weights_that_are_not_records(weights):
    assert "is not a whole number above 0" in refused(TopDownRefinement(), sample_weight=weights)


def test_weights_that_count_nobody():
    sentence = refused(TopDownRefinement(), error=(ValueError, unveil.TableError), sample_weight=np.zeros(120))
    assert "at least one non-zero" in sentence or "no rows" in sentence


def test_missing_values_are_refused_or_left_out(project: Project):
    X = pd.read_csv(project.table)
    y = X.pop("ill")
    sentence = refused(TopDownRefinement(3), X.assign(age=pd.to_numeric(X["age"], "coerce")), y)
    assert "the column 'age' has missing values (1 row)" in sentence
    fitted = TopDownRefinement(spec=project.spec).fit(X, y)
    assert fitted.release_.manifest.rows.dropped == 1


def test_values_without_a_block():
    X, y = people()
    strict = TopDownRefinement(5, taxonomies={"job": JOBS}, search="paper", output="codes").fit(X, y)
    later = X[:2].assign(age=[400, 30], job=["clerk", "pilot"], town=["Oslo", "Cork"])
    with pytest.raises(unveil.TableError, match="column 'age': 400 has no block in this release"):
        strict.transform(later)
    lax = TopDownRefinement(5, taxonomies={"job": JOBS}, search="paper", unseen="suppress", output="codes").fit(X, y)
    masked = lax.transform(later)
    assert np.isnan(masked[0, 0])
    assert not np.isnan(masked[1, 0])
    assert masked[1, 1] == -1
    disclosed = lax.masking_["town"].disclosed
    assert masked[0, 2] == len(disclosed)
    onehot = TopDownRefinement(5, taxonomies={"job": JOBS}, search="paper", unseen="suppress").fit(X, y)
    names = list(onehot.get_feature_names_out())
    jobs = [place for place, name in enumerate(names) if name.startswith("job=")]
    assert (onehot.transform(later)[:, jobs].sum(axis=1) == [1, 0]).all()


def test_values_that_a_column_released_as_it_is_never_had():
    X, y = people()
    later = X[:1].assign(town="Oslo")
    for unseen in ("refuse", "suppress"):
        fitted = TopDownRefinement(5, quasi_identifier=["age"], unseen=unseen, output="codes", search="paper").fit(X, y)
        if unseen == "refuse":
            with pytest.raises(unveil.TableError, match="column 'town': 'Oslo' is not in this release"):
                fitted.transform(later)
        else:
            assert fitted.transform(later)[0, 2] == -1


def test_numbers_that_are_released_as_they_are(project: Project):
    rows = pd.read_csv(project.table, dtype=str)
    rows = rows[rows["age"] != "?"]
    fitted = TopDownRefinement(spec=project.spec).fit(rows.drop(columns="ill"), rows["ill"])
    place = list(fitted.get_feature_names_out()).index("income")
    later = rows.drop(columns="ill")[:2].assign(income=["12.5", "much"])
    with pytest.raises(unveil.TableError, match="column 'income': 'much' is not in this release"):
        fitted.transform(later)
    masked = fitted.set_params(unseen="suppress").transform(later)
    assert masked[0, place] == 12.5
    assert np.isnan(masked[1, place])
    with pytest.raises(unveil.SpecError, match="unseen is 'hide'"):
        fitted.set_params(unseen="hide").transform(later)


def test_other_columns_than_those_fitted():
    X, y = people()
    fitted = TopDownRefinement(5).fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(X[["job", "age", "town", "income"]])
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(X.rename(columns={"age": "years"}))


def test_names_that_would_collide():
    X, y = people()
    for name, expected in (("ill", "ill"), ("age", "class"), ("count", "class"), (None, "class")):
        fitted = TopDownRefinement(5).fit(X, y.rename(name))
        assert fitted.release_.manifest.class_ == expected
    crowded = X.rename(columns={"town": "class", "income": "weight"})
    fitted = TopDownRefinement(5).fit(crowded, y.to_list(), sample_weight=np.ones(len(X)))
    assert fitted.release_.manifest.class_ == "class_"
    assert fitted.release_.manifest.weight == "weight_"
