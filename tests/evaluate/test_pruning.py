"""Pruning a tree that was grown once, next to scikit-learn's trees, each grown and pruned for one cost."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from unveil.evaluation.classifiers import leaves_above

COSTS = (1e-4, 1e-3, 0.004, 0.02, 0.1, 2.0)


def grown(rows: np.ndarray, classes: np.ndarray, weight: np.ndarray, cost: float = 0.0) -> DecisionTreeClassifier:
    model = DecisionTreeClassifier(criterion="entropy", ccp_alpha=cost, random_state=0)
    return model.fit(rows, classes, sample_weight=weight)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("labels", [2, 4])
def test_every_cost_gives_the_tree_that_scikit_learn_prunes(seed: int, labels: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (400, 9)).astype(np.float32)
    classes = (rows[:, :3].sum(axis=1).astype(int) + (rng.random(400) < 0.3)) % labels
    weight = rng.random(400) + 0.1
    model, unseen = grown(rows, classes, weight), rng.integers(0, 2, (500, 9)).astype(np.float32)
    leaves = leaves_above(model.tree_, COSTS)
    said = model.classes_[model.tree_.value[:, 0].argmax(axis=1)]
    sizes = []
    for place, cost in enumerate(COSTS):
        expected = grown(rows, classes, weight, cost)
        assert (said[leaves[model.apply(unseen), place]] == expected.predict(unseen)).all()
        assert len(set(leaves[:, place][model.tree_.children_left == -1])) == expected.get_n_leaves()
        sizes.append(expected.get_n_leaves())
    assert sizes[0] > sizes[2] > 1
    assert sizes[-1] == 1


def test_a_tree_of_one_leaf() -> None:
    model = grown(np.zeros((5, 1)), np.array([0, 1, 1, 0, 1]), np.ones(5))
    assert leaves_above(model.tree_, COSTS).tolist() == [[0] * len(COSTS)]
