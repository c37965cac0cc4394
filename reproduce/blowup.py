"""Adult blown up, as all three papers do it: the original records, and variations of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from reproduce.data import SEED


def blow_up(records: pa.Table, rows: int, names: Sequence[str]) -> pa.Table:
    """All records, then variations of the first, the second and so on, until there are so many rows.

    A variation takes q ~ U[1, |names|] of the named attributes at random and gives each a random observed value; the
    other attributes and the class are kept.
    """
    draw = np.random.default_rng(SEED)
    sources = np.arange(rows) % records.num_rows
    number = draw.integers(1, len(names), size=(rows, 1), endpoint=True)
    order = draw.permuted(np.tile(np.arange(len(names), dtype=np.int8), (rows, 1)), axis=1)
    replaced = order < number
    replaced[: records.num_rows] = False
    columns = {}
    for name in records.column_names:
        encoded = records[name].combine_chunks().dictionary_encode()
        codes = encoded.indices.to_numpy()[sources]
        if name in names:
            drawn = draw.integers(len(encoded.dictionary), size=rows)
            codes = np.where(replaced[:, list(names).index(name)], drawn, codes)
        columns[name] = encoded.dictionary.take(pa.array(codes))
    return pa.table(columns)
