"""The boxes of one set of attributes, what each would be split by, and the tree of splits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from unveil.arrays import BoolArray, FloatArray, Growing, IntArray
from unveil.counting.boxes import BoxRows
from unveil.counting.scans import ALL, SPLIT, Scan, first_best
from unveil.counting.splits import Boxes, Choices, Parts
from unveil.refine.blocks import Blocks
from unveil.refine.gains import Candidates, Goal, anonymity_lost
from unveil.refine.omissions import Omissions, Spent
from unveil.refine.ranking import Best, Turn
from unveil.schema import Level, hold_alone

WIDTH = 4
"""Of how many attributes the best candidate is looked at more closely."""
SAMPLE = 1 << 14
"""How many rows of a box are looked at, at most, to see what its pieces could gain next."""
SHARE = 32
"""Only boxes with at least this part of the records are looked at more closely: 1 in 32."""
NONE = -1


class Lowest(NamedTuple):
    """The least private group by one requirement."""

    level: Level
    value: float
    box: int
    records: int


class Partition:
    """The boxes of the requirements on one set of attributes."""

    def __init__(
        self,
        rows: BoxRows,
        levels: Sequence[tuple[Level, slice]],
        attributes: Sequence[int],
        by_box: Sequence[bool],
        blocks: Blocks,
        goal: Goal,
    ) -> None:
        """One box with all rows.

        Every box must hold the levels, each with the counts of a piece that it needs. `attributes` are places among the
        masked ones; those of `by_box` are refined box by box.
        """
        self.rows, self.levels, self._blocks, self._goal = rows, levels, blocks, goal
        self.attributes = np.array(attributes)
        self.by_box: BoolArray = np.array(by_box)
        self.records = rows.records
        self.start, self.stop = Growing(np.int64), Growing(np.int64)
        self.blocks = Growing(np.int64, len(attributes))
        self.rank = Growing(np.float64)
        self.gain, self.cost = Growing(np.float64), Growing(np.int64)
        self.choice = Growing(np.int64, 3)
        """What the box is split by: attribute, way and cell."""
        self.first = Growing(np.int64)
        """The first piece of a box that is split, and the number of its pieces."""
        self.pieces = Growing(np.int64)
        self.part = Growing(np.int64)
        """Which piece of the split a box is."""
        self.live, self.done = Growing(np.bool_), Growing(np.bool_)
        """Whether a box is a group of the table as it is now, and whether it was one and is split."""
        self.age = Growing(np.int64)
        """In which order boxes became groups."""
        self._frontier: IntArray = np.zeros(0, dtype=np.int64)
        """The boxes that could be split and are not, whether their turn has come or not."""
        self.turn: list[Turn | None] = []
        """When the turn of each box is, if it can be split by itself."""
        self.aside, self.spare = Growing(np.bool_), Growing(np.int64)
        """If records may be left out: whether those of a box are, and how many (or persons) it may still leave out."""
        self.frugal = Growing(np.bool_)
        """Whether a box is only split by what leaves out nothing, though its pieces may leave out records."""
        self.omissions: Omissions | None = None
        self.spent = Spent()
        """What it leaves out, if it is the only partition."""
        self._names = [blocks.hierarchies[attribute].attribute.name for attribute in attributes]
        roots = [blocks.roots[attribute] for attribute in attributes]
        self._add(np.array([0]), np.array([len(rows)]), np.array([roots]), np.array([0]))
        self.live.rows[0] = True
        self.endless = hold_alone(levels, rows.totals(self.boxes(np.array([0])))[0])
        """Whether a single record could be a group: then only splits that pay are made, or records would be."""

    def boxes(self, numbers: IntArray) -> Boxes:
        """Some boxes."""
        return Boxes(self.start.rows[numbers], self.stop.rows[numbers], self.blocks.rows[numbers])

    def holding(self, attribute: int, block: int) -> IntArray:
        """The groups with a block of an attribute, the oldest first."""
        column = np.flatnonzero(self.attributes == attribute)
        found = np.flatnonzero((self.blocks.rows[:, column] == block).any(axis=1) & self.live.rows)
        return found[np.argsort(self.age.rows[found], kind="stable")]

    def refine(self, attribute: int, block: int, way: int, cell: int) -> None:
        """Splits all groups with a block in the same way."""
        groups = self.holding(attribute, block)
        if len(groups):
            self.split_alike(groups, attribute, way, cell)
            self.perform(groups)

    def split_alike(self, groups: IntArray, attribute: int, way: int, cell: int) -> None:
        """Splits groups in the same way, ahead of their turn."""
        column = int(np.flatnonzero(self.attributes == attribute)[0])
        self.split(groups, Choices(*(np.full(len(groups), value) for value in (column, way, cell))))

    def lowest(self) -> list[Lowest]:
        """For each requirement, the group with the lowest level; the first of several."""
        groups = np.flatnonzero(self.live.rows)
        counts, of = self.rows.divided_totals(self.boxes(groups))
        found = []
        for level, section in self.levels:
            levels = level.of(counts[:, section])
            at = int(np.argmin(levels))
            found.append(Lowest(level, float(levels[at]), int(groups[of[at]]), int(counts[at, 0])))
        return found

    @property
    def valid(self) -> bool:
        """Whether every group satisfies every requirement."""
        return all(bool(lowest.level.holds(np.array([lowest.value]))[0]) for lowest in self.lowest())

    def occupied(self, box: int, column: int) -> IntArray:
        """The cells of an attribute's block that the records of a box hold, in domain order."""
        shapes, block = self._blocks.shapes, int(self.blocks.rows[box, column])
        codes = self.rows.codes(int(self.start.rows[box]), int(self.stop.rows[box]), column)
        cells: IntArray = np.unique(shapes.cell_of[shapes.depth[block], codes]) - shapes.first[block]
        return cells

    def pieces_of(self, box: int) -> range:
        """The pieces into which a box is split."""
        first = int(self.first.rows[box])
        return range(first, first + int(self.pieces.rows[box]))

    def pieces_of_all(self, boxes: IntArray) -> IntArray:
        """The pieces into which boxes are split."""
        return np.array([piece for box in boxes.tolist() for piece in self.pieces_of(box)], dtype=np.int64)

    def leave_out(self, budget: int) -> None:
        """Lets the groups leave out records or persons, in proportion to how many they have."""
        hidden = np.array([self._blocks.hides(root) for root in self.blocks.rows[0].tolist()])
        self.omissions = Omissions(self.levels, self.rows.entropy(), hidden, self.rows.unit)
        groups = np.flatnonzero(self.live.rows)
        counts = self.rows.totals(self.boxes(groups))[:, self.rows.unit]
        self.spare.rows[groups] = budget * counts // counts.sum()

    @property
    def everything(self) -> Boxes:
        """One box with all rows."""
        return Boxes(np.array([0]), np.array([len(self.rows)]), self.blocks.rows[:1])

    @property
    def omitted(self) -> Boxes:
        """The boxes that are left out."""
        made = self.pieces_of_all(np.flatnonzero(self.done.rows))
        return self.boxes(made[self.aside.rows[made]])

    @property
    def groups(self) -> Boxes:
        """The groups of the table as it is now."""
        return self.boxes(np.flatnonzero(self.live.rows))

    def holds(self, boxes: IntArray, out: BoolArray) -> bool:
        """Whether boxes keep records without some rows, and these satisfy every requirement."""
        counts = self.rows.totals(self.boxes(boxes), out)
        return bool((counts[:, 0] > 0).all()) and not (
            self.omissions is not None and self.omissions.broken(counts).any()
        )

    def take_out(self, boxes: IntArray, out: BoolArray) -> None:
        """Removes rows from boxes; what they would be split by is no longer known."""
        self.stop.rows[boxes] = self.rows.take_out(self.boxes(boxes), out)
        self.unsplit(boxes)

    def perform(self, boxes: IntArray) -> IntArray:
        """Replaces groups by the pieces into which they are split; returns those that are not left out."""
        made = self.pieces_of_all(boxes)
        if self.omissions is not None:
            aside = self.aside.rows[made]
            self.spent.pay(self.rows.whose(self.boxes(made[aside])))
            made = made[~aside]
        self.live.rows[boxes] = False
        self.done.rows[boxes] = True
        self.live.rows[made] = True
        return made

    def scan(
        self, numbers: IntArray, active: BoolArray
    ) -> Iterator[tuple[Scan, BoolArray, IntArray, IntArray, BoolArray]]:
        """The candidates of boxes, which of them are valid, their costs, and the records and mixture of the boxes."""
        return self._scan(self.rows, self.boxes(numbers), active)

    def scan_released(self, numbers: IntArray, active: BoolArray) -> Iterator[tuple[Scan, BoolArray]]:
        """Where some rows only choose the masking: the candidates by the released ones, and which are valid."""
        if self.rows.learns:
            yield from (found[:2] for found in self._scan(*self.rows.released(self.boxes(numbers)), active))

    def _scan(
        self, rows: BoxRows, boxes: Boxes, active: BoolArray
    ) -> Iterator[tuple[Scan, BoolArray, IntArray, IntArray, BoolArray]]:
        costs = self._costs(rows, boxes)
        for scan, sizes, mixed in rows.scan(boxes, active, self._blocks.shapes, pure_too=True):
            yield scan, self._valid(scan), costs(scan), sizes, mixed

    def evaluate(self, numbers: IntArray) -> None:
        """Finds what each box would be split by."""
        numbers = numbers[~self.aside.rows[numbers]]
        if not self.by_box.any() or not len(numbers):
            return
        spare = np.where(self.frugal.rows[numbers], 0, self.spare.rows[numbers])
        best = self._best(self.rows, self.boxes(numbers), spare)
        winner = self._look_ahead(numbers, best)
        every = np.arange(len(numbers))
        choices, self.gain.rows[numbers], self.cost.rows[numbers] = best.of(every, winner)
        self.rank.rows[numbers] = best.rank[every, winner]
        self.choice.rows[numbers] = np.stack(choices, axis=1)
        self._frontier = np.concatenate([self._frontier, numbers[np.isfinite(best.rank[every, winner])]])
        self._take_turns(numbers, winner)

    def labels(self, box: int) -> dict[str, str]:
        """The labels of a box, by attribute."""
        return dict(zip(self._names, map(self._blocks.label, self.blocks.rows[box].tolist()), strict=True))

    def _take_turns(self, numbers: IntArray, column: IntArray) -> None:
        _, way, cell = self.choice.rows[numbers].T
        slot = np.where(way == SPLIT, cell, np.where(way == ALL, 0, cell + 1)).tolist()
        blocks = self.blocks.rows[numbers, column].tolist()
        attributes, ranks = self.attributes[column].tolist(), (-self.rank.rows[numbers]).tolist()
        for place, box in enumerate(numbers.tolist()):
            self.turn[box] = None
            if ranks[place] < np.inf:
                self.turn[box] = Turn(ranks[place], attributes[place], self._blocks.place(blocks[place]), slot[place])

    def unsplit(self, boxes: IntArray) -> None:
        """Takes back that boxes were split ahead of their turn."""
        self.pieces.rows[boxes] = 0

    def forget_ahead(self) -> None:
        """Forgets boxes that were split ahead of their turn, after a refinement everywhere."""
        live = self.live.rows & np.isfinite(self.rank.rows) & (self.pieces.rows == 0)
        self._frontier = np.flatnonzero(live)

    def split_ahead(self, box: int, most: int) -> None:
        """Splits a box and others with the best ranks, `most` in all, and finds what their pieces would be split by."""
        order = (
            np.argsort(-self.rank.rows[self._frontier], kind="stable") if most < len(self._frontier) else slice(None)
        )
        near = self._frontier[order][:most]
        boxes = near if box in near else np.append(near, box)
        self._frontier = np.setdiff1d(self._frontier, boxes, assume_unique=True)
        self.evaluate(self.split(boxes, Choices(*self.choice.rows[boxes].T)))

    def split_all(self) -> Iterator[int]:
        """Replaces groups by their pieces until none can be split by itself; yields how many boxes there are."""
        while len(self._frontier):
            boxes, self._frontier = self._frontier, self._frontier[:0]
            self.evaluate(self.split(boxes, Choices(*self.choice.rows[boxes].T)))
            yield len(self.start)
        self.done.rows[:] = self.pieces.rows > 0
        self.live.rows[:] = ~self.done.rows

    def split(self, numbers: IntArray, choices: Choices) -> IntArray:
        """Splits boxes; returns their pieces."""
        boxes = self.boxes(numbers)
        parts = self.rows.split(boxes, choices, self._blocks.shapes)
        known = len(self.start)
        self.choice.rows[numbers] = np.stack(choices, axis=1)
        self.first.rows[numbers] = known + np.searchsorted(parts.box, np.arange(len(numbers)))
        self.pieces.rows[numbers] = np.bincount(parts.box, minlength=len(numbers))
        self._add(parts.start, parts.stop, self._blocks_of(boxes, choices, parts), parts.part)
        made = np.arange(known, len(self.start))
        if self.omissions is not None:
            counts = self.rows.totals(self.boxes(made))
            handed = self.omissions.handed_down(counts, parts.box, self.spare.rows[numbers])
            self.aside.rows[made], self.spare.rows[made] = handed
        return made

    def _add(self, start: IntArray, stop: IntArray, blocks: IntArray, part: IntArray) -> None:
        for array, rows in ((self.start, start), (self.stop, stop), (self.blocks, blocks), (self.part, part)):
            array.add(len(start), rows)
        self.turn += [None] * len(start)
        self.rank.add(len(start), -np.inf)
        self.choice.add(len(start), NONE)
        self.first.add(len(start), NONE)
        zero = self.gain, self.cost, self.pieces, self.live, self.done, self.age, self.aside, self.spare, self.frugal
        for array in zero:
            array.add(len(start))

    def _blocks_of(self, boxes: Boxes, choices: Choices, parts: Parts) -> IntArray:
        """The blocks of pieces."""
        refined = boxes.blocks[np.arange(len(boxes.start)), choices.column]
        begins = self._blocks.lists(refined, choices.way, choices.cell)
        blocks = boxes.blocks[parts.box]
        made = self._blocks.members.rows[begins[parts.box] + parts.part]
        blocks[np.arange(len(blocks)), choices.column[parts.box]] = made
        return blocks

    def _valid(self, scan: Scan) -> BoolArray:
        """Which candidates leave pieces that all satisfy every requirement.

        A split by rows that only choose the masking must divide others too: nothing is named that only those hold.
        """
        valid = np.ones(len(scan.box), dtype=np.bool_)
        divides = np.zeros(len(scan.box), dtype=np.bool_)
        for pieces, owner in scan.judged():
            divides[owner] = True
            for level, section in self.levels:
                held = level.holds(level.of(pieces[:, section]))
                valid[owner[~held]] = False
        return valid & (divides | (scan.way == ALL)) if self.rows.learns else valid

    def _judged(self, scan: Scan, spare: IntArray) -> tuple[BoolArray, IntArray]:
        """Which candidates are valid, or affordable if records may be left out, and what they gain."""
        if self.omissions is None:
            return self._valid(scan), scan.gain
        judged = self.omissions.judged(scan)
        return judged.affordable(spare[scan.box]), judged.gain

    def _costs(self, rows: BoxRows, boxes: Boxes) -> Callable[[Scan], IntArray]:
        """What gains by the candidates of boxes are divided by: bits, or the anonymity that they lose."""
        if not self._goal.per_anonymity:
            return lambda scan: scan.bits
        return partial(anonymity_lost, self.levels, rows.totals(boxes), fine=self._goal.fine)

    def _best(self, rows: BoxRows, boxes: Boxes, spare: IntArray) -> Best:
        """The best valid candidate of each attribute in each box."""
        shape = len(boxes.start), len(self.attributes)
        rank, gain = np.full(shape, -np.inf), np.zeros(shape)
        way, cell, cost = (np.zeros(shape, dtype=np.int64) for _ in range(3))
        records = np.zeros(len(boxes.start), dtype=np.int64)
        costs = self._costs(rows, boxes)
        for scan, records, _ in rows.scan(boxes, self.by_box, self._blocks.shapes, pure_too=self._goal.pure_too):
            held, gain_left = self._judged(scan, spare)
            valid = np.flatnonzero(held)
            box, column = scan.box[valid], scan.column[valid]
            price = self._goal.price(scan.made[valid], records[box])
            each = costs(scan)[valid]
            found = Candidates(gain_left[valid], scan.bits[valid], each, price, records[box], self.attributes[column])
            gains, ranks = self._goal.weighed(found)
            if self.endless:
                ranks[ranks < 0] = -np.inf
            first = first_best(box * shape[1] + column, ranks, shape[0] * shape[1])
            first = first[first >= 0]
            at = box[first], column[first]
            rank[at], gain[at], cost[at] = ranks[first], gains[first], each[first]
            way[at], cell[at] = scan.way[valid[first]], scan.cell[valid[first]]
        return Best(rank, way, cell, gain, cost, records)

    def _look_ahead(self, numbers: IntArray, best: Best) -> IntArray:
        """The attribute by which to split each box.

        Of the best candidates of a few attributes, the one with the most to gain by it and by the next that pay.
        """
        order = np.argsort(-best.rank, axis=1, kind="stable")[:, :WIDTH]
        open_ = np.take_along_axis(best.rank, order, axis=1) >= 0
        large = best.records >= self.records / SHARE
        box, option = np.nonzero(open_ & (open_.sum(axis=1, keepdims=True) > 1) & large[:, None])
        winner = order[:, 0].copy()
        if len(box):
            column = order[box, option]
            choices, gain, cost = best.of(box, column)
            looked, options = np.unique(box, return_counts=True)
            more, then = self._next(numbers[looked], options, choices)
            both = self._goal.rank(gain + more, cost + then, best.records[box])
            first = first_best(box, both, len(numbers))
            chosen = first[first >= 0]
            winner[box[chosen]] = column[chosen]
        return winner

    def _next(self, numbers: IntArray, options: IntArray, choices: Choices) -> tuple[FloatArray, IntArray]:
        """What the pieces of boxes could gain next, for each option, and what that would cost."""
        rows, drawn = self.rows.drawn(self.boxes(numbers), SAMPLE, options)
        parts = rows.split(drawn, choices, self._blocks.shapes)
        pieces = Boxes(parts.start, parts.stop, self._blocks_of(drawn, choices, parts))
        gone, spare = np.zeros(len(parts.box), dtype=np.bool_), np.zeros(len(parts.box), dtype=np.int64)
        if self.omissions is not None:
            counts = rows.totals(pieces)
            gone, spare = self.omissions.handed_down(counts, parts.box, np.repeat(self.spare.rows[numbers], options))
        best = self._best(rows, pieces, spare)
        every = np.arange(len(parts.box))
        column = np.argmax(best.rank, axis=1)
        open_ = (best.rank[every, column] >= 0) & ~gone
        gain, cost = np.zeros(len(drawn.start)), np.zeros(len(drawn.start), dtype=np.int64)
        np.add.at(gain, parts.box[open_], best.gain[every, column][open_])
        np.add.at(cost, parts.box[open_], best.cost[every, column][open_])
        return gain, cost
