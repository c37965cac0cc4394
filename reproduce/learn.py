"""Errors in percent: of raw tables, of masked ones, and of those where everything is masked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reproduce.data import SEED, DataSet
from unveil import Release
from unveil.arrays import BoolArray
from unveil.evaluation.classifiers import error_rate
from unveil.evaluation.examples import Examples

FOLDS = 10


def error(train: pa.Table, test: pa.Table, class_: str, classifier: str = "c45", weight: str | None = None) -> float:
    """The error on test rows of a classifier that saw the training rows, in percent."""
    if train.num_rows == 0 or len(train.column_names) - (weight is not None) == 1:
        return majority_error(train, test, class_)
    return 100 * error_rate(classifier, Examples.of(train, class_, weight), Examples.of(test, class_))


def raw_error(data: DataSet, classifier: str = "c45") -> float:
    """BE: the error on raw rows."""
    return error(data.train, data.test, data.class_, classifier)


def masked_error(data: DataSet, release: Release, classifier: str = "c45") -> float:
    """The error on masked rows. A release has no order of rows, so training and test rows are masked again."""
    return error(masked(data.train, release), masked(data.test, release), data.class_, classifier)


def masked(rows: pa.Table, release: Release) -> pa.Table:
    """Rows as a release has them, with their class."""
    class_ = release.manifest.class_
    return release.masking.labels(rows).append_column(class_, rows[class_])


def counted_error(release: Release, test: pa.Table, classifier: str = "c45") -> float:
    """The error of a classifier that learned from noisy counts, on test rows masked the same way."""
    cells = release.table.filter(pc.greater(release.table["count"], 0))
    return error(cells, masked(test, release), release.manifest.class_, classifier, weight="count")


def majority_error(train: pa.Table, test: pa.Table, class_: str) -> float:
    """The error of always saying what most training rows say; where there are none, the first label in the alphabet."""
    learned, tested = (Counter(rows[class_].to_pylist()) for rows in (train, test))
    return 100 * (1 - tested[max(sorted(tested), key=lambda label: learned[label])] / tested.total())


def folds(rows: int, run: int = 0) -> Iterator[BoolArray]:
    """Ten parts of a seeded shuffle: for each fold, which rows are for training."""
    part = np.random.default_rng([SEED, run]).permutation(rows) % FOLDS
    for fold in range(FOLDS):
        yield part != fold
