"""Made-up people for attacks: a table with nothing to find, and leaks to plant into it."""

from typing import Any

import numpy as np
import pyarrow as pa

QUASI = ["age", "job", "town"]


def people(rows: int = 600, seed: int = 1, **more: Any) -> pa.Table:
    """Independent columns, so that none says anything about another; the class is drawn from the age."""
    drawn = np.random.default_rng(seed)
    age = drawn.integers(20, 60, rows)
    ill = np.where(drawn.random(rows) < (age - 20) / 60, "yes", "no")
    columns = {
        "age": age,
        "job": drawn.choice(["baker", "clerk", "lawyer", "smith"], rows),
        "town": drawn.choice(["Aarhus", "Bergen", "Cork"], rows),
        "ill": ill,
    }
    return pa.table({**columns, **more})


def spec(k: int = 10, search: str = "paper", recoding: str = "global", **more: Any) -> dict[str, Any]:
    """A spec of these people; `more` are attributes in no requirement."""
    publish = {"method": "refinement", "search": search}
    return {
        "table": {"class": "ill"},
        "attributes": {
            "age": {"kind": "number", "range": [20, 60], "whole": True},
            "job": {"kind": "category", "values": ["baker", "clerk", "lawyer", "smith"]},
            "town": {"kind": "category", "values": ["Aarhus", "Bergen", "Cork"]},
            **more,
        },
        "require": [{"kind": "k-anonymity", "quasi-identifier": QUASI, "k": k}],
        "publish": publish if search == "paper" else {**publish, "recoding": recoding},
    }
