"""How many records of each group hold each sensitive value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.verifier.columns import Codes, Column, Counts, Groups, group
from unveil.verifier.findings import records_text
from unveil.verifier.raw import plain, text

Floats = NDArray[np.float64]
Ranks = NDArray[np.int64]
LARGEST = 2**62


@dataclass(frozen=True)
class Holdings:
    """One entry for each pair of a group and a sensitive value that it holds, by group and then by value.

    Attributes:
        groups: The groups on the masked columns.
        sensitive: The sensitive column.
        owners: The position of the group of each entry.
        codes: The code of the sensitive value of each entry.
        counts: How many records of the group hold the value.
    """

    groups: Groups
    sensitive: Column
    owners: NDArray[np.intp]
    codes: Codes
    counts: Counts

    @property
    def shares(self) -> Floats:
        """The share of each entry in its group."""
        shares: Floats = self.counts / self.groups.sizes[self.owners]
        return shares

    def distinct(self) -> Counts:
        """How many different sensitive values each group holds."""
        return np.bincount(self.owners, minlength=len(self.groups.sizes))

    def whole(self) -> Counts:
        """How many records of the whole release hold each sensitive value."""
        return _summed(self.codes, self.counts, len(self.sensitive.values))

    def sums(self, parts: Floats) -> Floats:
        """The sum of one part per entry over each group."""
        return np.bincount(self.owners, weights=parts, minlength=len(self.groups.sizes)).astype(np.float64)

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
    *keys, codes = pairs.keys
    numbers = _numbered(columns, keys)
    order = np.lexsort((codes, numbers))
    first = np.diff(numbers[order], prepend=-1) > 0
    owners = np.cumsum(first) - 1
    counts = pairs.sizes[order]
    groups = Groups(columns, [key[order][first] for key in keys], _summed(owners, counts, int(first.sum())))
    return Holdings(groups, sensitive, owners, codes[order], counts)


def value_texts(column: Column) -> list[str | None]:
    """The distinct values of a column as specs and manifests name them; None for a missing one."""
    return [text(value) for value in plain(column.values)]


def largest_counts(sizes: Counts, limit: Fraction) -> Counts:
    """For each size the largest whole number that is at most the share `limit` of it."""
    distinct, places = np.unique(sizes, return_inverse=True)
    # In Python, where whole numbers have no end: a limit such as 1e-30 has a large denominator.
    most = [size * limit.numerator // limit.denominator for size in distinct.tolist()]
    counts: Counts = np.array(most, dtype=np.int64)[places]
    return counts


def _numbered(columns: Sequence[Column], keys: Sequence[Codes]) -> Counts:
    """One whole number for each pair, the same for the same group: its codes as the digits of a number."""
    numbers, room = np.zeros(len(keys[0]), dtype=np.int64), 1
    for column, key in zip(columns, keys, strict=True):
        base = len(column.values)
        if room * base > LARGEST:
            numbers = np.unique(numbers, return_inverse=True)[1]
            room = len(numbers)
        numbers = numbers * base + key
        room *= base
    return numbers


def _summed(places: NDArray[Any], counts: Counts, size: int) -> Counts:
    """Sums of whole numbers; `bincount` would make floats of them."""
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, places, counts)
    return sums
