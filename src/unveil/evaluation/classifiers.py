"""The classifiers that say what a release is worth. Each learns from one part only and answers for the other.

Nothing is fitted on test rows: codes, bins and pruning come from the training part. A value that it does not have is
unknown to a classifier; each says what it does with one. A row of weight w counts as w rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from unveil.arrays import FloatArray, IntArray, NumberArray, grouped, packed_keys
from unveil.errors import UnveilError, did_you_mean, listed
from unveil.evaluation.examples import (
    UNSEEN,
    Coded,
    Examples,
    Labels,
    Numbers,
    encoded_ends,
    encoded_nested,
    encoded_words,
)
from unveil.evaluation.protocol import Answers, Scores, scores
from unveil.masking import Masking

BITS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""What a leaf of the tree may have to save to be kept, in bits over all training records: the candidates."""
FOLDS = 3
"""Parts that the training rows are cut into to choose among them."""
BINS = 10
"""Naive Bayes puts a number into this many bins, of about equal weight."""
MOST_CATEGORIES = 254
"""This many values of a category boosting can tell apart."""
DENSE = 100_000_000
"""Up to this many one-hot cells are laid out in full."""


@dataclass(frozen=True)
class Classifier:
    """A way to learn, and what to call it."""

    name: str
    label: str
    learn: Callable[[Examples, Examples], Answers]
    alone: bool = False
    """Whether it must run in the main thread, as Java's machine does, which starts there and ends with it."""

    def __call__(self, train: Examples, test: Examples) -> Labels:
        """The labels that it predicts for the test part."""
        return self.answers(train, test).likeliest

    def answers(self, train: Examples, test: Examples) -> Answers:
        """What it thinks of the test part, whose own labels it does not look at.

        Without a column to learn from, chances are the shares of the labels; without any row, there is no label.
        """
        labels, codes = np.unique(train.labels, return_inverse=True)
        if not len(labels):
            return Answers(np.array([""]), np.ones((len(test), 1)))
        if len(labels) < 2 or not train.columns:
            held = np.bincount(codes, weights=train.weight)
            return Answers(labels, np.tile(held / held.sum(), (len(test), 1)))
        return self.learn(train, test)


def classifier(name: str) -> Classifier:
    """A classifier by its name."""
    if name not in CLASSIFIERS:
        hint = did_you_mean(name, CLASSIFIERS) or f"; there are {listed(CLASSIFIERS)}."
        raise UnveilError(f"there is no classifier {name!r}{hint}")
    return CLASSIFIERS[name]


def error_rate(name: str, train: Examples, test: Examples) -> float:
    """The share of test records that a classifier gets wrong."""
    wrong = classifier(name)(train, test) != test.labels
    return float(np.average(wrong, weights=test.weights))


def tested(name: str, train: Examples, test: Examples) -> Scores:
    """How good a classifier is on the test part."""
    return scores(classifier(name).answers(train, test), test)


def tree(train: Examples, test: Examples) -> Answers:
    """Scikit-learn's tree on one-hot columns, grown by entropy and cost-complexity pruned.

    What a leaf costs is chosen by cross-validation on the training part. An unseen value sets no column, so it goes the
    way of "none of these". Labels that overlap between groups come with what they share: ends of intervals, and the
    coarser labels above them.
    """
    labels, classes = np.unique(train.labels, return_inverse=True)
    columns = list(encoded_nested(train, test))
    rows, weight = _distinct(columns, classes, train.weight)
    learned, asked = _one_hot(columns, "train", rows), _one_hot(columns, "test", np.arange(len(test)))
    bits = _chosen_bits(learned, classes[rows], weight)
    return Answers(labels, _grown(learned, classes[rows], weight, bits).predict_proba(asked))


