"""β-likeness (Cao and Karras, VLDB 2012): how much likelier a group makes a sensitive value than the whole table."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from unveil.arrays import FloatArray, IntArray
from unveil.errors import braced, named, quoted
from unveil.schema.attributes import number_text
from unveil.schema.keys import Number
from unveil.schema.requirements.kind import ROUNDING, Bound, Level, OneLevel, Promise, Worst, figure


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
                f"Among the records that fit what somebody knows of a person's {known}, every value of "
                f"{self.sensitive} is at most {times} times as frequent as in the whole release, rare values too."
            ),
            cannot=f"find records that fit in which a value of {self.sensitive} is more frequent than that.",
            can=("rule a value out: a group in which nobody holds it says so.",),
        )

    def __str__(self) -> str:
        return f"{number_text(self.beta)}-likeness of {self.sensitive} on {braced(self.quasi_identifier)}"
