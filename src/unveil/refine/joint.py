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
from typing import NamedTuple

import numpy as np

from unveil.arrays import IntArray
from unveil.counting.scans import ALL
from unveil.masking import Block
from unveil.refine.blocks import Blocks
from unveil.refine.boxes import Partition, Turn
from unveil.refine.cuts import Cuts, Refined
from unveil.refine.goals import ClassInformation
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
    """By how many bits over the records it tells the records of a group apart."""
    score: float
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

    def __init__(
        self,
        blocks: Blocks,
        partitions: Sequence[Partition],
        goal: ClassInformation,
        spare: int = 0,
    ) -> None:
        """Finds the first candidates.

        Args:
            blocks: The blocks of all masked attributes.
            partitions: The boxes of each set of attributes with requirements.
            goal: What a refinement is worth.
            spare: How many records may be left out; only if there is one partition.
        """
        self.blocks, self.partitions, self._fine = blocks, partitions, goal.fine
        self._spare = spare
        everywhere = {a for p in partitions for a in p.attributes[~p.by_box].tolist()}
        self._cut: dict[int, list[int]] = {attribute: [blocks.roots[attribute]] for attribute in sorted(everywhere)}
        self._keep()
        if spare:
            partitions[0].leave_out(spare)
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
                yield self._split(own)
            elif shared is not None:
                yield self._refine(shared)
            else:
                return

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

    def _next_box(self) -> Waiting | None:
        """The next box to be split by itself; boxes that were refined with all others wait no longer."""
        while self._waiting and not self.partitions[self._waiting[0].partition].live.rows[self._waiting[0].box]:
            heapq.heappop(self._waiting)
        return self._waiting[0] if self._waiting else None

    def _enter(self, number: int, boxes: Sequence[int]) -> None:
        """Lets boxes wait for their turn."""
        partition = self.partitions[number]
        ages = range(self._entered, self._entered + len(boxes))
        self._entered += len(boxes)
        partition.age.rows[boxes] = ages
        for age, box in zip(ages, boxes, strict=True):
            turn = partition.turn[box]
            if turn is not None:
                heapq.heappush(self._waiting, Waiting(turn, age, number, box))

    def _split(self, own: Waiting) -> JointStep:
        """Splits a box by itself."""
        number, box = own.partition, own.box
        partition = self.partitions[number]
        if not partition.pieces.rows[box]:
            # Twice as many each time: a refinement everywhere would make it useless, and is less and less likely.
            partition.split_ahead(box, self._ahead)
            self._ahead *= 2
        self._cuts.count(number, [box], -1)
        made = partition.perform([box])
        self._cuts.count(number, made, 1)
        self._enter(number, made)
        refined = int(partition.blocks.rows[box, partition.choice.rows[box, 0]])
        weighed = float(partition.gain.rows[box]), partition.bits.rows[box] / self._fine, -own.turn.minus_rank
        return self._step(refined, self.into(number, box), weighed, partition.labels(box))

    def _refine(self, shared: Refined) -> JointStep:
        """Refines a block in all boxes that hold it."""
        made = []
        for number, partition in enumerate(self.partitions):
            self._cuts.count(number, partition.holding(shared.turn.attribute, shared.block), -1)
            pieces = partition.refine(shared.turn.attribute, shared.block, shared.way, shared.cell)
            partition.forget_ahead()
            made.append((number, pieces))
        if self._cuts.spare:
            self._cuts.spend(self._cuts.spare - (self._spare - int(self.partitions[0].left_out[0])))
        into = self._replace(shared, made)
        for number, boxes in made:
            self._cuts.count(number, boxes, 1)
            self.partitions[number].evaluate(boxes)
            self._enter(number, boxes.tolist())
        self._ahead = 1
        return self._step(shared.block, into, (shared.gain, shared.bits, -shared.turn.minus_rank), None)

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
