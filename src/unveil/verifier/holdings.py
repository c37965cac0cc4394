"""How many records of each group hold each sensitive value, and the groups in which that breaks a requirement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import listed, records_text, rows_text
from unveil.verifier.claims import MANIFEST, PARQUET, BrokenClaimError, Finding, Released, broken, findings_of
from unveil.verifier.data import Codes, Column, Counts, Data, Groups, fresh, group, packed, sums_at
from unveil.verifier.manifests import RefinementManifest

if TYPE_CHECKING:
    from unveil.verifier.requirements import Statement

Floats = NDArray[np.float64]
Ranks = NDArray[np.int64]
TOLERANCE = 1e-9
"""Entropies and distances are sums of floats."""


@dataclass(frozen=True)
class Holdings:
    """One entry for each pair of a group and a sensitive value that it holds, by group and then by value."""

    groups: Groups
    """The groups on the masked columns."""
    sensitive: Column
    owners: NDArray[np.intp]
    """The position of the group of each entry."""
    codes: Codes
    """The code of the sensitive value of each entry."""
    counts: Counts
    """How many records of the group hold the value."""

    @property
    def shares(self) -> Floats:
        """The share of each entry in its group."""
        shares: Floats = self.counts / self.groups.sizes[self.owners]
        return shares

    @property
    def first(self) -> NDArray[np.bool_]:
        """Whether each entry is the first of its group."""
        return np.diff(self.owners, prepend=-1) > 0

    def distinct(self) -> Counts:
        """How many different sensitive values each group holds."""
        return np.bincount(self.owners, minlength=len(self.groups.sizes))

    def whole(self) -> Counts:
        """How many records of the whole release hold each sensitive value."""
        return sums_at(self.codes, self.counts, len(self.sensitive.values))

    def sums(self, parts: Floats) -> Floats:
        """The sum of one part per entry over each group."""
        return np.bincount(self.owners, weights=parts, minlength=len(self.groups.sizes)).astype(np.float64)

    def tally(self, how: str, owners: NDArray[np.intp]) -> str:
        """How many groups break a requirement; one may be given more than once."""
        return f"({how} in {len(np.unique(owners)):,} of {len(self.groups.sizes):,} groups)"

    def text(self, entry: int) -> str:
        """An entry as it reads in a finding: value, count, size, group and share."""
        owner = int(self.owners[entry])
        value = self.sensitive.text(int(self.codes[entry]))
        size = records_text(int(self.groups.sizes[owner]))
        share = f"a share of {self.shares[entry]:.6g}"
        return f"{value} in {int(self.counts[entry]):,} of the {size} of {self.groups.text(owner)}, {share}"


def count_holdings(columns: Sequence[Column], sensitive: Column, weights: Counts) -> Holdings:
    """Counts with a plain group-by over the masked columns and the sensitive one."""
    pairs = group([*columns, sensitive], weights)
    order = np.lexsort(packed(pairs.keys)[::-1])
    *keys, codes = (key[order] for key in pairs.keys)
    counts, first = pairs.sizes[order], fresh(keys)
    owners = np.cumsum(first) - 1
    groups = Groups(columns, [key[first] for key in keys], sums_at(owners, counts, int(first.sum())))
    return Holdings(groups, sensitive, owners, codes, counts)


def equal_distances(holdings: Holdings) -> Floats:
    """Half the sum of |p − q| for each group, the distance from the whole release (Li, Li, Venkatasubramanian, 2007).

    As p and q both add up to 1, that is the sum of p − q over the values where p is larger, all of which the group
    holds.
    """
    whole = holdings.whole()
    return holdings.sums(np.maximum(holdings.shares - whole[holdings.codes] / whole.sum(), 0))


def ordered_distances(holdings: Holdings, ranks: Ranks) -> Floats:
    """The sum of |cumulated p − q| over the ordered values, divided by their number less one, for each group.

    Cumulated p stays the same from one value that the group holds to the next, while cumulated q rises, so a
    stretch between them has two parts: p above q up to some value, and below from there on. Sums of cumulated q
    over a part are differences of its prefix sums, which are whole numbers. This needs no table of groups and values.
    The ranks are, for each code of the sensitive column, the place of its value in the order.
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

    first = holdings.first
    running = np.cumsum(counts)
    cumulated = (running - (running - counts)[first][owners]) / holdings.groups.sizes[owners]
    ends = np.append(np.where(first[1:], values, starts[1:]), values)
    turns = np.clip(np.searchsorted(risen / total, cumulated, side="right"), starts, ends)
    stretches = cumulated * (2 * turns - starts - ends)
    stretches += ((before[starts] + before[ends] - 2 * before[turns]) / total).astype(np.float64)
    # Before its first value, cumulated p is 0.
    stretches[first] += (before[starts[first]] / total).astype(np.float64)
    return np.bincount(owners, weights=stretches).astype(np.float64) / (values - 1)


def size_findings(place: str, least: int, groups: Groups) -> Iterator[Finding]:
    """Every group has at least this many records."""
    small = int((groups.sizes < least).sum())
    if small:
        smallest = int(np.argmin(groups.sizes))
        yield Finding(
            "group-size",
            f"{PARQUET}: {groups.text(smallest)} is shared by {records_text(int(groups.sizes[smallest]))}, "
            f"but {place} asks for at least {least:,} "
            f"({small:,} of {len(groups.sizes):,} groups are too small).",
        )


