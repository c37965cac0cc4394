"""Limits on the share of a sensitive value in a group, compared as fractions and never as floats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Literal

import numpy as np

from unveil.verify.columns import Counts
from unveil.verify.findings import Finding
from unveil.verify.holdings import Holdings, value_texts
from unveil.verify.parts import PARQUET


def share_findings(
    claim: Literal["confidence", "alpha"], place: str, values: Sequence[str], limit: float, holdings: Holdings
) -> Iterator[Finding]:
    """In every group, each of the values is held by at most the share `limit` of its records.

    A value that no record holds has the share 0.
    """
    named = set(values)
    limited = np.array([value in named for value in value_texts(holdings.sensitive)], dtype=np.bool_)
    most = largest_counts(holdings.groups.sizes, Fraction(str(limit)))
    above = limited[holdings.codes] & (holdings.counts > most[holdings.owners])
    if above.any():
        worst = int(np.argmax(np.where(above, holdings.shares, -1)))
        groups = len(np.unique(holdings.owners[above]))
        yield Finding(
            claim,
            f"{PARQUET} has {holdings.text(worst)}, but {place} allows at most {limit} "
            f"(too high in {groups:,} of {len(holdings.groups.sizes):,} groups).",
        )


def largest_counts(sizes: Counts, limit: Fraction) -> Counts:
    """For each size the largest whole number that is at most the share `limit` of it."""
    distinct, places = np.unique(sizes, return_inverse=True)
    # In Python, where whole numbers have no end: a limit such as 1e-30 has a large denominator.
    most = [size * limit.numerator // limit.denominator for size in distinct.tolist()]
    counts: Counts = np.array(most, dtype=np.int64)[places]
    return counts
