"""Other private tools on the same rows. Runs in an environment of its own, without unveil and the other modules.

    python private_peers.py tree TABLE.parquet CLASS DEPTH EPSILON     diffprivlib's decision tree
    python private_peers.py draws EPSILON COUNT                        OpenDP's discrete Laplace
    python private_peers.py chances tree|forest TRAIN.npy LABELS.npy TEST.npy BOUNDS.npy EPSILON SEED OUT.npy

The first two print seconds as JSON; the third writes the chance of the second class for every test row.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter
from typing import Any

REPEATS = 3


def tree(table: str, class_: str, depth: int, epsilon: float) -> dict[str, Any]:
    import numpy as np
    import pandas as pd
    from diffprivlib.models import DecisionTreeClassifier  # type: ignore[import-not-found]

    data = pd.read_parquet(table)
    labels = pd.Categorical(data.pop(class_)).codes
    columns = [data[name] if data[name].dtype.kind in "iuf" else pd.Categorical(data[name]).codes for name in data]
    rows = np.column_stack(columns).astype(np.float64)
    # What is timed does not depend on the bounds. A release would need declared ones.
    bounds = (rows.min(axis=0), rows.max(axis=0))

    def fit() -> float:
        before = perf_counter()
        DecisionTreeClassifier(max_depth=depth, epsilon=epsilon, bounds=bounds, classes=np.unique(labels)).fit(
            rows, labels
        )
        return perf_counter() - before

    return {"seconds": min(fit() for _ in range(REPEATS))}


def draws(epsilon: float, count: int) -> dict[str, Any]:
    import opendp.prelude as dp  # type: ignore[import-not-found]

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    noise = dp.m.make_laplace(*space, scale=1 / epsilon)
    zeros = [0] * count

    def draw() -> float:
        before = perf_counter()
        noise(zeros)
        return perf_counter() - before

    return {"seconds": min(draw() for _ in range(REPEATS))}


def chances(model: str, train: str, labels: str, test: str, bounds: str, epsilon: float, seed: int, out: str) -> None:
    """A private model of raw rows, with its defaults and declared bounds."""
    import numpy as np
    from diffprivlib.models import DecisionTreeClassifier, RandomForestClassifier

    kind = {"tree": DecisionTreeClassifier, "forest": RandomForestClassifier}[model]
    lower, upper = np.load(bounds)
    fitted = kind(epsilon=epsilon, bounds=(lower, upper), classes=np.array([0, 1]), random_state=seed)
    fitted.fit(np.load(train), np.load(labels))
    np.save(out, fitted.predict_proba(np.load(test))[:, 1])


if __name__ == "__main__":
    if sys.argv[1] == "chances":
        *files, epsilon, seed, out = sys.argv[2:]
        chances(*files, float(epsilon), int(seed), out)
        sys.exit()
    if sys.argv[1] == "tree":
        found = tree(sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5]))
    else:
        found = draws(float(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps(found))