def share_findings(
    claim: str, place: str, values: Sequence[str], limit: float, holdings: Holdings
) -> Iterator[Finding]:
    """In every group, each of the values is held by at most the share `limit` of its records.

    Shares are compared as fractions and never as floats. A value that no record holds has the share 0.
    """
    named = set(values)
    limited = np.array([value in named for value in holdings.sensitive.texts()], dtype=np.bool_)
    most = largest_counts(holdings.groups.sizes, Fraction(str(limit)))
    above = limited[holdings.codes] & (holdings.counts > most[holdings.owners])
    if above.any():
        worst = int(np.argmax(np.where(above, holdings.shares, -1)))
        message = f"{PARQUET} has {holdings.text(worst)}, but {place}"
        yield Finding(claim, f"{message} allows at most {limit} {holdings.tally('too high', holdings.owners[above])}.")


def distinct_findings(place: str, least: float, holdings: Holdings) -> Iterator[Finding]:
    """Every group holds at least this many different sensitive values."""
    held = holdings.distinct()
    few = held < least
    if few.any():
        worst = int(np.argmin(held))
        named = holdings.sensitive.texts()
        values = [str(named[code]) for code in holdings.codes[holdings.owners == worst]]
        noun = "value" if len(values) == 1 else "different values"
        yield Finding(
            "diversity",
            f"{PARQUET}: {holdings.groups.text(worst)} has {len(values):,} {noun} of {holdings.sensitive.name!r} "
            f"({listed(values)}) in {records_text(int(holdings.groups.sizes[worst]))}, but {place} asks for "
            f"at least {least:g} {holdings.tally('too few', np.flatnonzero(few))}.",
        )


def entropy_findings(place: str, least: float, holdings: Holdings) -> Iterator[Finding]:
    """The entropy of the sensitive values of every group is at least the logarithm of `least`."""
    shares, bound = holdings.shares, float(np.log(least))
    entropies = holdings.sums(-shares * np.log(shares))
    low = entropies < bound - TOLERANCE
    if low.any():
        worst = int(np.argmin(entropies))
        most = int(np.argmax(np.where(holdings.owners == worst, shares, -1)))
        yield Finding(
            "diversity",
            f"{PARQUET} has {holdings.text(most)}; the entropy of {holdings.sensitive.name!r} there is "
            f"{entropies[worst]:.9g}, but {place} asks for at least log {least:g} = {bound:.9g} "
            f"{holdings.tally('too low', np.flatnonzero(low))}.",
        )


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
            f"{holdings.tally('too far', np.flatnonzero(far))}.",
        )


def largest_counts(sizes: Counts, limit: Fraction) -> Counts:
    """For each size the largest whole number that is at most the share `limit` of it."""
    distinct, places = np.unique(sizes, return_inverse=True)
    # In Python, whose whole numbers have no end: a limit such as 1e-30 has a large denominator.
    most = [size * limit.numerator // limit.denominator for size in distinct.tolist()]
    counts: Counts = np.array(most, dtype=np.int64)[places]
    return counts


@dataclass(frozen=True)
class Table:
    """The released rows, for a requirement to count its groups in."""

    manifest: RefinementManifest
    data: Data
    place: str
    """How a finding names the requirement."""

    def groups(self, statement: Statement) -> Groups:
        """The groups that a requirement is about."""
        return group(self.columns(statement), self.data.weights)

    def holdings(self, statement: Any) -> Holdings:
        """What the groups hold of the sensitive attribute, which is released as it is and complete."""
        sensitive = self.sensitive(statement)
        return count_holdings(self.columns(statement), sensitive, self.data.weights)

    def columns(self, statement: Statement) -> list[Column]:
        """The columns that a requirement groups by. A claim is broken if they are not a set of masked ones."""
        start = f"{MANIFEST}: {self.place} names "
        if wrong := list(findings_of(statement.role, start, self._unmasked(statement.names))):
            raise BrokenClaimError(wrong)
        return [self.data.columns[name] for name in statement.names]

    def _unmasked(self, names: Sequence[str]) -> Iterator[str]:
        """What is wrong with the columns. The class is released as it is, whatever else the manifest says."""
        masked, seen = self.manifest.masked, set[str]()
        for name in names:
            if name in seen:
                yield f"{name!r} twice"
            elif name == self.manifest.class_:
                yield f"{name!r}, which is the class"
            elif name not in self.manifest.masking:
                yield f"{name!r}, which is not an attribute of the release"
            elif name not in masked:
                yield f"{name!r}, which is released as it is"
            seen.add(name)

    def sensitive(self, statement: Any) -> Column:
        """The sensitive column. It is in no channel or quasi-identifier: those are masked, and it is not."""
        name = statement.sensitive
        entry = self.manifest.masking.get(name)
        problem = ""
        if name == self.manifest.class_:
            problem = f"protects {name!r}, which is the class"
        elif name in statement.names:
            problem = f"protects {name!r}, which is in its own {statement.role}"
        elif entry is None:
            problem = f"protects {name!r}, which is not an attribute of the release"
        elif not isinstance(entry, Released):
            problem = f"protects {name!r}, which is masked by {entry.kind}, so that its shares cannot be counted"
        elif statement.takes == "category" != entry.type:
            problem = f"limits values of {name!r}, which is a {entry.type}"
        elif statement.takes == "number" != entry.type:
            problem = f"measures {name!r}, which is not a number"
        if problem:
            raise broken("sensitive", f"{MANIFEST}: {self.place} {problem}.")
        if count := self.data.gaps(name):
            message = f"{PARQUET}: the sensitive column {name!r} of {self.place} has no value in {rows_text(count)}."
            raise broken("missing", message)
        return self.data.columns[name]