def bayes(train: Examples, test: Examples) -> Answers:
    """Naive Bayes on categories, with Laplace's one added to every count. An unseen value says nothing.

    A label that overlaps others may be any value that it covers: records count evenly for these, and what it says of
    the class is the mean of what they say.
    """
    labels, classes = np.unique(train.labels, return_inverse=True)
    prior = np.bincount(classes, weights=train.weight)
    likely = np.tile(np.log((prior + 1) / (prior.sum() + len(labels))), (len(test), 1))
    for column, words in encoded_words(train, test):
        held = _binned(column, train.weight) if isinstance(column, Numbers) else column
        seen = held.train != UNSEEN
        cells = held.train[seen] * len(labels) + classes[seen]
        counted = np.bincount(cells, weights=train.weight[seen], minlength=held.size * len(labels))
        counts = counted.reshape(held.size, -1)
        values = _likely(counts, prior) if words is None else _likely_words(counts, prior, words.ends)
        known = held.test != UNSEEN
        likely[known] += values[held.test[known]]
    chances = np.exp(likely - likely.max(axis=1, keepdims=True))
    return Answers(labels, chances / chances.sum(axis=1, keepdims=True))


def boosting(train: Examples, test: Examples) -> Answers:
    """Scikit-learn's histogram gradient boosting. An unseen value counts as missing.

    Rows are repeated by their weight where it is whole, since it counts rows to tell whether a leaf is too small. It
    runs in one thread: several wait for each other in a loop, which takes ten times as long where cores are busy.
    Labels that overlap are the two ends of what they cover: the same label is in many groups next to finer ones.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    columns = list(encoded_ends(train, test))
    common = [_common(column, train.weight) if isinstance(column, Coded) else column for column in columns]
    learned, asked = (_with_gaps(common, part) for part in ("train", "test"))
    units = _units(train.weight)
    rows = np.repeat(np.arange(len(train)), units)
    model = HistGradientBoostingClassifier(
        categorical_features=[isinstance(column, Coded) for column in columns], early_stopping=False, random_state=0
    )
    with threadpool_limits(1, "openmp"):
        model.fit(learned[rows], train.labels[rows], sample_weight=(train.weight / units)[rows])
        return Answers(model.classes_, model.predict_proba(asked))


def c45(train: Examples, test: Examples) -> Answers:
    """C4.5: Weka's J48, which is loaded when it is first asked for."""
    from unveil.evaluation.c45 import c45 as j48

    return j48(train, test)


CLASSIFIERS: dict[str, Classifier] = {
    item.name: item
    for item in (
        Classifier("tree", "decision tree (scikit-learn, pruned; not C4.5)", tree),
        Classifier("bayes", "naive Bayes", bayes),
        Classifier("boosting", "gradient boosting (scikit-learn)", boosting),
        Classifier("c45", "C4.5 (Weka's J48)", c45, alone=True),
    )
}


def _distinct(columns: Sequence[Coded | Numbers], classes: IntArray, weight: FloatArray) -> tuple[IntArray, FloatArray]:
    """A row of each kind and the weight of all of its kind, in an order that owes nothing to the rows' own."""
    held = [_ranks(part.train) if isinstance(part, Numbers) else part.train for part in columns]
    held.append(classes)
    order, starts, _ = grouped(packed_keys(held, [int(codes.max()) + 1 for codes in held]))
    return order[starts], np.add.reduceat(weight[order], starts)


def _ranks(numbers: FloatArray) -> IntArray:
    """The rank of each number among those that occur; what is missing comes last."""
    one_each = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # one zero, and one that is missing
    held = pa.array(one_each).dictionary_encode()
    order = np.argsort(held.dictionary.to_numpy(), kind="stable")
    ranks: IntArray = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    found: IntArray = ranks[held.indices.to_numpy()]
    return found


