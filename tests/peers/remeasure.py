"""Run with the interpreter that has pycanon: what it measures in a csv file. It shares nothing with this project."""

import json
import sys

import pandas as pd
from pycanon import metrics


def main() -> None:
    path, question = sys.argv[1], json.loads(sys.argv[2])
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    quasi = question["quasi"]
    sizes = metrics.sizes_ec(rows, quasi)
    found = {
        "groups": sizes["n_ec"],
        "smallest": sizes["min_ec"],
        "largest": sizes["max_ec"],
        "average class size": metrics.average_ecsize(rows, rows, quasi),
        "classification": metrics.classification_metric(rows, rows, quasi, [question["class"]]),
        "discernibility": metrics.discernability_metric(rows, rows, quasi),
        "highest risk": metrics.max_rir(rows, quasi),
        "average risk of a group": metrics.average_rir(rows, quasi),
    }
    print(json.dumps({name: float(value) for name, value in found.items()}))


main()
