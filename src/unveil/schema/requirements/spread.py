"""(k, e)-anonymity (Zhang, Koudas, Srivastava and Yu, ICDE 2007): how far apart the numbers of a group are."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from unveil.arrays import FloatArray, IntArray
from unveil.errors import braced, named, quoted
from unveil.schema.attributes import number_text
from unveil.schema.keys import Number, Size
from unveil.schema.requirements.kind import Bound, Level, OneLevel, Promise, Worst, figure
from unveil.schema.requirements.sizes import LEAST_SIZE


class KEAnonymity(OneLevel):
    """Every group holds at least k different sensitive numbers, and they span at least e."""

    kind: Literal["k-e-anonymity"] = "k-e-anonymity"
    bounds: ClassVar = {"e": Bound("least", lambda e: {e / 2: "half of it"}), "k": LEAST_SIZE}
    k: Size
    sensitive: str
    e: Annotated[Number, Field(gt=0, allow_inf_nan=False)]

    def takes(self) -> tuple[str, ...]:
        """Only numbers span something."""
        return ("number",)

    def level(self, values: tuple[str, ...], total: IntArray) -> Level:
        """The largest sensitive number of a group less the smallest; below 0 by what it lacks of k different ones.

        Anti-monotone because a piece holds no number that the group does not hold: it has at most as many, and they
        span at most as much.
        """
        exact = [Fraction(value) for value in values]

        def spans(counts: IntArray) -> FloatArray:
            held = counts > 0
            lowest, highest = held.argmax(axis=1), len(exact) - 1 - held[:, ::-1].argmax(axis=1)
            pairs, place = np.unique(lowest * len(exact) + highest, return_inverse=True)
            ends = [divmod(pair, len(exact)) for pair in pairs.tolist()]
            # The float nearest to an exact difference: 0.3 - 0.1 is 0.2, as the spec writes it.
            span = np.array([float(exact[last] - exact[first]) for first, last in ends])[place]
            lacking = np.minimum(held.sum(axis=1) - self.k, 0)
            return np.where(lacking < 0, lacking, span).astype(np.float64)

        return Level(spans, self.e, lambda: f"the whole table has {self._has(float(spans(total[None, :])[0]))}")

    def _has(self, level: float) -> str:
        return f"a span of {figure(level)}" if level >= 0 else f"{self.k + int(level):,} different values"

    def break_sentence(self, worst: Worst) -> str:
        """In which group the numbers would be too few or too close."""
        asked = f"{self.k:,} different values and a span of {number_text(self.e)}"
        return f"the group {worst.who} would have {self._has(worst.level)} of {self.sensitive}; asked for are {asked}"

    def sentence(self) -> str:
        """The guarantee as a reader of the release gets it."""
        return (
            f"The records that share a combination of released values of {braced(self.quasi_identifier)} hold at least "
            f"{self.k:,} different values of {quoted(self.sensitive)}, and these span at least {number_text(self.e)}."
        )

    def promise(self) -> Promise:
        """How close a reader gets to a number."""
        known, e = named(self.quasi_identifier), number_text(self.e)
        return Promise(
            kind="(k, e)-anonymity",
            headline=f"{self.sensitive}: at least {self.k:,} numbers, {e} apart",
            promise=(
                f"Among the records that fit what somebody knows of a person's {known}, {self.sensitive} takes at "
                f"least {self.k:,} different values, and the largest is at least {e} above the smallest."
            ),
            cannot=f"find records that fit with {self.sensitive} in a narrower range, or with fewer values.",
            can=("find most of these values close together: only the smallest and the largest are kept apart.",),
        )

    def __str__(self) -> str:
        return f"({self.k:,}, {number_text(self.e)})-anonymity of {self.sensitive} on {braced(self.quasi_identifier)}"
