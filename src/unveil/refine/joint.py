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

from unveil.arrays import BoolArray, IntArray
from unveil.counting.boxes import Choices
from unveil.counting.scans import ALL, SPLIT
from unveil.masking import Block
from unveil.refine.blocks import Blocks
from unveil.refine.boxes import Partition
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


class Turn(NamedTuple):
    """A box that waits to be split. Sorts by rank, then by attribute, domain, way and age."""

    minus_rank: float
    attribute: int
    place: int
    slot: int
    number: int
    partition: int
    box: int


class JointSearch:
    """Top-down refinement of a fully masked table. Stopping early leaves a valid table."""

    def __init__(
        self, blocks: Blocks, partitions: Sequence[Partition], held: Sequence[BoolArray], goal: ClassInformation
    ) -> None:
        """Finds the first candidates.

        Args:
            blocks: The blocks of all masked attributes.
            partitions: The boxes of each set of attributes with requirements.
            held: Which values of each masked attribute some record holds.
            goal: What a refinement is worth.
        """
        self.blocks, self.partitions, self._held, self._fine = blocks, partitions, held, goal.fine
        everywhere = {a for p in partitions for a in p.attributes[~p.by_box].tolist()}
        self._cut: dict[int, list[int]] = {attribute: [blocks.roots[attribute]] for attribute in sorted(everywhere)}
        self._keep()
        self._cuts = Cuts(partitions, self._cut, blocks, goal)
        self._turns: list[Turn] = []
        self._ahead = 1
        self._entered = 0
        for number, partition in enumerate(partitions):
            groups = self._in_order(partition)
            partition.evaluate(groups)
            self._enter(number, groups)

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
            turn = self._next_turn()
            if turn is not None and (shared is None or turn[:4] < shared[:4]):
                heapq.heappop(self._turns)
                yield self._split(turn)
            elif shared is not None:
                yield self._refine(shared)
            else:
                return

    def labels(self, partition: int, box: int) -> dict[str, str]:
        """The labels of a box, by attribute."""
        blocks = self.partitions[partition].blocks.rows[box].tolist()
        return {self.blocks.attribute(block).name: self.blocks.label(block) for block in blocks}

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

    def _next_turn(self) -> Turn | None:
        while self._turns and not self.partitions[self._turns[0].partition].live.rows[self._turns[0].box]:
            heapq.heappop(self._turns)
        return self._turns[0] if self._turns else None

    def _enter(self, number: int, boxes: IntArray) -> None:
        """Lets boxes wait for their turn."""
        partition = self.partitions[number]
        for box in boxes.tolist():
            self._entered += 1
            partition.age.rows[box] = self._entered
            rank = float(partition.rank.rows[box])
            if rank == -np.inf:
                continue
            column, way, cell = partition.choice.rows[box].tolist()
            block = int(partition.blocks.rows[box, column])
            slot = cell if way == SPLIT else 0 if way == ALL else cell + 1
            attribute, place = int(partition.attributes[column]), self.blocks.place(block)
            heapq.heappush(self._turns, Turn(-rank, attribute, place, slot, self._entered, number, box))

    def _split(self, turn: Turn) -> JointStep:
        """Splits a box by itself."""
        number, box = turn.partition, turn.box
        partition = self.partitions[number]
        if not partition.pieces.rows[box]:
            self._split_ahead(number, box)
        boxes = np.array([box])
        self._cuts.count(number, boxes, -1)
        made = partition.perform(boxes)
        self._cuts.count(number, made, 1)
        self._enter(number, made)
        refined = int(partition.blocks.rows[box, partition.choice.rows[box, 0]])
        weighed = float(partition.gain.rows[box]), partition.bits.rows[box] / self._fine, -turn.minus_rank
        return self._step(refined, self.into(number, box), weighed, self.labels(number, box))

    def _split_ahead(self, number: int, box: int) -> None:
        """Splits a box and others whose turn is near, twice as many each time, and finds the splits of their pieces."""
        partition = self.partitions[number]
        near = [turn.box for turn in self._turns[: self._ahead] if turn.partition == number]
        wanted = [box, *(near_box for near_box in near if not partition.pieces.rows[near_box])]
        boxes = np.array([box for box in wanted if partition.live.rows[box]])
        partition.evaluate(partition.split(boxes, Choices(*partition.choice.rows[boxes].T)))
        self._ahead *= 2

    def _refine(self, shared: Refined) -> JointStep:
        """Refines a block in all boxes that hold it."""
        made = []
        for number, partition in enumerate(self.partitions):
            self._cuts.count(number, partition.holding(shared.attribute, shared.block), -1)
            made.append((number, partition.refine(shared.attribute, shared.block, shared.way, shared.cell)))
        into = self._replace(shared)
        for number, boxes in made:
            self._cuts.count(number, boxes, 1)
            self.partitions[number].evaluate(boxes)
            self._enter(number, boxes)
        self._ahead = 1
        return self._step(shared.block, into, (shared.gain, shared.bits, -shared.minus_rank), None)

    def _replace(self, shared: Refined) -> list[int]:
        """Replaces a block in its cut; returns the blocks that take its place."""
        into = self.blocks.into(shared.block, shared.way, shared.cell)
        if shared.way == ALL and self.blocks.hides(shared.block):
            held = self._held[shared.attribute]
            into = [*(block for block in into if held[self.blocks.place(block)]), shared.block]
        self._cuts.refine(shared.block, into)
        self._put(shared.attribute, shared.block, into)
        return into

    def _step(
        self, refined: int, into: list[int], weighed: tuple[float, float, float], group: dict[str, str] | None
    ) -> JointStep:
        labels = tuple(self.blocks.label(block) for block in into)
        return JointStep(self.blocks.attribute(refined), self.blocks.label(refined), labels, *weighed, group)
