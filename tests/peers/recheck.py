"""Run with the interpreter that has pycanon: says what it finds in a csv file. It shares nothing with this project."""

import json
import sys

import pandas as pd
from pycanon import anonymity


def main() -> None:
    path, question = sys.argv[1], json.loads(sys.argv[2])
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    quasi, sensitive = question["quasi"], [question["sensitive"]]
    alpha, k = anonymity.alpha_k_anonymity(rows, quasi, sensitive)
    found = {
        "k": anonymity.k_anonymity(rows, quasi),
        "distinct": anonymity.l_diversity(rows, quasi, sensitive),
        "entropy": anonymity.entropy_l_diversity(rows, quasi, sensitive),
        "t": anonymity.t_closeness(rows, quasi, sensitive),
        "alpha": alpha,
        "alpha k": k,
    }
    print(json.dumps({name: float(value) for name, value in found.items()}))


main()
