"""How well a classifier trained on one table does on another."""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def accuracy(train: pa.Table, test: pa.Table, class_: str) -> float:
    """The accuracy on test rows of a decision tree grown on training rows.

    Masked intervals and `⊥` are ordinary values to it, as in the papers. It is scikit-learn's tree on one-hot columns
    with a small cost-complexity pruning, not C4.5. A value that the training rows do not have sets no column.
    """
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    names = [name for name in train.column_names if name != class_]
    texts = [place for place, name in enumerate(names) if not _is_number(train[name].type)]
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), remainder="passthrough")
    tree = DecisionTreeClassifier(criterion="entropy", ccp_alpha=3e-4, random_state=0)
    model = make_pipeline(encode, tree).fit(_rows(train, names), _labels(train, class_))
    return float(model.score(_rows(test, names), _labels(test, class_)))


def _rows(table: pa.Table, names: list[str]) -> np.ndarray[tuple[int, int], np.dtype[np.object_]]:
    return np.stack([np.array(table[name].to_pylist(), dtype=object) for name in names], axis=1)


def _labels(table: pa.Table, class_: str) -> list[str]:
    return [str(label) for label in table[class_].to_pylist()]


def _is_number(type_: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_))
