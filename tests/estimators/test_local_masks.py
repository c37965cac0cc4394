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
