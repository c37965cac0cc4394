"""What anjana makes of the table. Runs in anjana's own environment, which has neither unveil nor the other modules.

    python anjana_peer.py TABLE.csv HIERARCHIES.json K SUPPRESSION

prints seconds and what came out as JSON.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from anjana.anonymity import k_anonymity  # type: ignore[import-not-found]


def main(table: str, hierarchies_file: str, k: int, suppression: float) -> dict[str, Any]:
    with open(hierarchies_file, encoding="utf-8") as file:
        levels = json.load(file)
    hierarchies = {name: {i: np.array(level) for i, level in enumerate(levels[name])} for name in levels}
    quasi_identifier = list(levels)
    before = perf_counter()
    data = pd.read_csv(table)
    read = perf_counter() - before
    before = perf_counter()
    released = k_anonymity(data, [], quasi_identifier, k, suppression, hierarchies)
    call = perf_counter() - before
    groups = released.groupby(quasi_identifier).size() if len(released) else pd.Series(dtype=int)
    return {
        "read": read,
        "call": call,
        "suppressed": len(data) - len(released),
        "groups": len(groups),
        "smallest_group": int(groups.min()) if len(groups) else 0,
        "added_columns": [name for name in released.columns if name not in data.columns],
        "values_left": {name: int(released[name].nunique()) for name in quasi_identifier if len(released)},
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))))
