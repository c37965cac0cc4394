"""What an engine must do. Engines are the only code that touches rows; everything above works on counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from unveil.arrays import BoolArray, IntArray
from unveil.masking import Block, Masking, Offer, Refinement
from unveil.release import ReleasedRows


class Pieces(NamedTuple):
    """The groups that candidate refinements would create.

    A piece counts its records: one number, or one per sensitive value if the requirement has any.
    """

    owner: IntArray
    """The candidate that each piece belongs to."""
    counts: IntArray
    """One row per piece."""


class Index(Protocol):
    """The groups of one requirement: the rows of its projection, partitioned by their masked values (TIPS)."""

    def totals(self) -> IntArray:
        """The counts of the group that holds every record."""
        ...

    def watch(self, offers: Sequence[Offer], alive: BoolArray) -> Iterator[Pieces]:
        """Counts the pieces of the first offers, on the single initial group."""
        ...

    def refine(
        self, refinement: Refinement, column: int, offers: Sequence[Offer], alive: BoolArray
    ) -> Iterator[Pieces]:
        """Performs a refinement and counts the pieces of the groups that it created.

        An index may skip the pieces of offers that disclose values, and count them in `recount`.

        Args:
            refinement: The winner.
            column: The position of its attribute in the table.
            offers: What the children could be refined into next.
            alive: Which candidates are still of interest.
        """
        ...

    def recount(self, offer: Offer, candidates: IntArray) -> Iterator[Pieces]:
        """Counts the pieces of candidates of an offer as the groups are now, unless they have all been counted."""
        ...


class Cells(NamedTuple):
    """The occupied cells of a product of cuts: which block of each attribute, and the records per class."""

    blocks: IntArray
    """One row per cell, one column per attribute."""
    counts: IntArray
    """One row per cell, one column per class."""


class Engine(Protocol):
    """Counts of a table."""

    def histograms(self) -> tuple[IntArray, ...]:
        """The `[value, class]` counts of every attribute: all that gains and splits need."""
        ...

    def index(self, columns: Sequence[int], sensitive: int | None = None) -> Index:
        """The partition index over these attributes, and over the values of a sensitive one if given."""
        ...

    def cells(self, cuts: Sequence[Sequence[Block]]) -> Cells:
        """The occupied cells of the product of the cuts of all attributes."""
        ...

    def released(self, masking: Masking, weight: str | None) -> ReleasedRows:
        """The masked rows, sorted by their values; with a weight column, equal rows are merged."""
        ...
