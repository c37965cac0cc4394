"""The joint search: refines by what the groups gain together, box by box or everywhere.

Every set of attributes with requirements has a partition: a tree of boxes, with one block per attribute each. If the
owner asks for it, an attribute in one partition only is refined box by box. All others are refined everywhere: in all
boxes that hold the block, in all partitions at once.

What a box would be split by depends on its own rows alone. So boxes are split ahead of their turn, many at a time;
their turn comes in the order of their ranks.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from unveil.arrays import IntArray
from unveil.counting.scans import ALL
from unveil.masking import Block
from unveil.refine.blocks import Blocks
from unveil.refine.boxes import Partition
from unveil.refine.gains import Goal
from unveil.refine.partitions import Cuts, Memberships, Refined
from unveil.refine.ranking import Turn
from unveil.schema import Attribute


@dataclass(frozen=True)
class JointStep:
    """A refinement that was performed."""

    attribute: Attribute
    refined: str
    into: tuple[str, ...]
    gain: float
    """What it adds to the information of the groups about the class, in bits over the records."""
    loss: float
    """By how many bits it distinguishes the records of its groups, or the share of their anonymity lost."""
    score: float
    """Its rank; below 0 if it does not pay and was made because its labels are finer."""
    group: dict[str, str] | None
    """The labels of the group that was refined by itself; None if all groups with the block were."""


class Waiting(NamedTuple):
    """A box that waits to be split. Of those with the same turn, the oldest is next."""

    turn: Turn
    age: int
    partition: int
    box: int


class JointSearch:
    """Top-down refinement of a fully masked table. Stopping early leaves a valid table."""

    def __init__(self, blocks: Blocks, partitions: Sequence[Partition], goal: Goal, spare: int = 0) -> None:
        """Finds the first candidates.

        If `spare` records, or persons, may be left out, several partitions must share their rows, by number.
        """
        self.blocks, self.partitions, self._fine = blocks, partitions, goal.fine
        self._spare = spare
        everywhere = {a for p in partitions for a in p.attributes[~p.by_box].tolist()}
        self._cut: dict[int, list[int]] = {attribute: [blocks.roots[attribute]] for attribute in sorted(everywhere)}
        self._replaced: dict[int, list[int]] = {}
        self._keep()
        for partition in partitions if spare else ():
            partition.leave_out(spare)
        self._memberships = Memberships(partitions) if spare and len(partitions) > 1 else None
        self._cuts = Cuts(partitions, self._cut, blocks, goal, spare)
        self._waiting: list[Waiting] = []
        self._ahead = 1
        self._entered = 0
        for number, partition in enumerate(partitions):
            groups = self._in_order(partition)
            partition.evaluate(groups)
            self._enter(number, groups.tolist())

    @property
    def cuts(self) -> list[tuple[Attribute, list[Block]]]:
        """The blocks of each attribute that is refined everywhere."""
        return [
            (self.blocks.hierarchies[place].attribute, [self.blocks.block(block) for block in cut])
            for place, cut in self._cut.items()
        ]

    @property
    def local(self) -> bool:
        """Whether some attribute is refined box by box."""
        return any(partition.by_box.any() for partition in self.partitions)

    @property
    def valid(self) -> bool:
        """Whether every group satisfies every requirement."""
        return all(partition.valid for partition in self.partitions)

    def cut_blocks(self, attribute: int) -> list[int]:
        """The numbers of the blocks of an attribute that is refined everywhere."""
        return self._cut[attribute]

    def steps(self) -> Iterator[JointStep]:
        """Refines until nothing valid and beneficial is left."""
        while True:
            shared = self._cuts.best()
            own = self._next_box()
            if own is not None and (shared is None or own.turn < shared.turn):
                heapq.heappop(self._waiting)
                step = self._split(own)
            elif shared is not None:
                step = self._refine(shared)
            else:
                return
            if step is not None:
                yield step

    @property
    def independent(self) -> bool:
        """Whether each box is refined by itself and no record is left out: then the order of steps changes no group."""
        return not self._cut and not self._spare

    def finish(self) -> Iterator[int]:
        """Refines independent boxes until nothing is left, many at a time; yields how many there are.

        What `steps` would say about them, `history` says afterwards.
        """
        return chain.from_iterable(partition.split_all() for partition in self.partitions)

    def history(self) -> Iterator[JointStep]:
        """The steps of a finished search, in the order in which `steps` would have performed them."""
        while self._waiting:
            own = heapq.heappop(self._waiting)
            self._enter(own.partition, self.partitions[own.partition].pieces_of(own.box))
            yield self._described(own)

    def left_out(self, partition: int) -> IntArray:
        """How many records are left out, their counts by the sensitive values of a partition, and their persons."""
        held = self.partitions[partition]
        return (
            held.rows.total(held.omitted)
            if self._memberships is None
            else held.rows.totals(held.everything, ~self._memberships.out)[0]
        )

    def labels(self, partition: int, box: int) -> dict[str, str]:
        """The labels of a box, by attribute."""
        return self.partitions[partition].labels(box)

    def into(self, partition: int, box: int) -> list[int]:
        """The blocks that a box was split into, those without records too; the rest comes last."""
        held = self.partitions[partition]
        column, way, cell = held.choice.rows[box].tolist()
        block = int(held.blocks.rows[box, column])
        if way == ALL and self.blocks.hides(block):
            return [*held.blocks.rows[held.pieces_of(box), column].tolist(), block]
        return self.blocks.into(block, way, cell)

    def replaced_unseen(self, partition: int) -> dict[int, list[int]]:
        """The blocks that were replaced in their cuts although no box of a partition held them, and by which.

        What the owner keeps may lie where there are no records.
        """
        held = self.partitions[partition]
        done = np.flatnonzero(held.done.rows)
        split = set(held.blocks.rows[done, held.choice.rows[done, 0]].tolist())
        return {block: into for block, into in self._replaced.items() if block not in split and block not in into}

    def _keep(self) -> None:
        """Refines everything to what the owner keeps. Whether the requirements hold there, the caller must ask."""
        for attribute in range(len(self.blocks.roots)):
            for block, way, cell in self.blocks.kept(attribute):
                for partition in self.partitions:
                    partition.refine(attribute, block, way, cell)
                if attribute in self._cut:
                    self._put(attribute, block, self.blocks.into(block, way, cell))

    def _in_order(self, partition: Partition) -> IntArray:
        """The groups in the order of attributes and domains, what `⊥` hides last."""
        groups = np.flatnonzero(partition.live.rows)
        held, place = np.unique(partition.blocks.rows[groups], return_inverse=True)
        places = [(self.blocks.hides(block), self.blocks.place(block)) for block in held.tolist()]
        order = sorted(range(len(held)), key=lambda at: places[at])
        keys = np.argsort(np.array(order, dtype=np.int64))[place.reshape(len(groups), -1)]
        return groups[np.lexsort(keys.T[::-1])]

    def _put(self, attribute: int, block: int, into: Sequence[int]) -> None:
        """Replaces a block in its cut."""
        cut = self._cut[attribute]
        place = cut.index(block)
        cut[place : place + 1] = into
        self._replaced[block] = list(into)

    def _next_box(self) -> Waiting | None:
        """The next box to be split by itself; boxes that were refined with all others wait no longer."""
        while self._waiting:
            turn, _, number, box = self._waiting[0]
            partition = self.partitions[number]
            if partition.live.rows[box] and partition.turn[box] == turn:
                return self._waiting[0]
            heapq.heappop(self._waiting)
        return None

    def _enter(self, number: int, boxes: Sequence[int]) -> None:
        """Lets boxes wait for their turn."""
        partition = self.partitions[number]
        ages = range(self._entered, self._entered + len(boxes))
        self._entered += len(boxes)
        partition.age.rows[boxes] = ages
        for box in boxes:
            self._wait(number, box)

    def _wait(self, number: int, box: int) -> None:
        partition = self.partitions[number]
        turn = partition.turn[box]
        if turn is not None:
            heapq.heappush(self._waiting, Waiting(turn, int(partition.age.rows[box]), number, box))

    def _again(self, number: int, boxes: IntArray) -> None:
        """Finds again what groups would be split by."""
        partition = self.partitions[number]
        partition.unsplit(boxes)
        partition.evaluate(boxes)
        partition.forget_ahead()
        for box in boxes.tolist():
            self._wait(number, box)

    def _leave(self, groups: Sequence[IntArray]) -> bool:
        """Lets the rows that one partition leaves out leave all others, before groups are replaced by their pieces.

        The groups are split ahead of it. Says whether the rows may leave; if not, nothing has changed.
        """
        members = self._memberships
        if members is None:
            return True
        pieces = [partition.pieces_of_all(held) for partition, held in zip(self.partitions, groups, strict=True)]
        for number, made in enumerate(pieces):
            members.enter(number, made)
        leaving = members.leaving(pieces)
        if not len(leaving):
            return True
        if not members.leave(leaving, self._cuts.spare):
            for number, held in enumerate(groups):
                members.enter(number, held)
            return False
        for number, boxes in members.left_by(leaving):
            partition = self.partitions[number]
            known = boxes[partition.live.rows[boxes]]
            self._cuts.count(number, known, -1)
            partition.take_out(boxes, members.out)
            self._cuts.count(number, known, 1)
            self._again(number, known)
        return True

    def _split(self, own: Waiting) -> JointStep | None:
        """Splits a box by itself, unless another partition forbids it: then it waits for a split that costs nothing."""
        number, box = own.partition, own.box
        partition = self.partitions[number]
        if not partition.pieces.rows[box]:
            # Twice as many each time: a refinement everywhere would make it useless, and is less and less likely.
            partition.split_ahead(box, self._ahead)
            self._ahead *= 2
        only = np.array([box])
        if not self._leave([only if place == number else only[:0] for place in range(len(self.partitions))]):
            partition.frugal.rows[box] = True
            self._again(number, only)
            return None
        self._cuts.count(number, only, -1)
        made = partition.perform(only)
        self._spend()
        self._cuts.count(number, made, 1)
        self._enter(number, made.tolist())
        return self._described(own)

    def _described(self, own: Waiting) -> JointStep:
        """The step that split a box."""
        number, box = own.partition, own.box
        partition = self.partitions[number]
        refined = int(partition.blocks.rows[box, partition.choice.rows[box, 0]])
        weighed = float(partition.gain.rows[box]), partition.cost.rows[box] / self._fine, -own.turn.minus_rank
        return self._step(refined, self.into(number, box), weighed, partition.labels(box))

    def _refine(self, shared: Refined) -> JointStep | None:
        """Refines a block in all boxes that hold it, unless that breaks another partition."""
        attribute = shared.turn.attribute
        groups = [partition.holding(attribute, shared.block) for partition in self.partitions]
        choices = [partition.choice.rows[held] for partition, held in zip(self.partitions, groups, strict=True)]
        for partition, held in zip(self.partitions, groups, strict=True):
            if len(held):
                partition.split_alike(held, attribute, shared.way, shared.cell)
        if not self._leave(groups):
            for partition, held, choice in zip(self.partitions, groups, choices, strict=True):
                partition.choice.rows[held] = choice
                partition.unsplit(held)
                partition.forget_ahead()
            self._cuts.leave_out_nothing(shared.block)
            return None
        made = []
        for number, (partition, held) in enumerate(zip(self.partitions, groups, strict=True)):
            self._cuts.count(number, held, -1)
            made.append((number, partition.perform(held)))
            partition.forget_ahead()
        self._spend()
        into = self._replace(shared, made)
        for number, boxes in made:
            self._cuts.count(number, boxes, 1)
            self.partitions[number].evaluate(boxes)
            self._enter(number, boxes.tolist())
        self._ahead = 1
        return self._step(shared.block, into, (shared.gain, shared.cost, -shared.turn.minus_rank), None)

    def _spend(self) -> None:
        """Takes what was left out from what may be left out."""
        if self._cuts.spare:
            spent = self.partitions[0].spent if self._memberships is None else self._memberships.spent
            self._cuts.spend(self._cuts.spare - (self._spare - spent.total))

    def _replace(self, shared: Refined, made: Sequence[tuple[int, IntArray]]) -> list[int]:
        """Replaces a block in its cut; returns the blocks that take its place.

        Values that no group holds stay suppressed, also if records that are left out hold them.
        """
        into = self.blocks.into(shared.block, shared.way, shared.cell)
        if shared.way == ALL and self.blocks.hides(shared.block):
            held = {block for number, boxes in made for block in np.unique(self.partitions[number].blocks.rows[boxes])}
            into = [*(block for block in into if block in held), shared.block]
        self._cuts.refine(shared.block, into)
        self._put(shared.turn.attribute, shared.block, into)
        return into

    def _step(
        self, refined: int, into: list[int], weighed: tuple[float, float, float], group: dict[str, str] | None
    ) -> JointStep:
        labels = tuple(self.blocks.label(block) for block in into)
        return JointStep(self.blocks.attribute(refined), self.blocks.label(refined), labels, *weighed, group)
