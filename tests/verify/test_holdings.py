from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from unveil.verifier.columns import encode
from unveil.verifier.holdings import count_holdings


@pytest.mark.parametrize(("width", "values"), [(1, 4), (3, 4), (20, 300)])
def test_holdings_are_what_counting_on_fingers_gives(width: int, values: int) -> None:
    """Twenty columns of 300 values have more groups than a 64-bit number can tell apart."""
    rng = np.random.default_rng(11)
    rows = rng.integers(0, values, (1000, width + 1))
    rows[:500] = rows[500:]
    weights = rng.integers(1, 5, 1000)
    *columns, sensitive = [encode(str(place), pa.chunked_array([column])) for place, column in enumerate(rows.T)]
    counted = count_holdings(columns, sensitive, weights)

    sizes: Counter[tuple[int, ...]] = Counter()
    counts: Counter[tuple[int, ...]] = Counter()
    for *key, weight in zip(
        *(column.codes.tolist() for column in [*columns, sensitive]), weights.tolist(), strict=True
    ):
        sizes[tuple(key[:-1])] += weight
        counts[tuple(key)] += weight
    keys = list(zip(*(key.tolist() for key in counted.groups.keys), strict=True))
    assert dict(zip(keys, counted.groups.sizes.tolist(), strict=True)) == sizes
    entries = [(*keys[owner], code) for owner, code in zip(counted.owners, counted.codes.tolist(), strict=True)]
    assert entries == sorted(entries)
    assert dict(zip(entries, counted.counts.tolist(), strict=True)) == counts
    assert counted.whole().tolist() == [weights[sensitive.codes == code].sum() for code in range(len(sensitive.values))]
