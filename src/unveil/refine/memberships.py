"""Rows that may be left out of several partitions: in which group of each a row is, and what others lose with it.

A row that is left out of one partition is left out of all. So a refinement may leave out rows only if every other group
that they are in keeps some, and still satisfies its requirements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from unveil.arrays import BoolArray, IntArray
from unveil.refine.boxes import NONE, Partition


class Memberships:
    """The groups of every row, by its number, in partitions that share their rows."""

    def __init__(self, partitions: Sequence[Partition]) -> None:
        """Notes the groups as they are."""
        self._partitions = partitions
        rows = len(partitions[0].rows)
        self._group: list[IntArray] = [np.full(rows, NONE) for _ in partitions]
        self._weight = partitions[0].rows.weights()
        self.out: BoolArray = np.zeros(rows, dtype=np.bool_)
        """The rows that are left out."""
        self.records = 0
        """How many records these represent."""
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
        records = int(self._weight[leaving].sum())
        if records > spare:
            return False
        self.out[leaving] = True
        valid = all(self._partitions[number].holds(boxes, self.out) for number, boxes in self.left_by(leaving))
        self.out[leaving] = valid
        self.records += records if valid else 0
        return valid
