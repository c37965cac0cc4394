"""Pipelines, grids, clones, pickles and frames: the transformers among scikit-learn's own parts."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.tree import DecisionTreeClassifier

from estimators.people import DOMAINS, JOBS, TEMPLATES, people
from unveil.errors import TableError
from unveil.schema import Taxonomy
from unveil.sklearn import DiffGen, ProgressiveDisclosure, TopDownRefinement

MASKERS = {
    "k-anonymity": TopDownRefinement(5, attributes=DOMAINS, taxonomies={"job": JOBS}),
    "templates": ProgressiveDisclosure(TEMPLATES, attributes=DOMAINS, taxonomies={"job": JOBS}),
    "private": DiffGen(
        4.0, specializations=4, attributes=DOMAINS, taxonomies={"job": JOBS}, classes=["no", "yes"], unsafe_seed=1
    ),
}
every_masker = pytest.mark.parametrize("masker", [pytest.param(masker, id=name) for name, masker in MASKERS.items()])


@every_masker
@pytest.mark.parametrize("classifier", [DecisionTreeClassifier(random_state=0), LogisticRegression(max_iter=5000)])
def test_a_classifier_learns_from_masked_rows(masker, classifier):
    X, y = people(400)
    later, classes = people(200, seed=1)
    pipeline = make_pipeline(clone(masker), classifier).fit(X, y)
    assert set(pipeline.predict(later)) <= {"no", "yes"}
    if isinstance(classifier, DecisionTreeClassifier):
        assert pipeline.score(later, classes) > 0.6


@pytest.mark.parametrize(
    ("name", "argument", "values"),
    [
        ("k-anonymity", "k", np.array([2, 20, 150])),
        ("templates", "limit", [0.4, 0.9]),
        ("private", "epsilon", [0.1, 5]),
    ],
)
def test_a_grid_tunes_what_is_promised(name, argument, values):
    X, y = people(400)
    pipeline = Pipeline([("mask", clone(MASKERS[name])), ("tree", DecisionTreeClassifier(random_state=0))])
    grid = GridSearchCV(pipeline, {f"mask__{argument}": values}, cv=3, error_score="raise").fit(X, y)
    assert len(set(grid.cv_results_["mean_test_score"])) > 1
    assert grid.best_estimator_["mask"].get_params()[argument] in list(values)
    assert grid.score(X, y) > 0.5


def in_order():
    """Rows as some files have them: sorted by age, so that every fold lacks ages and towns of the others."""
    X, y = people(400)
    order = X.sort_values(["age", "town"]).index
    return X.loc[order, ["age", "town", "income"]].assign(town=[f"t{place // 80}" for place in range(400)]), y.loc[
        order
    ]


def test_the_grid_of_the_readme_works_on_rows_in_order():
    X, y = in_order()
    pipeline = make_pipeline(TopDownRefinement(k=5, unseen="suppress"), DecisionTreeClassifier(random_state=0))
    grid = GridSearchCV(pipeline, {"topdownrefinement__k": [5, 10, 20]}, error_score="raise").fit(X, y)
    assert np.isfinite(grid.cv_results_["mean_test_score"]).all()


def test_a_value_that_no_fitted_row_had_is_refused_with_what_to_declare():
    X, y = in_order()
    masker = TopDownRefinement(k=5).fit(X[80:], y[80:])
    with pytest.raises(TableError, match="has no block") as refusal:
        masker.transform(X[:80])
    assert "The domain of 'age', 'town', 'income' was observed in the fitted rows; declare it" in str(refusal.value)
    declared = {"age": {"range": [0, 100], "whole": True}, "town": {"values": [f"t{n}" for n in range(5)]}}
    masker = TopDownRefinement(k=5, attributes={**declared, "income": {"range": [0, 101]}}).fit(X[80:], y[80:])
    assert len(masker.transform(X[:80])) == 80


@every_masker
def test_a_clone_is_unfitted_and_fits_alike(masker):
    X, y = people()
    first, second = clone(masker).fit(X, y), clone(masker).fit(X, y)
    assert not hasattr(clone(first), "release_")
    assert (first.transform(X) == second.transform(X)).all()


@every_masker
def test_a_pickle_masks_as_before(masker):
    X, y = people()
    fitted = clone(masker).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own
    assert (again.transform(X) == fitted.transform(X)).all()
    assert again.release_.table.equals(fitted.release_.table)
    assert again.guarantee_ == fitted.guarantee_


@every_masker
def test_a_fitted_transformer_holds_no_raw_value_that_its_release_does_not(masker):
    X, y = people()
    X["note"] = [f"secret-{place}" for place in range(len(X))]
    fitted = clone(masker).set_params(attributes={**DOMAINS, "note": {"role": "identifier"}}).fit(X, y)
    assert b"secret-" not in pickle.dumps(fitted)
    assert fitted.release_.trace == []
    fitted.kept_ = X
    assert b"secret-" in pickle.dumps(fitted)


def test_a_fitted_transformer_does_not_know_what_it_suppressed():
    X, y = people()
    X.loc[0, "town"] = "Ultima Thule"
    fitted = TopDownRefinement(5, attributes={"age": DOMAINS["age"]}).fit(X, y)
    assert b"Ultima" not in pickle.dumps(fitted)
    assert b"Ultima" in pickle.dumps(TopDownRefinement(5, quasi_identifier=["age"]).fit(X, y))


@every_masker
def test_frames_arrays_and_their_types_give_the_same(masker):
    X, y = people()
    expected = clone(masker).fit(X, y).transform(X)
    table = pa.Table.from_pandas(X)
    classes = [y.to_list(), pl.Series(y), pa.chunked_array([y]), y.to_numpy()]
    frames = [pl.from_pandas(X), table, table.to_batches()[0], X.astype({"job": "category", "age": "int16"})]
    for frame, labels in zip(frames, classes, strict=True):
        fitted = clone(masker).fit(frame, labels)
        assert list(fitted.feature_names_in_) == list(X.columns)
        assert (fitted.transform(frame) == expected).all()


def test_arrays_have_columns_by_number():
    X, y = people()
    masker = TopDownRefinement(5, taxonomies={"x1": JOBS}, attributes={"x0": {"whole": True}})
    for rows in (X.to_numpy(dtype=object), X.to_numpy(dtype=object).tolist(), X.set_axis(range(4), axis=1)):
        fitted = clone(masker).fit(rows, y)
        assert not hasattr(fitted, "feature_names_in_")
        assert fitted.n_features_in_ == 4
        named = TopDownRefinement(5, taxonomies={"job": JOBS}, attributes={"age": {"whole": True}}).fit(X, y)
        assert (fitted.transform(rows) == named.transform(X)).all()
        assert list(fitted.get_feature_names_out(list(X.columns))) == list(named.get_feature_names_out())


@pytest.mark.parametrize("container", ["pandas", "polars"])
@pytest.mark.parametrize("output", ["onehot", "codes", "labels"])
def test_set_output_names_what_comes_out(container, output):
    X, y = people()
    masker = TopDownRefinement(5, taxonomies={"job": JOBS}, output=output).set_output(transform=container)
    masked = masker.fit_transform(X, y)
    assert isinstance(masked, pd.DataFrame if container == "pandas" else pl.DataFrame)
    assert list(masked.columns) == list(masker.get_feature_names_out())
    assert masked.shape == (len(X), len(masker.get_feature_names_out()))
    if container == "pandas":
        assert (masked.index == X.index).all()


def test_what_the_encodings_say():
    X, y = people(400)
    settings = {"quasi_identifier": ["age", "job"], "taxonomies": {"job": JOBS}, "search": "paper"}
    masker = TopDownRefinement(5, **settings, output="labels")
    labels = masker.set_output(transform="pandas").fit_transform(X, y)
    codes = clone(masker).set_params(output="codes").fit_transform(X, y)
    onehot = clone(masker).set_params(output="onehot").fit_transform(X, y)
    intervals = labels["age"].str.extract(r"\[(\d+), (\d+)\)").astype(float)
    assert intervals.nunique().min() > 1
    middles = masker.masking_.apply(X, intervals="midpoint")["age"]
    assert (middles == (intervals[0] + intervals[1] - 1) / 2).all(), "ages are whole, so [17, 46) ends with 45"
    assert (codes["age"] == middles).all()
    assert (onehot["age"] == codes["age"]).all()
    assert (codes["income"] == X["income"]).all()
    blocks = [block.label for block in masker.masking_["job"].blocks]
    assert len(blocks) > 1
    assert [blocks[int(code)] for code in codes["job"]] == list(labels["job"])
    for block in blocks:
        assert ((onehot[f"job={block}"] == 1) == (labels["job"] == block)).all()
    assert ((onehot["town=Cork"] == 1) == (X["town"] == "Cork")).all()


def test_a_column_transformer_masks_some_columns():
    X, y = people()
    mixed = make_column_transformer((TopDownRefinement(5, search="paper"), ["age", "town"]), remainder="drop")
    assert mixed.fit(X, y).get_feature_names_out()[0] == "topdownrefinement__age"
    assert len(mixed.transform(X)) == len(X)


def test_weights_pass_through_a_pipeline():
    X, y = people()
    weights = np.full(len(X), 3)
    pipeline = make_pipeline(TopDownRefinement(12), DecisionTreeClassifier(random_state=0))
    pipeline.fit(X, y, topdownrefinement__sample_weight=weights)
    assert pipeline[0].release_.manifest.records == 3 * len(X)
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline(
            TopDownRefinement(12).set_fit_request(sample_weight=True),
            DecisionTreeClassifier(random_state=0).set_fit_request(sample_weight=False),
        ).fit(X, y, sample_weight=weights)
    assert routed[0].release_.table.equals(pipeline[0].release_.table)


def test_a_taxonomy_is_an_object_a_file_or_a_mapping(tmp_path):
    X, y = people()
    branches = [("Office", [("clerk", []), ("lawyer", [])]), ("Craft", [("baker", []), ("smith", [])])]
    tree = Taxonomy(("Any job", branches))
    (tmp_path / "job.tree").write_text(f"{tree}\n", encoding="utf-8")
    deeper = {"Any job": {"Office": {"clerk": None, "lawyer": {}}, "Craft": ["baker", "smith"]}}
    masked = [
        TopDownRefinement(5, taxonomies={"job": given}, output="labels").fit_transform(X, y)
        for given in (JOBS, tree, tmp_path / "job.tree", str(tmp_path / "job.tree"), deeper)
    ]
    assert all((rows == masked[0]).all() for rows in masked[1:])


@every_masker
@pytest.mark.parametrize("type_", [np.int64, np.float64, np.bool_, np.str_, object])
def test_training_data_is_the_release(masker, type_):
    X, y = people()
    classes = np.array(["no", "yes"] if type_ in (np.str_, object) else [0, 1]).astype(type_)
    y = classes[(y == "yes").astype(int)]
    fitted = clone(masker)
    if isinstance(fitted, DiffGen):
        fitted.set_params(classes=classes)
    rows, labels, weights = fitted.fit(X, y).training_data()
    assert labels.dtype.kind in (y.dtype.kind, "O")
    assert sorted(set(labels.tolist())) == sorted(set(y.tolist()))
    assert weights.sum() == fitted.release_.to_rows().num_rows
    assert rows.shape[1] == len(fitted.get_feature_names_out())
    tree = DecisionTreeClassifier(random_state=0).fit(rows, labels, sample_weight=weights)
    assert tree.score(fitted.transform(X), y) > 0.6
    if not isinstance(fitted, DiffGen):
        order = np.lexsort(np.column_stack([rows, labels == classes[1]]).T)
        masked = np.column_stack([fitted.transform(X), y == classes[1]])
        expected = masked[np.lexsort(masked.T)].astype(float)
        assert (np.column_stack([rows, labels == classes[1]])[order].astype(float) == expected).all()
