"""Blocks and refinements: what a masked value is, and how it gets less masked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unveil.arrays import BoolArray, IntArray
from unveil.schema import Attribute


@dataclass(frozen=True, eq=False)
class Block:
    """A masked value: raw values of one attribute that the release does not tell apart."""

    label: str
    codes: IntArray
    """The raw values, as codes in domain order."""
    bounds: tuple[float, float] | None = None
    """For an interval: `[lo, hi)`."""

    @property
    def first(self) -> int:
        """Where the block stands in the order of the domain."""
        return int(self.codes[0]) if len(self.codes) else -1


class Rest(Block):
    """What stays suppressed after a disclosure. Its codes are looked up when they are asked for.

    A search makes one with every disclosure, and hardly ever asks: a copy each time would take as long as all values.
    """

    def __init__(self, label: str, disclosed: IntArray, moment: int) -> None:
        """What is not disclosed at a moment.

        Args:
            label: The label of what is suppressed.
            disclosed: For every code when it is disclosed, later than any moment if not yet. It may be filled in
                for later moments, but not changed for those that have passed.
            moment: How many values are disclosed.
        """
        object.__setattr__(self, "label", label)
        object.__setattr__(self, "bounds", None)
        object.__setattr__(self, "_disclosed", disclosed)
        object.__setattr__(self, "_moment", moment)

    @cached_property
    def codes(self) -> IntArray:
        """The raw values, as codes in domain order."""
        return np.flatnonzero(self._disclosed > self._moment)

    _disclosed: IntArray
    _moment: int


@dataclass(frozen=True, eq=False)
class Refinement:
    """A block and the blocks that take its place. They partition it."""

    attribute: Attribute
    block: Block
    children: tuple[Block, ...]


@dataclass(frozen=True, eq=False)
class Offer:
    """What a block could be refined into: all its parts at once, or one part disclosed and the rest kept.

    Each way to refine it is a candidate. They are numbered from `first`: one candidate, or one per part.
    """

    column: int
    """The place of the attribute in the table."""
    attribute: Attribute
    block: Block
    parts: tuple[Block, ...]
    discloses: bool
    first: int

    @property
    def candidates(self) -> int:
        """How many ways there are to refine the block."""
        return len(self.parts) if self.discloses else 1

    @cached_property
    def codes(self) -> IntArray:
        """For an offer that discloses values, their codes."""
        return np.array([part.first for part in self.parts])

    def alive(self, candidates: BoolArray) -> bool:
        """Whether one of its candidates is still of interest."""
        return bool(candidates[self.first : self.first + self.candidates].any())
