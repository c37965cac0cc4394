"""Blocks and refinements: what a masked value is, and how it is refined."""

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
    """For an interval: `[lo, hi)` on the scale of its attribute, where missing values come after all numbers."""
    numbers: tuple[float, float] | None = None
    """For an interval: the numbers that it holds, as a release shows them; None if it holds missing values only."""
    missing: tuple[str, ...] = ()
    """The kinds of missing values that an interval holds."""

    @property
    def first(self) -> int:
        """The position of the block in domain order."""
        return int(self.codes[0]) if len(self.codes) else -1


class Rest(Block):
    """What stays suppressed after a disclosure. Its codes are computed on demand.

    A search creates one with every disclosure and rarely reads it: a copy each time would take time for all values.
    """

    def __init__(self, label: str, disclosed: IntArray, moment: int) -> None:
        """What is not disclosed at one moment.

        Args:
            label: The label of what is suppressed.
            disclosed: The moment at which each code is disclosed, later than any moment if not yet. Entries for later
                moments may be filled in, but past ones must not change.
            moment: How many values are disclosed so far.
        """
        object.__setattr__(self, "label", label)
        object.__setattr__(self, "bounds", None)
        object.__setattr__(self, "numbers", None)
        object.__setattr__(self, "missing", ())
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
    """The position of the attribute in the table."""
    attribute: Attribute
    block: Block
    parts: tuple[Block, ...]
    discloses: bool
    first: int

    @property
    def candidates(self) -> int:
        """The number of ways to refine the block."""
        return len(self.parts) if self.discloses else 1

    @cached_property
    def codes(self) -> IntArray:
        """For an offer that discloses values, their codes."""
        return np.array([part.first for part in self.parts])

    def alive(self, candidates: BoolArray) -> bool:
        """Whether one of its candidates is still of interest."""
        return bool(candidates[self.first : self.first + self.candidates].any())
