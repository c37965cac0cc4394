"""Numbers and dates in their order: the values of a range, and after them the kinds of missing values that are kept.

So every block of such an attribute is one interval of the scale, and the search splits it like any other.
"""

from __future__ import annotations

from dataclasses import dataclass

from unveil.arrays import IntArray
from unveil.masking.blocks import Block
from unveil.schema import AFTER_ALL, OR, Attribute, Range, Unit, interval_label, missing_number


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
