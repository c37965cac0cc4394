"""How well a classifier trained on one table does on another."""

from __future__ import annotations

import pyarrow as pa

from unveil.evaluation.classifiers import error_rate
from unveil.evaluation.examples import Examples


def accuracy(train: pa.Table, test: pa.Table, class_: str) -> float:
    """The accuracy on test rows of the default classifier, a pruned decision tree, grown on training rows."""
    return 1 - error_rate("tree", Examples.of(train, class_), Examples.of(test, class_))
