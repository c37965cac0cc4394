"""What `goal = "statistics"` measures: a table of every attribute and the class, and of some pairs of attributes.

Neighbours differ by one record, or by the records that are used of one person. What is drawn goes through `Draws`,
which charges it and takes the number of these records into account; here is why one record changes it by no more than
1, the sensitivity that is given there.

1. *Class totals.* A record is in one class.
2. *The table of an attribute.* A record has one bin and one class: one of the counts changes, by 1.
3. *Choice of a pair.* A score is Σ |count − expected| over the groups of two attributes, less what noise would add.
   A record has one group of each: one of the counts changes, by 1, so the score changes by at most 1. What is expected
   and what is subtracted are whole numbers that depend on earlier draws only.
4. *The counts of a pair.* One of them changes, by 1.

How many pairs there are, and which bins are a group, depends on earlier draws only. All counts are 64-bit integers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from unveil.arrays import IntArray
from unveil.counting import Cells, Engine
from unveil.masking import Block
from unveil.progress import Tasks, Watcher, unwatched
from unveil.publishers.additive.bins import Bins, affordable
from unveil.publishers.additive.forest import Pair, Star, groups_of
from unveil.publishers.additive.rounds import TOTALS, Draws, noise_variance
from unveil.tables import Outline

PAIR = Fraction(5, 100)
"""The share of ε that each pair gets; the tables with the class share what is left."""
CHOICE = Fraction(20, 100)
"""The part of it that pays for the choice; the counts get the rest."""
MOST_PAIRS = 10
MOST_GROUPS = 12
MOST_TIED = 40
"""Pairs are sought among this many attributes."""


@dataclass(frozen=True, eq=False)
class Tables:
    """Everything that was drawn."""

    totals: IntArray
    bins: tuple[Bins | None, ...]
    """The bins of each attribute; None if it is never measured."""
    tables: Mapping[int, IntArray]
    """By the place of an attribute, the noisy counts per bin and class."""
    star: Star
    groups: Mapping[int, IntArray]
    """For the attributes of pairs, the group of each bin."""
    pairs: tuple[Pair, ...]


def pair_count(records: float, attributes: int) -> int:
    """How many pairs n·ε affords: √(n·ε / 600), and never a circle."""
    return max(min(round(math.sqrt(records / 600)), MOST_PAIRS, attributes - 1), 0)


def group_count(records: float) -> int:
    """How many groups an attribute has in pairs: √(n·ε / 250), at least two."""
    return min(max(2, math.floor(math.sqrt(records / 250))), MOST_GROUPS)


def measure(table: Outline, engine: Engine, draws: Draws, progress: Watcher = unwatched) -> Tables:
    """Draws class totals, the tables of all attributes with the class, and pairs."""
    ledger, histograms = draws.ledger, engine.histograms()
    totals = draws.noisy("class totals", histograms[0].sum(axis=0), 1, ledger.total * TOTALS)
    bins = tuple(affordable(attribute, math.inf) for attribute in table.attributes)
    binned = {place: held.of_codes(table.columns[place]) for place, held in enumerate(bins) if held is not None}
    records = float(draws.per_record(ledger.total)) * float(np.maximum(totals, 1).sum())
    count = pair_count(records, len(binned))
    paid = (ledger.left - count * ledger.total * PAIR) / max(len(binned), 1)
    tables = {}
    for place, of_codes in binned.items():
        exact = np.stack([_counted(of_codes, part, bins[place]) for part in histograms[place].T], axis=1)
        tables[place] = draws.noisy(f"table of {table.attributes[place].name}", exact, 1, paid)
    known, counted = (noise_variance(draws.per_record(cost)) for cost in (ledger.total * TOTALS, paid))
    star = Star(totals, known, tables, counted)
    if not count:
        return Tables(totals, bins, tables, star, {}, ())
    groups = {}
    for place in _varied(star):
        shares = (star.shapes[place] * star.shares).sum(axis=1)
        groups[place] = groups_of(shares, group_count(records), ordered=table.attributes[place].ordered)
    progress("counting pairs", 0, None)
    cuts = [
        _blocks(groups[place][binned[place]] if place in groups else np.zeros(len(domain), dtype=np.int64))
        for place, domain in enumerate(table.columns)
    ]
    pairs = Pairs(engine.cells(cuts), star, groups, draws)
    drawn = Tasks(progress, "drawing pairs", count)
    for _ in range(count):
        pairs.draw()
        drawn.finish()
    tied = {place for pair in pairs.done for place in pair.places}
    return Tables(totals, bins, tables, star, {place: groups[place] for place in sorted(tied)}, tuple(pairs.done))


def _varied(star: Star) -> list[int]:
    """The attributes to look for pairs among: those with the smallest largest share, which bounds any score."""
    largest = {place: float((shape * star.shares).sum(axis=1).max()) for place, shape in star.shapes.items()}
    return sorted(sorted(largest, key=largest.__getitem__)[:MOST_TIED])


def _counted(of_codes: IntArray, counts: IntArray, bins: Bins | None) -> IntArray:
    """The records of one class per bin."""
    found = np.zeros(0 if bins is None else bins.size, dtype=np.int64)
    np.add.at(found, of_codes, counts)
    return found


def _blocks(groups: IntArray) -> list[Block]:
    """Groups of codes as a cut, so that an engine can count them."""
    return [Block(str(group), np.flatnonzero(groups == group)) for group in range(int(groups.max(initial=0)) + 1)]


class Pairs:
    """Chooses and measures pairs of attributes."""

    def __init__(self, cells: Cells, star: Star, groups: Mapping[int, IntArray], draws: Draws) -> None:
        self.done: list[Pair] = []
        # In columns of their own, small and without gaps: all pairs are counted from them.
        self._columns = {place: cells.blocks[:, place].astype(np.int32) for place in groups}
        self._groups = groups
        self._draws = draws
        self._tree = {place: place for place in groups}
        """Which attributes are tied to each other already."""
        self._paid = draws.ledger.total * PAIR
        self._records = cells.counts.sum(axis=1)
        shares = {place: star.grouped(place, held) for place, held in groups.items()}
        total = star.records.sum()
        self._scores = {
            (one, other): self._score((one, other), np.rint(total * (shares[one] / star.shares) @ shares[other].T))
            for one, other in combinations(groups, 2)
        }

    def counts(self, places: tuple[int, int]) -> IntArray:
        """The records per group of two attributes."""
        one, other = (int(self._groups[place].max()) + 1 for place in places)
        keys = self._columns[places[0]] * other + self._columns[places[1]]
        # Floats add whole numbers exactly up to 2^53, and there are no more records.
        return np.bincount(keys, self._records, one * other).astype(np.int64).reshape(one, other)

    def _score(self, places: tuple[int, int], expected: IntArray) -> int:
        """How far the counts are from those of attributes that are independent within each class."""
        counts = self.counts(places)
        noise = 1 / math.sinh(min(float(self._draws.per_record(self._paid * (1 - CHOICE))), 700))
        return int(np.abs(counts - expected.astype(np.int64)).sum()) - round(counts.size * noise)

    def draw(self) -> None:
        """One more pair, of attributes that are not tied to each other yet."""
        number = len(self.done) + 1
        options = [(one, other) for one, other in self._scores if self._tree[one] != self._tree[other]]
        scores = [self._scores[places] for places in options]
        places = options[self._draws.chosen(f"choice of pair {number}", scores, 1, self._paid * CHOICE)]
        noisy = self._draws.noisy(f"counts of pair {number}", self.counts(places), 1, self._paid * (1 - CHOICE))
        self.done.append(Pair(places, noisy))
        kept, gone = (self._tree[place] for place in places)
        self._tree = {place: kept if held == gone else held for place, held in self._tree.items()}
