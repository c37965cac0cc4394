"""ℓ-diversity: how many sensitive values a group holds, counted, or well represented as measured by entropy."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from unveil.arrays import FloatArray, IntArray
from unveil.errors import SpecError, braced, count_text, named, quoted
from unveil.schema.attributes import number_text
from unveil.schema.keys import Number
from unveil.schema.requirements.kind import DECIMALS, ROUNDING, Bound, Level, OneLevel, Promise, Worst, figure


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
