"""What all partitions share: cuts of attributes that are refined everywhere, and rows that are left out of all.

A cut is refined by sums over all boxes that hold a block, in all partitions. A row that is left out of one partition is
left out of all. So a refinement may leave out rows only if every other group that they are in keeps some, and still
satisfies its requirements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from unveil.arrays import BoolArray, Growing, IntArray
from unveil.counting.scans import ALL, INTERVAL, PEEL, SPLIT, Scan
from unveil.refine.blocks import Blocks
from unveil.refine.boxes import NONE, Partition
from unveil.refine.gains import Candidates, Goal
from unveil.refine.omissions import Spent
from unveil.refine.ranking import Turn

GAIN, BITS, COST, BROKEN, PRICE, DIVIDES = range(6)
"""What is summed up for a candidate: what it gains, splits, costs and breaks, its price, and whether it divides a group
that is released."""


class Refined(NamedTuple):
    """The best way to refine a block everywhere. Sorts by its turn."""

    turn: Turn
    block: int
    way: int
    cell: int
    gain: float
    cost: float


class Cuts:
    """The blocks of attributes that are refined everywhere, and what each way to refine them would give.

    A block has a slot for each way: for an interval, slot c is the split before cell c; for a category, slot 0 is all
    children and slot 1 + c is peeling cell c. Sums over boxes are whole numbers, so taking a box out again is exact.
    """

    def __init__(
        self,
        partitions: Sequence[Partition],
        cut: Mapping[int, Sequence[int]],
        blocks: Blocks,
        goal: Goal,
        spare: int = 0,
    ) -> None:
        """Counts the groups as they are; `cut` has the blocks of the attributes that are refined everywhere."""
        self._partitions, self._blocks, self._goal = partitions, blocks, goal
        self._active = [np.isin(partition.attributes, list(cut)) for partition in partitions]
        self._counts = [bool(active.any()) for active in self._active]
        sharing = {a: [partition for partition in partitions if a in partition.attributes] for a in cut}
        self._sharing = {attribute: len(held) for attribute, held in sharing.items()}
        self._endless = {a: any(partition.endless for partition in held) for a, held in sharing.items()}
        """The attributes that only splits that pay refine."""
        self._sums = Growing(np.int64, 6)
        self._first = Growing(np.int64)
        """Where the sums of each block begin; −1 if it cannot be refined, or no longer."""
        self._records: dict[int, int] = {}
        """The records of the boxes that hold a block, summed over the partitions."""
        self._mixed: dict[int, int] = {}
        """How many boxes hold a block and records that differ in a target."""
        self._best: dict[int, Refined | None] = {}
        self._touched: set[int] = set()
        self.spare = spare
        """How many records, or persons, may still be left out."""
        self._leaves_out = spare > 0
        self._frugal: set[int] = set()
        """The blocks that are only refined by what leaves out nothing, though their parts may leave out records."""
        for held in cut.values():
            for block in held:
                self._enter(block)
        for number, partition in enumerate(partitions):
            self.count(number, np.flatnonzero(partition.live.rows), 1)

    def count(self, partition: int, boxes: Sequence[int] | IntArray, sign: int) -> None:
        """Adds what the candidates would do to boxes, or takes it out again."""
        active, numbers = self._active[partition], np.asarray(boxes, dtype=np.int64)
        if not self._counts[partition] or not len(boxes):
            return
        held = self._partitions[partition]
        blocks = held.boxes(numbers).blocks
        totals = np.zeros((len(numbers), 2), dtype=np.int64)
        for scan, valid, cost, sizes, mixed in held.scan(numbers, active):
            gain, broken, divides = scan.gain, (~valid).astype(np.int64), scan.bits
            if held.omissions is not None:
                gain, broken = held.omissions.judged(scan)
            if held.rows.learns:
                broken = divides = np.zeros_like(broken)
            price = self._goal.price(scan.made, sizes[scan.box])
            sums = sign * np.stack([gain, scan.bits, cost, broken, price, divides], axis=1)
            self._add(blocks[scan.box, scan.column], scan, sums)
            totals = np.stack([sizes, mixed], axis=1)
        for scan, valid in held.scan_released(numbers, active):
            sums = np.zeros((len(valid), 6), dtype=np.int64)
            sums[:, BROKEN], sums[:, DIVIDES] = ~valid, scan.bits
            self._add(blocks[scan.box, scan.column], scan, sign * sums)
        for column in np.flatnonzero(active).tolist():
            for block, (records, mixtures) in _added_up(blocks[:, column], totals):
                if self._first.rows[block] >= 0:
                    self._records[block] += sign * records
                    self._mixed[block] += sign * mixtures
                    self._touched.add(block)

    def leave_out_nothing(self, block: int) -> None:
        """Refines a block only by what leaves out nothing."""
        self._frugal.add(block)
        self._touched.add(block)

    def spend(self, cost: int) -> None:
        """Leaves out records or persons; what others cost is compared with what is left."""
        if cost:
            self.spare -= cost
            self._touched |= {block for block in self._best if self._first.rows[block] >= 0}

    def best(self) -> Refined | None:
        """The best valid way to refine a block everywhere."""
        for block in self._touched:
            self._best[block] = self._evaluated(block)
        self._touched.clear()
        return min((found for found in self._best.values() if found is not None), default=None)

    def refine(self, block: int, into: Sequence[int]) -> None:
        """Replaces a block by others, before the boxes that hold them are counted."""
        self._first.rows[block] = -1
        self._best[block] = None
        self._touched.discard(block)
        for child in into:
            self._enter(child)

    def _enter(self, block: int) -> None:
        cells = int(self._blocks.shapes.cells[block])
        self._records[block] = self._mixed[block] = 0
        self._best[block] = None
        self._first.add(max(block + 1 - len(self._first), 0), -1)
        if cells:
            self._first.rows[block] = len(self._sums)
            self._sums.add(cells + 1)

    def _add(self, block: IntArray, scan: Scan, sums: IntArray) -> None:
        """Adds to the slots of candidates.

        A split is the same for all cells from `since` on, so intervals store the differences between their slots.
        """
        first, rows = self._first.rows[block], self._sums.rows
        split, peel = scan.way == SPLIT, scan.way == PEEL
        np.add.at(rows, (first + scan.since)[split], sums[split])
        np.add.at(rows, (first + scan.cell + 1)[split], -sums[split])
        np.add.at(rows, first[scan.way == ALL], sums[scan.way == ALL])
        np.add.at(rows, (first + scan.cell + 1)[peel], sums[peel])

    def _evaluated(self, block: int) -> Refined | None:
        """The best way to refine a block; closes it if there is none, because there never will be one."""
        shapes = self._blocks.shapes
        first = self._first.rows[block]
        sums = self._sums.rows[first : first + shapes.cells[block] + 1]
        interval = shapes.kind[block] == INTERVAL
        if interval:
            sums = np.cumsum(sums, axis=0)
        spare = 0 if block in self._frugal else self.spare
        affordable = (sums[:, BROKEN] <= spare) & (sums[:, GAIN] >= 0)
        valid = affordable & (sums[:, DIVIDES] > 0)
        valid[0] = not interval and affordable[0]
        if self._leaves_out and not valid.any():
            return None  # it may become affordable when others are left out
        if not valid.any() or (not self._mixed[block] and not self._goal.pure_too):
            self._blocks.close(block)
            self._first.rows[block] = -1
            return None
        attribute, same = self._blocks.owner[block], np.ones(len(sums), dtype=np.int64)
        found = sums[:, GAIN], sums[:, BITS], sums[:, COST], sums[:, PRICE]
        candidates = Candidates(*found, self._records[block] * same, attribute * same)
        gain, rank = self._goal.weighed(candidates, self._sharing[attribute])
        rank = np.where(valid, rank, -np.inf)
        slot = int(np.argmax(rank))
        if rank[slot] < 0 and self._endless[attribute]:
            return None  # it may pay when other attributes are refined
        way, cell = (SPLIT, slot) if interval else (PEEL, slot - 1) if slot else (ALL, 0)
        place = self._blocks.place(block)
        cost = sums[slot, COST] / self._goal.fine / self._sharing[attribute]
        turn = Turn(-float(rank[slot]), attribute, place, slot)
        return Refined(turn, block, way, cell, float(gain[slot]), float(cost))


def _added_up(blocks: IntArray, totals: IntArray) -> Iterator[tuple[int, list[int]]]:
    """For each block, the sums over the boxes that hold it."""
    numbers, place = np.unique(blocks, return_inverse=True)
    sums = np.zeros((len(numbers), totals.shape[1]), dtype=np.int64)
    np.add.at(sums, place, totals)
    return zip(numbers.tolist(), sums.tolist(), strict=True)


class Memberships:
    """The groups of every row, by its number, in partitions that share their rows."""

    def __init__(self, partitions: Sequence[Partition]) -> None:
        """Notes the groups as they are."""
        self._partitions = partitions
        held, everything = partitions[0].rows, partitions[0].everything
        self._group: list[IntArray] = [np.full(len(held), NONE) for _ in partitions]
        self._whose = np.zeros((len(held), 2), dtype=np.int64)
        self._whose[held.numbers(everything)] = held.whose(everything)
        self.out: BoolArray = np.zeros(len(held), dtype=np.bool_)
        """The rows that are left out."""
        self.spent = Spent()
        """How many records or persons these represent."""
        for number, partition in enumerate(partitions):
            self.enter(number, np.flatnonzero(partition.live.rows))

    def enter(self, number: int, boxes: IntArray) -> None:
        """Puts the rows of some boxes of a partition into these boxes."""
        partition = self._partitions[number]
        held = partition.boxes(boxes)
        self._group[number][partition.rows.numbers(held)] = np.repeat(boxes, held.stop - held.start)

    def leaving(self, pieces: Sequence[IntArray]) -> IntArray:
        """The rows in those pieces of each partition that break a requirement."""
        aside = [
            partition.rows.numbers(partition.boxes(made[partition.aside.rows[made]]))
            for partition, made in zip(self._partitions, pieces, strict=True)
        ]
        return np.unique(np.concatenate(aside))

    def left_by(self, leaving: IntArray) -> Iterator[tuple[int, IntArray]]:
        """The boxes of each partition that rows leave, other than those that leave as a whole."""
        for number, (partition, group) in enumerate(zip(self._partitions, self._group, strict=True)):
            boxes = np.unique(group[leaving])
            yield number, boxes[~partition.aside.rows[boxes]]

    def leave(self, leaving: IntArray, spare: int) -> bool:
        """Leaves out rows, if there is a budget for them and the groups that they leave stay valid; says whether."""
        whose = self._whose[leaving]
        if self.spent.bill(whose) > spare:
            return False
        self.out[leaving] = True
        valid = all(self._partitions[number].holds(boxes, self.out) for number, boxes in self.left_by(leaving))
        self.out[leaving] = valid
        if valid:
            self.spent.pay(whose)
        return valid
