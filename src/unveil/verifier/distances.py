"""How far the sensitive values of a group are from those of the whole release (Li, Li and Venkatasubramanian, 2007)."""

from __future__ import annotations

import numpy as np

from unveil.verifier.holdings import Floats, Holdings, Ranks


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
