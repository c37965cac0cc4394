"""AIM and MST on codes, by dpmm, which carries mbi. Runs in an environment of its own, without unveil.

    python synthetic_peer.py aim|mst CODES.csv SIZES.json EPSILON DELTA SEED OUT.csv

writes as many synthetic rows as the table has.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd
from dpmm.pipelines.aim import AIMPipeline  # type: ignore[import-not-found]
from dpmm.pipelines.mst import MSTPipeline  # type: ignore[import-not-found]

MEGABYTES = 80
"""How large a graphical model may grow; the authors' default."""


def main() -> None:
    mechanism, table, sizes, epsilon, delta, seed, out = sys.argv[1:]
    codes = pd.read_csv(table)
    pipeline = {"aim": AIMPipeline, "mst": MSTPipeline}[mechanism](
        epsilon=float(epsilon), delta=float(delta), max_model_size=MEGABYTES, n_jobs=1, disable_processing=True
    )
    pipeline.fit(codes, domain=json.loads(Path(sizes).read_text(encoding="utf-8")), random_state=int(seed))
    pipeline.generate(n_records=len(codes), random_state=int(seed)).to_csv(out, index=False)


if __name__ == "__main__":
    main()
