"""A small table of people, as the frames that a data miner holds, and oracles that count it by hand."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

JOBS = {"Any job": {"Office": ["clerk", "lawyer"], "Craft": ["baker", "smith"]}}
LEAVES = ("clerk", "lawyer", "baker", "smith")
TOWNS = ("Aarhus", "Bergen", "Cork")
DOMAINS = {
    "age": {"range": [0, 100], "whole": True},
    "town": {"values": TOWNS},
    "income": {"range": [0, 100], "step": 0.5},
}
TEMPLATES = [{"sensitive": "town", "values": ["Cork"], "limit": 0.5}]


def people(rows: int = 120, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Rows and their class: whether somebody is ill depends on age, job and town, and a little on chance."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": draw.integers(18, 90, rows),
            "job": draw.choice(LEAVES, rows),
            "town": draw.choice(TOWNS, rows, p=(0.5, 0.3, 0.2)),
            "income": draw.integers(0, 200, rows) / 2,
        }
    )
    strain = frame["age"] + 30 * frame["job"].isin(["baker", "smith"]) + 10 * (frame["town"] == "Aarhus")
    ill = (strain > 70) ^ (draw.random(rows) < 0.1)
    return frame, pd.Series(np.where(ill, "yes", "no"), name="ill")


def group_sizes(rows: Iterable[Sequence[Any]], weights: Iterable[float] | None = None) -> Counter[tuple[Any, ...]]:
    """How many records share each combination of values, counted one by one."""
    sizes: Counter[tuple[Any, ...]] = Counter()
    listed = [tuple(row) for row in rows]
    for row, weight in zip(listed, [1] * len(listed) if weights is None else weights, strict=True):
        sizes[row] += weight
    return sizes


def highest_share(groups: Iterable[Sequence[Any]], values: Iterable[str], value: str) -> float:
    """The highest share of a value in any group, counted one by one."""
    keys = [tuple(row) for row in groups]
    sizes = Counter(keys)
    holding = Counter(key for key, held in zip(keys, values, strict=True) if held == value)
    return max(holding[key] / sizes[key] for key in sizes)