def _one_hot(columns: Sequence[Coded | Numbers], part: Literal["train", "test"], rows: IntArray) -> Any:
    """One column per value, and numbers as they are; sparse where it would be too large."""
    widths = [column.size if isinstance(column, Coded) else 1 for column in columns]
    if sum(widths) * len(rows) > DENSE:
        return _sparse_one_hot(columns, part, rows)
    laid = np.zeros((len(rows), sum(widths)), dtype=np.float32)
    start = 0
    for column, width in zip(columns, widths, strict=True):
        values = getattr(column, part)[rows]
        if isinstance(column, Numbers):
            laid[:, start] = values
        else:
            seen = np.flatnonzero(values != UNSEEN)
            laid[seen, start + values[seen]] = 1
        start += width
    return laid


def _sparse_one_hot(columns: Sequence[Coded | Numbers], part: Literal["train", "test"], rows: IntArray) -> Any:
    from scipy import sparse

    blocks = []
    for column in columns:
        values = getattr(column, part)[rows]
        if isinstance(column, Numbers):
            # The tree takes no gaps in a sparse array: what is missing lies below all numbers.
            below = np.nanmin(column.train, initial=0) - 1
            blocks.append(sparse.csc_array(np.nan_to_num(values, nan=below)[:, None], dtype=np.float32))
            continue
        seen = np.flatnonzero(values != UNSEEN)
        ones = np.ones(len(seen), dtype=np.float32)
        blocks.append(sparse.csc_array((ones, (seen, values[seen])), shape=(len(rows), column.size)))
    return sparse.hstack(blocks, format="csr")


def _grown(rows: Any, classes: IntArray, weight: FloatArray, bits: float = 0.0) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(criterion="entropy", ccp_alpha=bits / weight.sum(), random_state=0)
    return model.fit(rows, classes, sample_weight=weight)


def _chosen_bits(rows: Any, classes: IntArray, weight: FloatArray) -> float:
    """What a leaf must save for the fewest errors in cross-validation; the most of those that do equally well."""
    units = _units(weight)
    drawn = np.random.default_rng(0).multinomial(units, np.full(FOLDS, 1 / FOLDS)) * (weight / units)[:, None]
    wrong = np.zeros(len(BITS))
    for held in drawn.T:
        kept = weight - held
        learn, test = np.flatnonzero(kept > 0), np.flatnonzero(held > 0)
        if len(learn) and len(test):
            model = _grown(rows[learn], classes[learn], kept[learn])
            # The cost of a leaf is per record of the whole, of which this part holds some.
            leaves = leaves_above(model.tree_, [bits / weight.sum() for bits in BITS])[model.apply(rows[test])]
            said = model.classes_[model.tree_.value[:, 0].argmax(axis=1)]
            wrong += held[test] @ (said[leaves] != classes[test][:, None])
    return BITS[int(np.flatnonzero(wrong == wrong.min())[-1])]


def _units(weight: FloatArray) -> IntArray:
    """The records that a row represents where all weights are whole, else the row itself."""
    whole = bool((weight == np.floor(weight)).all())
    return weight.astype(np.int64) if whole else np.ones(len(weight), dtype=np.int64)


def _likely(counts: NumberArray, prior: NumberArray) -> FloatArray:
    """The logarithm of how likely each value is in each class."""
    return np.log(counts + 1) - np.log(prior + len(counts))


def _likely_words(counts: NumberArray, prior: NumberArray, ends: IntArray) -> FloatArray:
    """The same, up to a summand per label, for labels that overlap: the mean over the places that each covers."""
    (first, last), places = ends.T, int(ends.max())
    each = counts / (last - first)[:, None]
    spread = np.zeros((places + 1, len(prior)))
    np.add.at(spread, first, each)
    np.subtract.at(spread, last, each)
    odds = np.exp(_likely(np.maximum(np.cumsum(spread, axis=0)[:-1], 0), prior))
    odds /= odds.sum(axis=1, keepdims=True)
    below = np.vstack([np.zeros((1, len(prior))), np.cumsum(odds, axis=0)])
    mean: FloatArray = (below[last] - below[first]) / (last - first)[:, None]
    return np.log(mean)


