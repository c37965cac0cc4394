"""Requirements about how much a group holds: records (k-anonymity), or numbers and how far apart they are.

The latter is (k, e)-anonymity: Zhang, Koudas, Srivastava and Yu, ICDE 2007.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from unveil.arrays import FloatArray, IntArray
from unveil.errors import braced, count_text, named, quoted
from unveil.schema.attributes import number_text
from unveil.schema.keys import Number, Size
from unveil.schema.requirements.kind import WHO, Bound, Level, OneLevel, Promise, Worst, figure

STEP = 5


def fewer(k: int) -> dict[float, str]:
    """The usual step and half of k; a k of 2 is the last that asks for anything."""
    if k <= 2:
        return {}
    wishes: dict[float, str] = {max(k - STEP, 2): "" if k - STEP >= 2 else "the last k that asks for anything"}
    if k // 2 >= 2:
        wishes.setdefault(k // 2, "half of it")
    return wishes


def group_sizes(counts: IntArray) -> FloatArray:
    """How many records each group has."""
    sizes: FloatArray = counts.sum(axis=1).astype(float)
    return sizes


LEAST_SIZE = Bound("least", fewer)


class KAnonymity(OneLevel):
    """TDR, Definition 1: every group on the quasi-identifier has at least k records, or records of k persons."""

    kind: Literal["k-anonymity"] = "k-anonymity"
    sensitive: ClassVar[None] = None
    bounds: ClassVar = {"k": LEAST_SIZE}
    sized: ClassVar = True
    k: Size

    def level(self, values: tuple[str, ...], total: IntArray) -> Level:
        """A(QID), the size of a group.

        Anti-monotone because every piece of a group is at most as large as the group, and has at most its persons.
        """
        return Level(group_sizes, self.k, lambda: f"it has {count_text(int(total.sum()), self.unit)}")

    def in_unit(self, level: float) -> float:
        """Records or persons."""
        return int(level)

    def break_sentence(self, worst: Worst) -> str:
        """Which group would be too small, and by how much."""
        size = count_text(int(worst.level), self.unit)
        return f"the group {worst.who} would have {size}; k asks for {self.k:,}: {int(worst.short):,} short"

    def sentence(self) -> str:
        """The guarantee as a reader of the release gets it."""
        return (
            f"Every combination of released values of {braced(self.quasi_identifier)} "
            f"is shared by at least {self.k:,} {self.unit}s."
        )

    def promise(self) -> Promise:
        """What a linkage attack finds."""
        return Promise(
            kind="k-anonymity",
            headline=f"At least {self.k:,} {self.unit}s look alike",
            promise=(
                f"{WHO} a person's {named(self.quasi_identifier)}, however exactly, finds {self._found} that match, "
                "or none. The released values of these columns do not distinguish these records."
            ),
            cannot=(
                f"point at one person's record: to somebody who knows nothing else, a guess among the {self.unit}s "
                f"that match is right at most once in {self.k:,}."
            ),
            can=(
                *(("suspect that many similar matching records are of one person.",) if self._persons else ()),
                "see what all matching records have in common: if all have the same class, it is that person's too.",
                "distinguish the records by columns that are not named here.",
            ),
        )

    @property
    def _found(self) -> str:
        return f"records of at least {self.k:,} persons" if self._persons else f"at least {self.k:,} records"

    def __str__(self) -> str:
        persons = " persons" if self._persons else ""
        return f"k = {self.k:,}{persons} on {braced(self.quasi_identifier)}"


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
                f"Among the records that match what somebody knows about a person's {known}, {self.sensitive} takes at "
                f"least {self.k:,} different values, and the largest is at least {e} above the smallest."
            ),
            cannot=f"find matching records with {self.sensitive} in a narrower range, or with fewer values.",
            can=("find most of these values close together: only the smallest and the largest are kept apart.",),
        )

    def __str__(self) -> str:
        return f"({self.k:,}, {number_text(self.e)})-anonymity of {self.sensitive} on {braced(self.quasi_identifier)}"
