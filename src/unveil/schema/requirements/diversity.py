"""Requirements about how the sensitive values of a group are spread: ℓ-diversity, t-closeness, β-likeness.

ℓ-diversity is about the values that a group holds, counted, or well represented as measured by entropy; t-closeness and
β-likeness (Cao and Karras, VLDB 2012) about how far a group is from the whole table.
"""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, PrivateAttr

from unveil.arrays import FloatArray, IntArray
from unveil.errors import SpecError, braced, count_text, named, quoted
from unveil.schema.attributes import number_text
from unveil.schema.keys import Number
from unveil.schema.requirements.kind import DECIMALS, ROUNDING, Bound, Domain, Level, OneLevel, Promise, Worst, figure
from unveil.schema.requirements.shares import more


def less_diverse(least: float) -> dict[float, str]:
    """One value less, or half the way to 1, which would ask for nothing."""
    if least - 1 > 1:
        return {least - 1: ""}
    if least <= 1:
        return {}
    return {round((1 + least) / 2, DECIMALS): "halfway to requiring nothing"}


def distinct_values(counts: IntArray) -> FloatArray:
    """How many different values each group holds."""
    values: FloatArray = np.count_nonzero(counts, axis=1).astype(np.float64)
    return values


def entropies(counts: IntArray) -> FloatArray:
    """−Σ p ln p of each group."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy: FloatArray = -(shares * logs).sum(axis=1)
    return entropy


class LDiversity(OneLevel):
    """Every group holds at least ℓ sensitive values, counted, or well represented as measured by entropy."""

    kind: Literal["l-diversity"] = "l-diversity"
    bounds: ClassVar = {"l": Bound("least", less_diverse)}
    sensitive: str
    l: Annotated[Number, Field(ge=1)]  # noqa: E741 - the name of the model
    variant: Literal["distinct", "entropy"] = "distinct"

    @property
    def _counted(self) -> str:
        return "different values" if self.variant == "distinct" else "well represented values (entropy)"

    def check(self, place: str) -> None:
        """Refuses a fraction of a value that is counted."""
        if self.variant == "distinct" and self.l % 1:
            raise SpecError(f"{place} l is {self.l}, but distinct values are counted in whole numbers.")

    def steps(self) -> dict[str, dict[float, str]]:
        """Distinct values are counted in whole numbers."""
        return {
            key: {after: note for after, note in steps.items() if self.variant == "entropy" or after % 1 == 0}
            for key, steps in super().steps().items()
        }

    def level(self, values: tuple[str, ...], total: IntArray) -> Level:
        """The number of different values, or their entropy.

        Anti-monotone because a piece holds no value that the group does not hold; and because entropy is concave: that
        of a group is at least the mean entropy of its pieces, weighted by their sizes, so one piece has no more.
        """
        if self.variant == "distinct":
            held = count_text(int(np.count_nonzero(total)), "different value")
            return Level(distinct_values, self.l, lambda: f"the table holds {held}")

        def shortfall() -> str:
            return f"the whole table is only {math.exp(entropies(total[None, :])[0]):.2f}-diverse"

        return Level(entropies, math.log(self.l) - ROUNDING, shortfall)

    def in_unit(self, level: float) -> float:
        """Values; an entropy is that of so many equally frequent ones."""
        return int(level) if self.variant == "distinct" else math.exp(level)

    def break_sentence(self, worst: Worst) -> str:
        """Which group would hold too few values."""
        return (
            f"the group {worst.who} would have {figure(worst.level)} {self._counted} of {self.sensitive}; "
            f"l asks for {number_text(self.l)}: {figure(worst.short)} short"
        )

    def describe(self) -> dict[str, object]:
        """The entry of this requirement in a manifest; a whole ℓ is a whole number."""
        return {**super().describe(), "l": int(self.l) if self.l == int(self.l) else self.l}

    def sentence(self) -> str:
        """The guarantee as a reader of the release gets it."""
        return (
            f"The records that share a combination of released values of {braced(self.quasi_identifier)} "
            f"hold at least {number_text(self.l)} {self._counted} of {quoted(self.sensitive)}."
        )

    def promise(self) -> Promise:
        """How many values a group holds."""
        spread = " (measured by their entropy)" if self.variant == "entropy" else ""
        return Promise(
            kind=f"ℓ-diversity, {self.variant}",
            headline=f"{self.sensitive}: at least {self.l:g} values in every group",
            promise=(
                f"Among the records that match what somebody knows about a person's {named(self.quasi_identifier)}, "
                f"{self.sensitive} takes at least {self.l:g} different values{spread}."
            ),
            cannot=f"find matching records with fewer than {self.l:g} values of {self.sensitive}{spread}.",
            can=(
                "find one value much likelier than the others.",
                "draw conclusions where the possible values mean much the same.",
            ),
        )

    def __str__(self) -> str:
        return f"{self.variant} {number_text(self.l)}-diversity of {self.sensitive} on {braced(self.quasi_identifier)}"


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
                f"Among the records that match what somebody knows about a person's {named(self.quasi_identifier)}, "
                f"{self.sensitive} is distributed as in the whole release, up to a distance of {self.t:g} "
                "(0 is the same, 1 as different as can be)."
            ),
            cannot=f"find matching records in which {self.sensitive} is farther than that from the whole release.",
            can=("learn what the whole table shows: a value that most people hold is likely for each of them.",),
        )

    def __str__(self) -> str:
        return (
            f"{number_text(self.t)}-closeness ({self.distance}) of {self.sensitive} on {braced(self.quasi_identifier)}"
        )


class BetaLikeness(OneLevel):
    """In every group, the share of each sensitive value is at most 1 + β times its share in the whole table."""

    kind: Literal["beta-likeness"] = "beta-likeness"
    bounds: ClassVar = {"beta": Bound("most", lambda beta: {2 * beta: "twice as much"}, symbol="β")}
    sensitive: str
    beta: Annotated[Number, Field(gt=0, allow_inf_nan=False)]

    def level(self, values: tuple[str, ...], total: IntArray) -> Level:
        """−max (q − p) / p over the values, where p is the share in the table and q in a group.

        Anti-monotone because q of a group is the mean of q of its pieces, weighted by their sizes: the piece with the
        largest share of the value that is worst in the group is at least as far above the table.
        """
        held = np.flatnonzero(total)
        table = total[held] / total.sum()

        def negated_gains(counts: IntArray) -> FloatArray:
            shares = counts[:, held] / counts[:, held].sum(axis=1, keepdims=True)
            gains: FloatArray = -(shares / table - 1).max(axis=1)
            return gains

        return Level(negated_gains, -self.beta - ROUNDING, lambda: "the gain of the fully masked table is 0")

    def break_sentence(self, worst: Worst) -> str:
        """In which group a value would be too much likelier."""
        return (
            f"in the group {worst.who}, a value of {self.sensitive} would be {figure(1 + worst.level)} times as "
            f"frequent as in the whole table; β allows {figure(1 + self.beta)} times"
        )

    def sentence(self) -> str:
        """The guarantee as a reader of the release gets it."""
        return (
            f"Among the records that share a combination of released values of {braced(self.quasi_identifier)}, the "
            f"share of every value of {quoted(self.sensitive)} is at most 1 + {number_text(self.beta)} times its share "
            "in the whole release."
        )

    def promise(self) -> Promise:
        """How much likelier a group makes a value."""
        known, times = named(self.quasi_identifier), figure(1 + self.beta)
        return Promise(
            kind="β-likeness",
            headline=f"{self.sensitive}: at most {times} times as frequent in a group",
            promise=(
                f"Among the records that match what somebody knows about a person's {known}, every value of "
                f"{self.sensitive} is at most {times} times as frequent as in the whole release, rare values too."
            ),
            cannot=f"find matching records in which a value of {self.sensitive} is more frequent than that.",
            can=("rule a value out: a group in which nobody holds it says so.",),
        )

    def __str__(self) -> str:
        return f"{number_text(self.beta)}-likeness of {self.sensitive} on {braced(self.quasi_identifier)}"
