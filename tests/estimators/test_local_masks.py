"""The transformers on labels that overlap between groups: both ends of an interval, and a pipeline on them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from unveil.sklearn import TopDownRefinement


def people() -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"age": random.integers(0, 64, 600), "city": random.choice(["Bern", "Chur", "Genf"], 600)})
    return frame, ((frame["age"] > 30) ^ (frame["city"] == "Bern")).to_numpy()


@pytest.mark.parametrize("output", ["onehot", "codes"])
def test_a_pipeline_learns_from_groups_with_labels_of_their_own(output: str) -> None:
    rows, ill = people()
    masker = TopDownRefinement(20, search="joint", recoding="local", output=output)
    pipeline = make_pipeline(masker, DecisionTreeClassifier(random_state=0)).fit(rows[:400], ill[:400])
    assert pipeline.score(rows[400:], ill[400:]) > 0.9
    names = pipeline[0].get_feature_names_out()
    assert list(names[:2]) == ["age from", "age to"]
    assert pipeline[0].transform(rows[400:]).shape == (200, len(names))


JOBS = {"Any": {"Office": ["clerk", "lawyer", "temp"], "Craft": {"Wood": ["joiner", "cooper"], "Iron": ["smith"]}}}
"""The leaves in the order of the tree: clerk, lawyer, temp, joiner, cooper, smith."""
OFFICE, CRAFT = {"clerk", "lawyer", "temp", "Office, other"}, {"Wood", "joiner", "cooper", "smith", "Craft, other"}


def workers() -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(1)
    jobs = random.choice(
        ["clerk", "lawyer", "temp", "joiner", "cooper", "smith"], 600, p=[0.4, 0.3, 0.1, 0.1, 0.06, 0.04]
    )
    frame = pd.DataFrame({"age": random.integers(0, 64, 600), "job": jobs})
    return frame, ((frame["age"] > 30) ^ np.isin(jobs, ["joiner", "clerk"])).to_numpy()


def fitted(output: str) -> TopDownRefinement:
    return TopDownRefinement(40, taxonomies={"job": JOBS}, output=output).fit(*workers())


def test_a_label_is_also_every_coarser_one_above_it() -> None:
    rows, _ = workers()
    labels, onehot = fitted("labels").transform(rows)[:, 1], fitted("onehot")
    names, table = [str(name) for name in onehot.get_feature_names_out()], onehot.transform(rows)
    assert {"clerk", "Craft"} <= set(labels)
    for coarse, below in (("Office", OFFICE), ("Craft", CRAFT)):
        column = table[:, names.index(f"job={coarse}")]
        assert column.tolist() == [float(label == coarse or label in below) for label in labels]


def test_codes_are_the_first_and_the_last_value_that_a_label_covers() -> None:
    rows, _ = workers()
    labels, codes = fitted("labels").transform(rows)[:, 1], fitted("codes")
    assert list(codes.get_feature_names_out())[2:] == ["job from", "job to"]
    places = {"Any": (0, 5), "Office": (0, 2), "Office, other": (0, 2), "Craft": (3, 5), "Craft, other": (3, 5)}
    places |= {"Any, other": (0, 5), "Wood": (3, 4), "Wood, other": (3, 4), "clerk": (0, 0), "lawyer": (1, 1)}
    places |= {"temp": (2, 2), "joiner": (3, 3), "cooper": (4, 4), "smith": (5, 5)}
    assert [tuple(ends) for ends in codes.transform(rows)[:, 2:]] == [places[label] for label in labels]
