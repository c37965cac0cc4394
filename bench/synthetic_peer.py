"""AIM and MST on codes. Runs in an environment of its own, without unveil and the other modules.

    python synthetic_peer.py aim|mst CODES.csv SIZES.json EPSILON DELTA SEED OUT.csv [MECHANISMS]

writes synthetic rows, as many as the table has. They come from dpmm, which carries mbi, or from the programs of the
mechanisms' authors (private-pgm) in the folder MECHANISMS.
"""

from __future__ import annotations

import json
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

MEGABYTES = 80
"""How large a graphical model may grow in dpmm; the authors' default."""
AUTHORS_LIMITS = {"max_model_size": 1, "max_iters": 250}
"""Of the authors' AIM, which takes hours with its defaults, 80 and 1000; 1 is the size they advise to try first."""
ROUNDS = 2
"""How many rounds AIM plans for each attribute; its default is 16."""


def main() -> None:
    mechanism, table, sizes, epsilon, delta, seed, out, *mechanisms = sys.argv[1:]
    codes = pd.read_csv(table)
    domain = json.loads(Path(sizes).read_text(encoding="utf-8"))
    promise = {"epsilon": float(epsilon), "delta": float(delta)}
    if mechanisms:
        sys.path.insert(0, mechanisms[0])
        drawn = of_authors(mechanism, codes, domain, promise, int(seed))
    else:
        drawn = of_dpmm(mechanism, codes, domain, promise, int(seed))
    drawn.to_csv(out, index=False)


def of_dpmm(
    mechanism: str, codes: pd.DataFrame, domain: dict[str, int], promise: dict[str, float], seed: int
) -> pd.DataFrame:
    from dpmm.pipelines.aim import AIMPipeline  # type: ignore[import-not-found]
    from dpmm.pipelines.mst import MSTPipeline  # type: ignore[import-not-found]

    pipeline = {"aim": AIMPipeline, "mst": MSTPipeline}[mechanism](
        **promise, max_model_size=MEGABYTES, n_jobs=1, disable_processing=True
    )
    pipeline.fit(codes, domain=domain, random_state=seed)
    return pipeline.generate(n_records=len(codes), random_state=seed)


def of_authors(
    mechanism: str, codes: pd.DataFrame, domain: dict[str, int], promise: dict[str, float], seed: int
) -> pd.DataFrame:
    """Both draw from numpy's global generator. AIM's workload is all two-way tables."""
    import numpy as np
    from mbi import Dataset, Domain  # type: ignore[import-not-found]

    np.random.seed(seed)
    data = Dataset(codes, Domain(domain.keys(), domain.values()))
    if mechanism == "mst":
        from mst import MST  # type: ignore[import-not-found]

        return MST(data, *promise.values()).df
    from aim import AIM  # type: ignore[import-not-found]

    workload: list[Any] = [(pair, 1.0) for pair in combinations(domain, 2)]
    program = AIM(**promise, prng=np.random, rounds=ROUNDS * len(domain), **AUTHORS_LIMITS)
    return program.run(data, workload, num_synth_rows=len(codes))[1].df


if __name__ == "__main__":
    main()