def _binned(column: Numbers, weight: FloatArray) -> Coded:
    """Bins of about equal weight in the training part, and one for missing values; the outer ones are open."""
    known = np.flatnonzero(~np.isnan(column.train))
    order = known[np.argsort(column.train[known], kind="stable")]
    below = np.cumsum(weight[order])
    shares = np.arange(1, BINS) / BINS
    edges = np.unique(column.train[order][np.searchsorted(below, shares * below[-1])]) if len(order) else np.zeros(0)
    gaps = len(known) < len(column.train)
    missing = len(edges) + 1 if gaps else UNSEEN
    return Coded(_bins(edges, column.train, missing), _bins(edges, column.test, missing), len(edges) + 1 + gaps)


def _bins(edges: FloatArray, values: FloatArray, missing: int) -> IntArray:
    places = np.searchsorted(edges, values, side="left").astype(np.int64)
    return np.where(np.isnan(values), missing, places)


def _common(column: Coded, weight: FloatArray) -> Coded:
    """Only the commonest values of a category with more than boosting can take; the others count as unseen."""
    if column.size <= MOST_CATEGORIES:
        return column
    held = np.bincount(column.train, weights=weight, minlength=column.size)
    new = np.full(column.size + 1, UNSEEN)
    new[np.argsort(-held, kind="stable")[:MOST_CATEGORIES]] = np.arange(MOST_CATEGORIES)
    return Coded(new[column.train], new[column.test], MOST_CATEGORIES)


def _with_gaps(columns: Sequence[Coded | Numbers], part: str) -> FloatArray:
    values = np.column_stack([getattr(column, part) for column in columns]).astype(np.float64)
    coded = [isinstance(column, Coded) for column in columns]
    values[:, coded] = np.where(values[:, coded] == UNSEEN, np.nan, values[:, coded])
    return values


NOTHING = -1
"""What scikit-learn says of the children of a leaf."""


def leaves_above(tree: Any, costs: Sequence[float]) -> IntArray:
    """For every node and cost, the node that is its leaf in the tree pruned at that cost: itself or one above it.

    At a cost (of a leaf, in impurity weighed by the share of the records), the smallest of the best trees keeps a split
    where its subtree does better than one leaf by more than its leaves cost. Scikit-learn would grow it again for each.
    """
    left, right = tree.children_left, tree.children_right
    shares = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    alone: FloatArray = shares[:, None] + costs
    best, split = alone.copy(), np.zeros(alone.shape, dtype=np.bool_)
    levels = list(_levels(left, right))
    for nodes in reversed(levels):
        below = best[left[nodes]] + best[right[nodes]]
        split[nodes] = below < alone[nodes]
        best[nodes] = np.minimum(below, alone[nodes])
    leaves = np.tile(np.arange(tree.node_count)[:, None], len(costs))
    for nodes in levels:
        grown = split[nodes] & (leaves[nodes] == nodes[:, None])
        for child in (left[nodes], right[nodes]):
            leaves[child] = np.where(grown, child[:, None], leaves[nodes])
    return leaves


def _levels(left: IntArray, right: IntArray) -> Iterator[IntArray]:
    """The nodes of a tree that are split: the root, then those below it, and so on."""
    nodes: IntArray = np.zeros(1, dtype=np.int64)
    while len(nodes := nodes[left[nodes] != NOTHING]):
        yield nodes
        nodes = np.concatenate([left[nodes], right[nodes]])


def accuracy(train: pa.Table, test: pa.Table, class_: str, masking: Masking | None = None) -> float:
    """The accuracy on test rows of the default classifier, a pruned decision tree, grown on training rows.

    If both are masked, the masking says which of their labels overlap.
    """
    learned, tested = (Examples.of(rows, class_, None, masking) for rows in (train, test))
    return 1 - error_rate("tree", learned, tested)
