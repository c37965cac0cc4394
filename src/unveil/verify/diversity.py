"""How many sensitive values a group holds: counted, and by their entropy."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np

from unveil.errors import listed
from unveil.verify.columns import Counts
from unveil.verify.findings import Finding, records_text
from unveil.verify.holdings import Floats, Holdings, value_texts
from unveil.verify.parts import PARQUET

TOLERANCE = 1e-9
"""Entropies and distances are sums of floats."""


def distinct_findings(place: str, least: float, holdings: Holdings) -> Iterator[Finding]:
    """Every group holds at least so many different sensitive values."""
    held = distinct_values(holdings)
    few = held < least
    if few.any():
        worst = int(np.argmin(held))
        named = value_texts(holdings.sensitive)
        values = [str(named[code]) for code in holdings.codes[holdings.owners == worst]]
        noun = "value" if len(values) == 1 else "different values"
        yield Finding(
            "diversity",
            f"{PARQUET}: {holdings.groups.text(worst)} has {len(values):,} {noun} of {holdings.sensitive.name!r} "
            f"({listed(values)}) in {records_text(int(holdings.groups.sizes[worst]))}, but {place} asks for "
            f"at least {least:g} (too few in {few.sum():,} of {len(held):,} groups).",
        )


def entropy_findings(place: str, least: float, holdings: Holdings) -> Iterator[Finding]:
    """The entropy of the sensitive values of every group is at least the logarithm of `least`."""
    entropies = group_entropies(holdings)
    low = entropies < log(least) - TOLERANCE
    if low.any():
        worst = int(np.argmin(entropies))
        most = int(np.argmax(np.where(holdings.owners == worst, holdings.shares, -1)))
        yield Finding(
            "diversity",
            f"{PARQUET} has {holdings.text(most)}; the entropy of {holdings.sensitive.name!r} there is "
            f"{entropies[worst]:.9g}, but {place} asks for at least log {least:g} = {log(least):.9g} "
            f"(too low in {low.sum():,} of {len(entropies):,} groups).",
        )


def distinct_values(holdings: Holdings) -> Counts:
    """How many different sensitive values each group holds."""
    return np.bincount(holdings.owners, minlength=len(holdings.groups.sizes))


def group_entropies(holdings: Holdings) -> Floats:
    """The entropy of the sensitive values of each group, in nats."""
    shares = holdings.shares
    return holdings.sums(-shares * np.log(shares))
