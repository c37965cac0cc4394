"""What readers of a private release get from it: classifiers, and tables of one and of two columns.

A release, whatever made it, is seen as rows of codes with weights. The codes of a column are its blocks in order; each
block covers some of the column's public places, evenly, and places are what tables are compared on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.tree import DecisionTreeClassifier

from unveil.evaluation.distances import Spread, table_distances

Array = np.ndarray
Scores = dict[str, float]


@dataclass(frozen=True)
class Coded:
    """A column of a release: the code of every row, and which places each code covers.

    Attributes:
        codes: One per row.
        test: One per test row.
        spread: `[code, place]`, each row of sum 1.
        ordered: Whether codes are in the order of a number.
    """

    codes: Array
    test: Array
    spread: Array
    ordered: bool

    def features(self, labels: Array, weights: Array) -> tuple[Array, Array]:
        """Ranks: those of a number by its order, those of a category by the class shares of its blocks in the release.

        With two classes the best split of a category lies in that order (Breiman et al., 1984), and it takes no column
        per block.
        """
        ranks = np.arange(len(self.spread))
        if not self.ordered:
            total, second = (np.bincount(self.codes, held, len(ranks)) for held in (weights, weights * labels))
            ranks = np.argsort(np.argsort(second / np.maximum(total, 1e-9), kind="stable"), kind="stable")
        return ranks[self.codes].astype(np.float32), ranks[self.test].astype(np.float32)


@dataclass(frozen=True)
class Readable:
    """A release as rows of codes: the columns, the class of every row (0 or 1), and its weight."""

    columns: list[Coded]
    labels: Array
    weights: Array


def learned(release: Readable, truth: Array) -> Iterator[tuple[str, Scores]]:
    """What classifiers that are trained on a release get right about test rows."""
    held = release.weights > 0
    if len(np.unique(release.labels[held])) < 2:
        yield from ((name, scores(np.zeros(len(truth)), truth)) for name in ("tree", "LightGBM", "naive Bayes"))
        return
    pairs = [
        column.features(release.labels, np.maximum(release.weights, 0))
        for column in release.columns
        if len(column.spread) > 1
    ]
    train, test = (np.stack([pair[side] for pair in pairs], axis=1) for side in (0, 1))
    labels, weights = release.labels[held], release.weights[held]
    tree = DecisionTreeClassifier(criterion="entropy", min_weight_fraction_leaf=0.002, ccp_alpha=0.0002, random_state=0)
    tree.fit(train[held], labels, sample_weight=weights)
    yield "tree", scores(tree.predict_proba(test)[:, 1], truth)
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        pass
    else:
        boosted = LGBMClassifier(
            n_estimators=100, num_leaves=15, learning_rate=0.08, min_child_samples=1, min_child_weight=1,
            n_jobs=1, random_state=0, verbose=-1,
        )  # fmt: skip
        boosted.fit(train[held], labels, sample_weight=weights)
        yield "LightGBM", scores(boosted.predict_proba(test)[:, 1], truth)
    bayes = CategoricalNB(min_categories=[len(column.spread) for column in release.columns])
    codes, tested = (
        np.stack([getattr(column, side) for column in release.columns], axis=1) for side in ("codes", "test")
    )
    bayes.fit(codes[held], labels, sample_weight=weights)
    yield "naive Bayes", scores(bayes.predict_proba(tested)[:, 1], truth)


def scores(chances: Array, truth: Array) -> Scores:
    """Accuracy, AUC and balanced accuracy of the chances of the second class."""
    answers = chances > 0.5
    return {
        "accuracy": float(accuracy_score(truth, answers)),
        "auc": float(roc_auc_score(truth, chances)),
        "balanced": float(balanced_accuracy_score(truth, answers)),
    }


def tables_kept(release: Readable, places: list[Array], sizes: list[int]) -> Scores:
    """How far the one- and two-column tables of a release are from the true ones: total variation, on average.

    Args:
        release: The release; its class is a column too.
        places: For every column, and the class, the true place of each record.
        sizes: How many places each has.
    """
    spreads = [*(Spread(column.codes, column.spread) for column in release.columns), Spread(release.labels, np.eye(2))]
    assert [spread.shares.shape[1] for spread in spreads] == sizes
    one, two = table_distances(places, spreads, None, release.weights).of(range(len(sizes)))
    return {"one": one, "two": two}
