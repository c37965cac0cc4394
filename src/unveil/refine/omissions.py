"""Records that a search may leave out: pieces that break a requirement are set aside while a budget lasts.

The budget is in records, or in persons where the table says who they are. A person counts as left out with the first of
their records. Of several pieces, persons are added up: a sum may count somebody twice, but never misses anybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unveil.arrays import BoolArray, IntArray
from unveil.counting.scans import ALL, Scan
from unveil.schema import Level

BARRED = 1 << 40
"""What a candidate costs that may not leave out its pieces: more than there are."""


class Judged(NamedTuple):
    """What candidates leave, without the pieces that break a requirement."""

    gain: IntArray
    """The gain less the information of these pieces."""
    cost: IntArray
    """The records of these pieces, or their persons."""

    def affordable(self, spare: IntArray) -> BoolArray:
        """Whether a candidate costs nothing, or costs no more than there is and loses no information."""
        affordable: BoolArray = (self.cost == 0) | ((self.cost <= spare) & (self.gain >= 0))
        return affordable


@dataclass(frozen=True, eq=False)
class Omissions:
    """Which pieces break a requirement, and what it costs to leave them out.

    The information of a group is n·(H₀ − H), in bits over its records, where H₀ is the entropy of the whole table. It
    is lost with the records.
    """

    _levels: Sequence[tuple[Level, slice]]
    """The levels that every group must hold, each with the counts of a piece that it needs."""
    _entropy: float
    """The entropy of the targets in the whole table, in the steps of gains."""
    _discloses: BoolArray
    """Which attributes are suppressed, so that refining them discloses values."""
    _unit: int = 0
    """Which count of a piece the budget is in: its records, or its persons."""

    def broken(self, counts: IntArray) -> BoolArray:
        """Which pieces break a requirement, from their sizes and their counts by sensitive value."""
        broken = np.zeros(len(counts), dtype=np.bool_)
        for level, section in self._levels:
            broken |= ~level.holds(level.of(counts[:, section]))
        return broken

    def judged(self, scan: Scan) -> Judged:
        """What candidates leave."""
        broken = self.broken(scan.pieces)
        owner, size = scan.owner[broken], scan.pieces[broken, 0]
        gain, cost = scan.gain.copy(), np.zeros(len(scan.gain), dtype=np.int64)
        np.add.at(cost, owner, scan.pieces[broken, self._unit])
        lost = np.floor(size * self._entropy + 0.5).astype(np.int64) + scan.purity[broken]
        np.subtract.at(gain, owner, lost)
        cost[self._barred(scan, broken)] = BARRED
        return Judged(gain, cost)

    def _barred(self, scan: Scan, broken: BoolArray) -> BoolArray:
        """Candidates that leave nothing, or that disclose a value of records that are left out.

        The manifest lists disclosed values. So only what stays suppressed, the rest, can be left out.
        """
        first = np.diff(scan.owner, prepend=-1) != 0
        kept, shown = np.zeros(len(scan.gain), dtype=np.bool_), np.zeros(len(scan.gain), dtype=np.bool_)
        kept[scan.owner[~broken]] = True
        shown[scan.owner[broken & (first | (scan.way[scan.owner] == ALL))]] = True
        touched = np.zeros(len(scan.gain), dtype=np.bool_)
        touched[scan.owner[broken]] = True
        return touched & (~kept | (shown & self._discloses[scan.column]))

    def handed_down(self, counts: IntArray, parent: IntArray, spare: IntArray) -> tuple[BoolArray, IntArray]:
        """Which pieces are left out, and what the others may leave out: what is left, in proportion to their sizes.

        `parent` is the box that each piece comes from, and `spare` what each of these boxes may leave out.
        """
        broken, size = self.broken(counts), counts[:, self._unit]
        cost, kept = np.zeros_like(spare), np.zeros_like(spare)
        np.add.at(cost, parent[broken], size[broken])
        np.add.at(kept, parent[~broken], size[~broken])
        left = np.maximum(spare - cost, 0)
        # Python's integers, because a product may not fit in 64 bits, and a share too large would break the budget.
        share = left[parent].astype(object) * size // np.maximum(kept, 1)[parent]
        return broken, np.where(broken, 0, share).astype(np.int64)


class Spent:
    """How much is left out: the records, or the distinct persons."""

    def __init__(self) -> None:
        self.total = 0
        self._known: BoolArray = np.zeros(1, dtype=np.bool_)

    def bill(self, whose: IntArray) -> int:
        """What it adds to leave out rows, given as `BoxRows.whose` has them; whoever is left out adds nothing."""
        return int(whose[whose[:, 0] == 0, 1].sum()) + len(self._new(whose))

    def pay(self, whose: IntArray) -> None:
        """Leaves out rows."""
        self.total += self.bill(whose)
        self._known[self._new(whose)] = True

    def _new(self, whose: IntArray) -> IntArray:
        """The numbered persons who are not left out yet."""
        persons = np.unique(whose[:, 0])
        persons = persons[persons > 0]
        self._known = np.pad(self._known, (0, max(int(persons.max(initial=0)) + 1 - len(self._known), 0)))
        return persons[~self._known[persons]]
