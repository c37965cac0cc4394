"""The k that pycanon finds in a csv file. Runs in its own environment, and shares nothing with the project.

python pycanon_peer.py TABLE.csv ATTRIBUTE ...
"""

from __future__ import annotations

import sys

import pandas as pd
from pycanon import anonymity  # type: ignore[import-not-found]

if __name__ == "__main__":
    print(anonymity.k_anonymity(pd.read_csv(sys.argv[1], dtype=str, keep_default_na=False), sys.argv[2:]))
