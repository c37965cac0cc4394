"""Blocks of values, and the three masking operations as trees over them: generalize, suppress, discretize.

A tree starts from one block and says into which parts a block can be refined. Taxonomy labels and intervals are refined
into all their parts at once; suppressed values are disclosed one at a time, and the rest stays `⊥`. The scale of a
number has the kinds of missing values that are kept after all its values, so every block is one interval of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unveil.arrays import BoolArray, IntArray, NumberArray
from unveil.errors import BrokenPromiseError
from unveil.schema import (
    AFTER_ALL,
    OR,
    SUPPRESSED,
    Attribute,
    Node,
    Range,
    Taxonomy,
    Unit,
    interval_label,
    missing_number,
)


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
        """What is not disclosed at one moment: after this many values are disclosed.

        `disclosed` has the moment at which each code is disclosed, later than any moment if not yet. Entries for later
        moments may be filled in, but past ones must not change.
        """
        object.__setattr__(self, "label", label)
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


@dataclass(frozen=True)
class Scale:
    """A range `[lo, hi)` and what comes after it."""

    lo: float
    hi: float
    unit: Unit = "number"
    missing: tuple[str, ...] = ()
    """The labels of the kinds of missing values."""

    @classmethod
    def of(cls, attribute: Attribute, bounds: Range) -> Scale:
        """The scale of an attribute with this range."""
        return cls(*bounds, attribute.unit, attribute.missing.labels)

    @property
    def end(self) -> float:
        """Where the scale ends: after the last kind, or where the range does."""
        return missing_number(len(self.missing)) if self.missing else self.hi

    def kinds(self, lo: float, hi: float) -> tuple[str, ...]:
        """The kinds of missing values in `[lo, hi)`."""
        return tuple(label for kind, label in enumerate(self.missing) if lo <= missing_number(kind) < hi)

    def numbers(self, lo: float, hi: float) -> Range | None:
        """The part of the range in `[lo, hi)`."""
        return None if lo >= AFTER_ALL else (lo, self.hi if hi >= AFTER_ALL else hi)

    def span(self, numbers: Range | None, kinds: tuple[str, ...]) -> Range:
        """Where a block begins and ends that has these numbers and kinds."""
        places = [self.missing.index(kind) for kind in kinds]
        lo = missing_number(places[0]) if numbers is None else numbers[0]
        return lo, missing_number(places[-1] + 1) if numbers is None or places else numbers[1]

    def label(self, lo: float, hi: float) -> str:
        """What a release shows for `[lo, hi)`: an interval, kinds of missing values, or both."""
        numbers = self.numbers(lo, hi)
        shown = () if numbers is None else (interval_label(*numbers, self.unit),)
        return OR.join((*shown, *self.kinds(lo, hi)))

    def block(self, lo: float, hi: float, codes: IntArray) -> Block:
        """A block of the scale."""
        return Block(self.label(lo, hi), codes, (lo, hi), self.numbers(lo, hi), self.kinds(lo, hi))


Splitter = Callable[[Block], float | None]
"""The value at which to split an interval, or None if it cannot be split."""


class Generalize:
    """Refinement for generalization: `v → child(v)` in the owner's taxonomy."""

    discloses = False
    """Whether parts are disclosed one at a time."""

    def __init__(self, attribute: Attribute, taxonomy: Taxonomy) -> None:
        self.attribute = attribute
        self._taxonomy = taxonomy

    def root(self) -> Block:
        """The top most value."""
        return self._block(self._taxonomy.root)

    def parts(self, block: Block) -> tuple[Block, ...]:
        """The child values."""
        return tuple(self._block(child) for child in self._taxonomy.node(block.label).children)

    def _block(self, node: Node) -> Block:
        return Block(node.label, np.arange(node.lo, node.hi))


class Suppress:
    """Refinement for suppression: `⊥ → {v, ⊥}` discloses one value. A value that no record holds stays hidden."""

    discloses = True

    def __init__(self, attribute: Attribute, values: tuple[str, ...], held: BoolArray) -> None:
        self.attribute = attribute
        self._values = values
        self._held = held

    def root(self) -> Block:
        """All values suppressed."""
        return Block(SUPPRESSED, np.arange(len(self._values)))

    def parts(self, block: Block) -> tuple[Block, ...]:
        """The hidden values that can be disclosed."""
        if block.label != SUPPRESSED:
            return ()
        codes = block.codes[self._held[block.codes]]
        return tuple(Block(self._values[code], np.array([code])) for code in codes)


class Flat(Suppress):
    """A category without a taxonomy whose values are all disclosed at once, held or not: `⊥ → {each value}`."""

    discloses = False

    def __init__(self, attribute: Attribute, values: tuple[str, ...]) -> None:
        super().__init__(attribute, values, np.ones(len(values), dtype=np.bool_))


class Discretize:
    """Refinement for discretization: the tree of intervals grows as the splitter finds the splits."""

    discloses = False

    def __init__(self, attribute: Attribute, scale: Scale, values: NumberArray, split: Splitter) -> None:
        self.attribute = attribute
        self._scale = scale
        self._values = values
        self._split = split

    def root(self) -> Block:
        """The interval that covers the full range, and what is missing."""
        return self._interval((self._scale.lo, self._scale.end), np.arange(len(self._values)))

    def parts(self, block: Block) -> tuple[Block, ...]:
        """The two halves of the best split."""
        value = self._split(block)
        if value is None or block.bounds is None:
            return ()
        lo, hi = block.bounds
        below = self._values[block.codes] < value
        return self._interval((lo, value), block.codes[below]), self._interval((value, hi), block.codes[~below])

    def _interval(self, bounds: tuple[float, float], codes: IntArray) -> Block:
        block = self._scale.block(*bounds, codes)
        if len(codes) and not (bounds[0] <= self._values[codes[0]] and self._values[codes[-1]] < bounds[1]):
            raise BrokenPromiseError(f"a value of {self.attribute.name!r} lies outside its interval {block.label}.")
        return block


Tree = Generalize | Suppress | Discretize
"""How one attribute is masked: its root masks every value, and a block without parts cannot be refined."""
