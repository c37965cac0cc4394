"""What anonypy makes of the table. Runs in anonypy's own environment, which has neither unveil nor the other modules.

    python anonypy_peer.py TABLE.csv OUT.csv K CLASS

anonypy gives groups with their counts; they are written as one row per record, each with the labels of its group. It
has no way to mask later rows.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter

import anonypy  # type: ignore[import-not-found]
import pandas as pd


def main(table: str, out: str, k: int, class_: str) -> None:
    data = pd.read_csv(table)
    quasi_identifier = [name for name in data.columns if name != class_]
    for name in data.columns:
        if data[name].dtype == object:
            data[name] = data[name].astype("category")
    before = perf_counter()
    groups = anonypy.Preserver(data, quasi_identifier, class_).anonymize_k_anonymity(k=k)
    call = perf_counter() - before
    released = pd.DataFrame(groups)
    repeated = released.loc[released.index.repeat(released["count"])].drop(columns="count")
    repeated[[*quasi_identifier, class_]].to_csv(out, index=False)
    print(json.dumps({"call": call}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
