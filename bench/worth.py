"""What masked rows are worth, measured alike for every tool by the labels that it writes (`domains`)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from domains import Domains
from same_k_results import Worth
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from unveil import Masking
from unveil.evaluation.classifiers import accuracy as pruned_accuracy
from unveil.evaluation.distances import Spread, table_distances

LIGHTGBM = find_spec("lightgbm") is not None
BOOSTING = "LightGBM" if LIGHTGBM else "boosting (scikit-learn)"
ROUNDS = 200
RATE = 0.05


def worth(
    raw: pd.DataFrame,
    released: pd.DataFrame,
    learned: pd.DataFrame,
    test: pd.DataFrame,
    qids: Sequence[Sequence[str]],
    domains: Domains,
    class_: str,
    masking: Masking | None = None,
) -> Worth:
    """Measures released rows next to the raw rows that they were made of.

    Classifiers learn from `learned`, the released rows or what was drawn from them, and are tested on rows like it.
    The masking says which labels overlap.
    """
    # LightGBM learns less from rows in order, which is how some tools write them.
    learned = learned.sample(frac=1, random_state=0)
    masked = {name: domain for name, domain in domains.items() if any(name in qid for qid in qids)}
    positive = sorted(set(raw[class_]))[-1]
    chances = _boosted(_features(learned, masked, class_), learned[class_] == positive, test, masked, class_)
    one_way, two_way = distances(raw, released, masked)
    return Worth(
        k=smallest_group(released, qids),
        released=len(released),
        tree=1 - pruned_accuracy(_arrow(learned), _arrow(test), class_, masking),
        boosting=float(np.mean((chances > 0.5) != (test[class_] == positive))),
        auc=float(roc_auc_score(test[class_] == positive, chances)),
        penalty=certainty_penalty(released, len(raw), masked),
        one_way=one_way,
        two_way=two_way,
    )


def smallest_group(released: pd.DataFrame, qids: Sequence[Sequence[str]]) -> int:
    """How many rows share the rarest combination of labels on a quasi-identifier."""
    return min(int(released.groupby(list(qid), observed=True).size().min()) for qid in qids)


def certainty_penalty(released: pd.DataFrame, records: int, domains: Domains) -> float:
    """The mean NCP over attributes and records (Xu et al., KDD 2006). A record that was left out costs 1."""
    costs = []
    for name, domain in domains.items():
        held = released[name].astype(str).value_counts()
        costs.append(sum(domain.share(label) * count for label, count in held.items()))
    return float((np.mean(costs) + records - len(released)) / records)


def distances(raw: pd.DataFrame, released: pd.DataFrame, domains: Domains) -> tuple[float, float]:
    """The mean distances of one-way and two-way tables from the raw ones; labels are spread over what they cover."""
    codes = [_codes(raw[name], domain.held) for name, domain in domains.items()]
    spreads = []
    for name, domain in domains.items():
        places, labels = pd.factorize(released[name].astype(str))
        shares = np.zeros((len(labels), len(domain.held)))
        for place, label in enumerate(labels):
            covered = domain.covered(label)
            shares[place, covered] = 1 / len(covered)
        spreads.append(Spread(places.astype(np.int64), shares))
    return table_distances(codes, spreads).of(range(len(codes)))


def _codes(column: pd.Series, values: np.ndarray) -> np.ndarray:
    return pd.Index(values).get_indexer(column).astype(np.int64)


def _arrow(rows: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(rows, preserve_index=False)


def _features(rows: pd.DataFrame, masked: Domains, class_: str) -> pd.DataFrame:
    """Masked labels as the first and the last value that they cover; other columns as they are."""
    columns = {}
    for name in rows.columns.drop(class_):
        if name in masked and not pd.api.types.is_numeric_dtype(rows[name]):
            places, labels = pd.factorize(rows[name].astype(str))
            ends = np.array([masked[name].ends(label) for label in labels], dtype=float)
            columns |= {f"{name} from": ends[places, 0], f"{name} to": ends[places, 1]}
        else:
            columns[name] = rows[name].to_numpy()
    return pd.DataFrame(columns)


def _boosted(train: pd.DataFrame, positive: pd.Series, test: pd.DataFrame, masked: Domains, class_: str) -> np.ndarray:
    """The chance of the class for each test row. Categories are distinguished by the codes of the training rows."""
    tested = _features(test, masked, class_)
    texts = [name for name in train if not pd.api.types.is_numeric_dtype(train[name])]
    for name in texts:
        known = pd.CategoricalDtype(sorted(set(train[name])))
        train, tested = (rows.assign(**{name: rows[name].astype(known)}) for rows in (train, tested))
    if LIGHTGBM:
        from lightgbm import LGBMClassifier

        model = LGBMClassifier(
            n_estimators=ROUNDS, learning_rate=RATE, random_state=0, deterministic=True, n_jobs=1, verbose=-1
        )
    else:
        model = HistGradientBoostingClassifier(
            max_iter=ROUNDS, learning_rate=RATE, categorical_features=texts, early_stopping=False, random_state=0
        )
    return np.asarray(model.fit(train, positive).predict_proba(tested))[:, 1]


def drawn(released: pd.DataFrame, domains: Domains) -> pd.DataFrame:
    """Released rows in which each label is replaced by one of the values that it covers, drawn at random.

    What learns from them needs no masked test rows, which some tools cannot make.
    """
    rng = np.random.default_rng(0)
    columns = {}
    for name, domain in domains.items():
        places, labels = pd.factorize(released[name].astype(str))
        covered = [domain.covered(label) for label in labels]
        sizes = np.array([len(values) for values in covered])[places]
        starts = np.cumsum([0, *(len(values) for values in covered[:-1])])[places]
        columns[name] = domain.held[np.concatenate(covered)[starts + rng.integers(sizes)]]
    return released.assign(**columns)


def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path)
