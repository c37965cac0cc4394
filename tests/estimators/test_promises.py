"""What is promised about the fitted rows, counted by oracles that know nothing of the package."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unveil
from estimators.people import DOMAINS, JOBS, TEMPLATES, group_sizes, highest_share, people
from unveil.sklearn import DiffGen, ProgressiveDisclosure, TopDownRefinement

OUTPUTS = ["onehot", "codes", "labels"]


@st.composite
def tables(draw: st.DrawFn) -> tuple[pd.DataFrame, list[str]]:
    """Small tables of a number, a category with a taxonomy and one without, with two classes at least."""
    row = st.tuples(st.integers(0, 9), st.sampled_from(["clerk", "lawyer", "baker"]), st.sampled_from("abc"))
    rows = draw(st.lists(row, min_size=6, max_size=40))
    classes = draw(st.lists(st.sampled_from(["no", "yes"]), min_size=len(rows) - 2, max_size=len(rows) - 2))
    return pd.DataFrame(rows, columns=["age", "job", "town"]), [*classes, "no", "yes"]


@settings(max_examples=60, deadline=None)
@given(
    table=tables(),
    k=st.integers(1, 6),
    output=st.sampled_from(OUTPUTS),
    criterion=st.sampled_from(["score", "infogain"]),
)
def test_fitted_rows_are_k_anonymous(table, k, output, criterion):
    X, y = table
    masker = TopDownRefinement(k, taxonomies={"job": JOBS}, criterion=criterion, output=output)
    assert min(group_sizes(masker.fit_transform(X, y)).values()) >= k


@pytest.mark.parametrize("output", OUTPUTS)
def test_an_encoding_tells_apart_what_the_labels_tell_apart(output):
    X, y = people(400)
    groups = [
        TopDownRefinement(5, taxonomies={"job": JOBS}, output=chosen).fit_transform(X, y)
        for chosen in ("labels", output)
    ]
    labels, encoded = (sorted(group_sizes(rows).values()) for rows in groups)
    assert encoded == labels
    assert len(labels) > 3


NEVER = {"role": "identifier"}


def test_the_oracle_sees_rows_that_are_not_masked():
    X, y = people()
    fitted = TopDownRefinement(5, taxonomies={"job": JOBS}, output="labels").fit(X, y)
    spoiled = fitted.transform(X)
    spoiled[0, 0] = "[18, 19)"
    assert min(group_sizes(fitted.transform(X)).values()) >= 5
    assert min(group_sizes(spoiled).values()) == 1
    assert min(group_sizes(X.to_numpy()).values()) == 1


def test_only_the_quasi_identifier_is_masked():
    X, y = people()
    masker = TopDownRefinement(8, quasi_identifier=["age", "job"], taxonomies={"job": JOBS}, output="labels")
    masked = masker.fit_transform(X, y)
    assert min(group_sizes(masked[:, :2]).values()) >= 8
    assert (masked[:, 2:] == X[["town", "income"]].to_numpy(dtype=object)).all()


def test_weights_count_as_records():
    X, y = people(60)
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    masker = TopDownRefinement(6, attributes=DOMAINS, taxonomies={"job": JOBS}).fit(X, y, sample_weight=weights)
    held = weights > 0
    assert min(group_sizes(masker.transform(X)[held], weights[held]).values()) >= 6
    repeated = TopDownRefinement(6, attributes=DOMAINS, taxonomies={"job": JOBS})
    repeated.fit(X.loc[X.index.repeat(weights)], y[y.index.repeat(weights)])
    assert (masker.transform(X) == repeated.transform(X)).all()


@settings(max_examples=40, deadline=None)
@given(table=tables(), limit=st.sampled_from([0.4, 0.6, 0.8]))
def test_fitted_rows_keep_to_their_templates(table, limit):
    X, y = table
    masker = ProgressiveDisclosure(
        [{"sensitive": "town", "values": ["a"]}], limit=limit, taxonomies={"job": JOBS}, output="labels"
    )
    if highest_share([()] * len(X), X["town"], "a") > limit or "a" not in set(X["town"]):
        with pytest.raises(unveil.UnveilError):
            masker.fit(X, y)
        return
    masked = masker.fit_transform(X, y)
    assert (masked[:, 2] == X["town"]).all()
    assert highest_share(masked[:, :2], X["town"], "a") <= limit


def test_raw_rows_break_the_template_that_masked_ones_keep():
    X, y = people()
    masked = ProgressiveDisclosure(TEMPLATES, output="labels").fit_transform(X, y)
    columns = [place for place, name in enumerate(X.columns) if name != "town"]
    assert highest_share(masked[:, columns], X["town"], "Cork") <= 0.5
    assert highest_share(X.drop(columns="town").to_numpy(), X["town"], "Cork") == 1


def test_transformed_rows_are_the_released_ones():
    X, y = people()
    masker = TopDownRefinement(5, taxonomies={"job": JOBS}, output="labels").fit(X, y)
    spec = {
        "table": {"class": "ill"},
        "attributes": {
            "age": {"kind": "number", "whole": True},
            "job": {
                "kind": "category",
                "taxonomy": unveil.schema.Taxonomy(
                    (
                        "Any job",
                        [("Office", [("clerk", []), ("lawyer", [])]), ("Craft", [("baker", []), ("smith", [])])],
                    )
                ),
            },
            "town": {"kind": "category"},
            "income": {"kind": "number"},
        },
        "require": [{"kind": "k-anonymity", "quasi-identifier": list(X.columns), "k": 5}],
    }
    release = unveil.publish(X.assign(ill=y), spec)
    assert masker.release_.table.equals(release.table)
    assert masker.release_.manifest == release.manifest
    released = release.to_pandas(intervals="text")[list(X.columns)].to_numpy()
    assert group_sizes(masker.transform(X)) == group_sizes(released)


@pytest.mark.parametrize("person", ["whose", ["whose", "part"]])
def test_groups_are_shared_by_k_persons(person: str | list[str]) -> None:
    X, y = people(300)
    ids = np.random.default_rng(4).integers(0, 60, len(X))
    X = X.assign(whose=ids, part=ids % 3)
    masker = TopDownRefinement(5, person=person, output="labels", attributes={"part": NEVER}).fit(X, y)
    masked = masker.transform(X)
    assert masked.shape[1] == 4, "the columns of persons are never released"
    persons: dict[tuple[str, ...], set[int]] = {}
    for row, whose in zip(masked, ids.tolist(), strict=True):
        persons.setdefault(tuple(row), set()).add(whose)
    assert min(map(len, persons.values())) >= 5
    assert "5 persons" in masker.guarantee_
    by_records = TopDownRefinement(5, output="labels", attributes={"whose": NEVER, "part": NEVER}).fit(X, y)
    assert len(group_sizes(by_records.transform(X))) > len(persons)


def test_a_private_release_is_about_one_person() -> None:
    X, y = people(200)
    X = X.assign(whose=np.arange(len(X)) // 2)
    masker = DiffGen(
        1.0, classes=["no", "yes"], attributes=DOMAINS, taxonomies={"job": JOBS}, person="whose", contributions=2,
        unsafe_seed=1,
    ).fit(X, y)  # fmt: skip
    assert masker.release_.manifest.requirements[0]["contributions"] == 2
    assert "whose" not in masker.release_.table.column_names
    with pytest.raises(unveil.SpecError, match="contributions"):
        masker.set_params(contributions=None).fit(X, y)
