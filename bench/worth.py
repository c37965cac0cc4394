"""What masked rows are worth, measured alike for every tool: NCP, and the accuracy of decision trees.

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
        first, last = _ends(name, label)
        return (last - first) / (RANGES[name][1] - 1 - RANGES[name][0])
    below = len(_values(name, label))
    return 0.0 if below == 1 else below / len(_leaves(name))


def _ends(name: str, label: str) -> tuple[int, int]:
    """The first and the last whole number of an interval."""
    ends = [int(number) for number in re.findall(r"\d+", label)]
    return max(ends[0], RANGES[name][0]), min(ends[-1] - label.endswith(")"), RANGES[name][1] - 1)


def _values(name: str, label: str) -> list[str]:
    """The values that a label covers."""
    below = [path[-1] for path in paths_of(taxonomy_file(name)) if label in path]
    return below or label.strip("[]'").split(",")


@cache
def _leaves(name: str) -> list[str]:
    return [path[-1] for path in paths_of(taxonomy_file(name))]


def accuracy(train: pd.DataFrame, test: pd.DataFrame) -> float:
    """Of a decision tree that learns from released rows, on test rows that are masked alike."""
    texts = [name for name in GA if not pd.api.types.is_numeric_dtype(train[name])]
    columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), remainder="passthrough")
    tree = make_pipeline(columns, DecisionTreeClassifier(min_samples_leaf=LEAF, random_state=0))
    tree.fit(train[list(GA)], train[CLASS])
    return float(tree.score(test[list(GA)], test[CLASS]))


def raw_accuracy(train: pd.DataFrame, test: pd.DataFrame) -> float:
    """Of a decision tree on raw test rows, for which no tool needs to mask anything.

    It learns from released rows in which each label is replaced by one of the values that it covers, drawn at random.
    """
    rng = np.random.default_rng(0)
    drawn = {name: _drawn(name, train[name].astype(str), rng) for name in GA}
    return accuracy(pd.DataFrame({**drawn, CLASS: train[CLASS].to_numpy()}), test)


def _drawn(name: str, column: pd.Series, rng: np.random.Generator) -> np.ndarray:
    places, labels = pd.factorize(column)
    covered = [_raw_values(name, label) for label in labels]
    sizes = np.array([len(values) for values in covered])[places]
    starts = np.cumsum([0, *(len(values) for values in covered[:-1])])[places]
    return np.concatenate(covered)[starts + rng.integers(sizes)]


def _raw_values(name: str, label: str) -> list[str] | range:
    """All raw values that a label covers."""
    if name not in RANGES:
        return _values(name, label)
    first, last = _ends(name, label)
    return range(first, last + 1)


def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path)
