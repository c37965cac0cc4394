"""What anjana makes of the table. Runs in anjana's own environment, which has neither unveil nor the other modules.

    python anjana_peer.py TABLE.csv HIERARCHIES.json K SUPPRESSION [OUT.csv TEST.csv MASKED.csv]

prints seconds and what came out as JSON. With more files the released rows are written to the first, and the rows of
the second, masked to the levels that the release has, to the third.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from anjana.anonymity import k_anonymity  # type: ignore[import-not-found]
from anjana.anonymity.utils import apply_transformation, get_transformation  # type: ignore[import-not-found]


def main(table: str, hierarchies_file: str, k: int, suppression: float, *files: str) -> dict[str, Any]:
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
    if files and len(released):
        out, test, masked = files
        released[data.columns].to_csv(out, index=False)
        levels_now = get_transformation(released, quasi_identifier, hierarchies)
        later = apply_transformation(pd.read_csv(test), quasi_identifier, hierarchies, levels_now)
        later.to_csv(masked, index=False)
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
    print(json.dumps(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), *sys.argv[5:])))
