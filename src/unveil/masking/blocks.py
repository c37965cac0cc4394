"""Blocks and refinements: what a masked value is, and how it gets less masked."""

from __future__ import annotations

from dataclasses import dataclass

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

    def alive(self, candidates: BoolArray) -> bool:
        """Whether one of its candidates is still of interest."""
        return bool(candidates[self.first : self.first + self.candidates].any())
