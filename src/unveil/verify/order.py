"""The order of the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unveil.verify.columns import Column
from unveil.verify.findings import Finding
from unveil.verify.parts import PARQUET


def order_finding(columns: Sequence[Column], before: int) -> Finding | None:
    """The first row that is smaller than the one before it, column after column from the left.

    Any other order than that of the released values may follow the order of the input, which can tell who is who.

    Args:
        columns: The columns of some rows that follow each other.
        before: How many rows of the release come before these.
    """
    first, where = len(columns[0].codes), None
    undecided = np.ones(max(first - 1, 0), dtype=np.bool_)
    for column in columns:
        above, below = column.codes[:-1], column.codes[1:]
        wrong = np.flatnonzero(undecided & (below < above))
        if len(wrong) and wrong[0] + 1 < first:
            first, where = int(wrong[0]) + 1, column
        undecided &= below == above
    if where is None:
        return None
    return Finding(
        "order",
        f"{PARQUET}: row {before + first + 1:,} has {where.text(where.codes[first])} after "
        f"{where.text(where.codes[first - 1])}, so the rows are not sorted by their released values.",
    )
