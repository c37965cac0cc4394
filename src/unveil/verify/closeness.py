"""How far the sensitive values of a group are from those of the whole release (Li, Li and Venkatasubramanian, 2007)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from unveil.errors import listed
from unveil.verify.columns import Column
from unveil.verify.diversity import TOLERANCE
from unveil.verify.findings import BrokenClaimError, Finding, records_text
from unveil.verify.holdings import Floats, Holdings, value_texts
from unveil.verify.parts import MANIFEST, PARQUET

Ranks = NDArray[np.int64]


def distance_findings(place: str, most: float, distances: Floats, holdings: Holdings) -> Iterator[Finding]:
    """No group is farther from the whole release than `most`."""
    far = distances > most + TOLERANCE
    if far.any():
        worst = int(np.argmax(distances))
        whole = holdings.whole()
        excess = holdings.shares - whole[holdings.codes] / whole.sum()
        entry = int(np.argmax(np.where(holdings.owners == worst, excess, -2)))
        yield Finding(
            "closeness",
            f"{PARQUET} has {holdings.text(entry)}, and in {int(whole[holdings.codes[entry]]):,} of all "
            f"{records_text(int(whole.sum()))}; the distance of {holdings.sensitive.name!r} there is "
            f"{distances[worst]:.9g}, but {place} allows at most {most} "
            f"(too far in {far.sum():,} of {len(distances):,} groups).",
        )


def equal_distances(holdings: Holdings) -> Floats:
    """Half the sum of |p − q| for each group.

    As p and q both add up to 1, that is the sum of p − q over the values where p is the larger one,
    and those are among the values that the group holds.
    """
    whole = holdings.whole()
    return holdings.sums(np.maximum(holdings.shares - whole[holdings.codes] / whole.sum(), 0))


def ordered_distances(holdings: Holdings, ranks: Ranks) -> Floats:
    """The sum of |cumulated p − q| over the ordered values, divided by their number less one, for each group.

    Cumulated p stays the same from one value that the group holds to the next, while cumulated q rises, so a
    stretch between them has two parts: p above q up to some value, and below from there on. Sums of cumulated q
    over a part are differences of its prefix sums, which are whole numbers. No table of groups and values is made.

    Args:
        holdings: What the groups hold.
        ranks: For each code of the sensitive column the place of its value in the order.
    """
    values = len(ranks)
    if values < 2:
        return np.zeros(len(holdings.groups.sizes))
    order = np.lexsort((ranks[holdings.codes], holdings.owners))
    owners, counts, starts = holdings.owners[order], holdings.counts[order], ranks[holdings.codes[order]]
    whole = np.empty(values, dtype=np.int64)
    whole[ranks] = holdings.whole()
    risen = np.cumsum(whole)
    total = int(risen[-1])
    exact = np.int64 if total * values < 2**62 else object
    before = np.concatenate([[0], np.cumsum(risen.astype(exact))])  # sums of `risen` before each value

    first = np.diff(owners, prepend=-1) > 0
    running = np.cumsum(counts)
    cumulated = (running - (running - counts)[first][owners]) / holdings.groups.sizes[owners]
    ends = np.append(np.where(first[1:], values, starts[1:]), values)
    turns = np.clip(np.searchsorted(risen / total, cumulated, side="right"), starts, ends)
    stretches = cumulated * (2 * turns - starts - ends)
    stretches += ((before[starts] + before[ends] - 2 * before[turns]) / total).astype(np.float64)
    # Before its first value a group has cumulated nothing.
    stretches[first] += (before[starts[first]] / total).astype(np.float64)
    return np.bincount(owners, weights=stretches).astype(np.float64) / (values - 1)


def value_ranks(place: str, column: Column, order: Sequence[str] | None, *, number: bool) -> Ranks:
    """The place of each sensitive value in the order: by value for numbers, as the manifest lists it for categories.

    Raises:
        BrokenClaimError: The list is not an order of the values that the release holds.
    """
    held = [str(value) for value in value_texts(column)]
    problem = _order_problem(held, order, number=number)
    if problem is not None:
        raise BrokenClaimError([Finding("sensitive", f"{MANIFEST}: {place} protects {column.name!r} and {problem}.")])
    if order is None:
        return np.arange(len(held), dtype=np.int64)
    known = set(held)
    rank_of = {value: rank for rank, value in enumerate(value for value in order if value in known)}
    return np.array([rank_of[value] for value in held], dtype=np.int64)


def _order_problem(held: Sequence[str], order: Sequence[str] | None, *, number: bool) -> str | None:
    if number:
        return None if order is None else "gives an order, but numbers are ordered by value"
    if order is None:
        return "gives no order of its values"
    if twice := [value for value, count in Counter(order).items() if count > 1]:
        return f"lists {listed(twice)} twice in its order"
    if absent := sorted(set(held) - set(order)):
        return f"leaves {listed(absent)} out of its order"
    return None
