"""t-closeness: how far the sensitive values of a group are from those of the whole table."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, PrivateAttr

from unveil.arrays import FloatArray, IntArray
from unveil.errors import braced, named, quoted
from unveil.schema.attributes import number_text
from unveil.schema.keys import Number
from unveil.schema.requirements.kind import (
    ROUNDING,
    Bound,
    Domain,
    Level,
    OneLevel,
    Promise,
    Worst,
    figure,
)
from unveil.schema.requirements.shares import more


class TCloseness(OneLevel):
    """The sensitive values of every group are distributed like those of the whole table, up to a distance of t."""

    kind: Literal["t-closeness"] = "t-closeness"
    bounds: ClassVar = {"t": Bound("most", more)}
    sensitive: str
    t: Annotated[Number, Field(ge=0, le=1)]
    distance: Literal["equal", "ordered"] = "equal"
    _order: tuple[str, ...] | None = PrivateAttr(None)
    """For the ordered distance on a category: its values in order."""

    def takes(self) -> tuple[str, ...]:
        """The ordered distance works on numbers and dates too."""
        return ("category", "number", "date") if self.distance == "ordered" else ("category",)

    def resolved(self, domain: Domain) -> Self:
        """With the order of a category filled in."""
        if self.distance != "ordered" or not domain.category or not domain.held:
            return self
        filled = self.model_copy()
        filled._order = domain.held
        return filled

    def level(self, values: tuple[str, ...], total: IntArray) -> Level:
        """−D(P, Q): the distance of a group to the table, negated, over the values that the table holds.

        Anti-monotone because both distances are convex in P: that of a group is at most the mean distance of its
        pieces, weighted by their sizes, so one piece is at least as far.
        """
        held = np.flatnonzero(total)
        table = total[held] / total.sum()

        def negated_distances(counts: IntArray) -> FloatArray:
            apart = counts[:, held] / counts[:, held].sum(axis=1, keepdims=True) - table
            if self.distance == "ordered":
                ordered: FloatArray = -np.abs(np.cumsum(apart, axis=1)).sum(axis=1) / max(len(held) - 1, 1)
                return ordered
            equal: FloatArray = -np.abs(apart).sum(axis=1) / 2
            return equal

        return Level(negated_distances, -self.t - ROUNDING, lambda: "the distance of the fully masked table is 0")

    def break_sentence(self, worst: Worst) -> str:
        """Which group would be too far away."""
        return (
            f"in the group {worst.who}, {self.sensitive} would be {figure(worst.level)} away from the whole table; "
            f"t allows {number_text(self.t)}: {figure(worst.short)} too far"
        )

    def describe(self) -> dict[str, object]:
        """The entry of this requirement in a manifest, with the order that distances were measured in."""
        return {**super().describe(), "order": None if self._order is None else list(self._order)}

    def sentence(self) -> str:
        """The guarantee as a reader of the release gets it."""
        return (
            f"Among the records that share a combination of released values of {braced(self.quasi_identifier)}, "
            f"{quoted(self.sensitive)} is distributed as in the whole release up to a distance ({self.distance}) "
            f"of {number_text(self.t)}."
        )

    def promise(self) -> Promise:
        """How much a group may differ from everybody."""
        return Promise(
            kind=f"t-closeness, {self.distance} distance",
            headline=f"{self.sensitive}: a group looks like the whole table",
            promise=(
                f"Among the records that fit what somebody knows of a person's {named(self.quasi_identifier)}, "
                f"{self.sensitive} is distributed as in the whole release, up to a distance of {self.t:g} "
                "(0 is the same, 1 as different as can be)."
            ),
            cannot=f"find records that fit in which {self.sensitive} is farther than that from the whole release.",
            can=("learn what the whole table tells: a value that most people hold is likely for each of them.",),
        )

    def __str__(self) -> str:
        return (
            f"{number_text(self.t)}-closeness ({self.distance}) of {self.sensitive} on {braced(self.quasi_identifier)}"
        )
