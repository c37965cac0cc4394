"""What masked rows are worth, told alike for every tool: NCP, and the accuracy of a decision tree.

A label is a taxonomy label, an interval `[lo, hi)`, a raw value, or one of anonypy's: `['lo-hi']` and `['a,b,c']`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from settings import CLASS, GA, RANGES, taxonomy_file
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from peers import paths_of

LEAF = 50
"""The smallest leaf of the decision tree."""


def certainty_penalty(released: pd.DataFrame, records: int) -> float:
    """The mean NCP over attributes and records (Xu et al., KDD 2006). A record that was left out costs 1."""
    costs = [released[name].map(lambda label, name=name: _covered(name, str(label))).sum() for name in GA]
    return float((np.mean(costs) + records - len(released)) / records)


@cache
def _covered(name: str, label: str) -> float:
    """Which part of the domain a label covers; 0 for a single value."""
    if name in RANGES:
        lo, hi = RANGES[name][0], RANGES[name][1] - 1
        ends = [int(number) for number in re.findall(r"\d+", label)]
        last = ends[-1] - label.endswith(")")
        return (min(last, hi) - max(ends[0], lo)) / (hi - lo)
    paths = list(paths_of(taxonomy_file(name)))
    below = sum(label in path for path in paths) or len(label.strip("[]'").split(","))
    return 0.0 if below == 1 else below / len(paths)


def accuracy(train: pd.DataFrame, test: pd.DataFrame) -> float:
    """Of a decision tree that learns from one table, on the rows of another."""
    texts = [name for name in GA if not pd.api.types.is_numeric_dtype(train[name])]
    columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), remainder="passthrough")
    tree = make_pipeline(columns, DecisionTreeClassifier(min_samples_leaf=LEAF, random_state=0))
    tree.fit(train[list(GA)], train[CLASS])
    return float(tree.score(test[list(GA)], test[CLASS]))


def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path)
