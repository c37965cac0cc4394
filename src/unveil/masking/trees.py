"""The three masking operations as trees: generalize, suppress, discretize.

A tree starts from one block and says into which parts a block can be refined. Taxonomy labels and intervals are refined
into all their parts at once; suppressed values are disclosed one at a time, and the rest stays `⊥`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from unveil.arrays import BoolArray, IntArray, NumberArray
from unveil.errors import BrokenPromiseError
from unveil.masking.blocks import Block
from unveil.masking.scales import Scale
from unveil.schema import SUPPRESSED, Attribute, Node, Taxonomy

Splitter = Callable[[Block], float | None]
"""The value at which to split an interval, or None if it cannot be split."""


class Tree(Protocol):
    """How one attribute is masked."""

    attribute: Attribute
    discloses: bool
    """Whether parts are disclosed one at a time."""

    def root(self) -> Block:
        """The block that masks every value."""
        ...

    def parts(self, block: Block) -> tuple[Block, ...]:
        """The parts into which the block can be refined; none if it cannot."""
        ...


class Generalize:
    """Refinement for generalization: `v → child(v)` in the owner's taxonomy."""

    discloses = False

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


class Flat:
    """A category without a taxonomy whose values are all disclosed at once: `⊥ → {each value}`."""

    discloses = False

    def __init__(self, attribute: Attribute, values: tuple[str, ...]) -> None:
        self.attribute = attribute
        self._values = values

    def root(self) -> Block:
        """Any value."""
        return Block(SUPPRESSED, np.arange(len(self._values)))

    def parts(self, block: Block) -> tuple[Block, ...]:
        """Every value on its own."""
        if block.label != SUPPRESSED:
            return ()
        return tuple(Block(value, np.array([code])) for code, value in enumerate(self._values))


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
