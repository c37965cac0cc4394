"""k-anonymity: how many records a group has."""

from __future__ import annotations

from typing import ClassVar, Literal

from unveil.arrays import FloatArray, IntArray
from unveil.errors import braced, count_text, named
from unveil.schema.keys import Size
from unveil.schema.requirements.kind import (
    WHO,
    Bound,
    Level,
    OneLevel,
    Promise,
    Worst,
)

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
    """TDR, Definition 1: every group on the quasi-identifier has at least k records."""

    kind: Literal["k-anonymity"] = "k-anonymity"
    sensitive: ClassVar[None] = None
    bounds: ClassVar = {"k": LEAST_SIZE}
    k: Size

    def level(self, values: tuple[str, ...], total: IntArray) -> Level:
        """A(QID), the size of a group.

        Anti-monotone because every piece of a group is at most as large as the group.
        """
        return Level(group_sizes, self.k, lambda: f"it has {count_text(int(total.sum()), 'record')}")

    def in_unit(self, level: float) -> float:
        """Records."""
        return int(level)

    def break_sentence(self, worst: Worst) -> str:
        """Which group would be too small, and by how much."""
        return f"the group {worst.who} would have {worst.size}; k asks for {self.k:,}: {int(worst.short):,} short"

    def sentence(self) -> str:
        """The guarantee as a reader of the release gets it."""
        return (
            f"Every combination of released values of {braced(self.quasi_identifier)} "
            f"is shared by at least {self.k:,} records."
        )

    def promise(self) -> Promise:
        """What a linkage attack finds."""
        return Promise(
            kind="k-anonymity",
            headline=f"At least {self.k:,} records look alike",
            promise=(
                f"{WHO} a person's {named(self.quasi_identifier)}, however exactly, finds at least {self.k:,} records "
                "that fit, or none. The released values of these columns do not tell these records apart."
            ),
            cannot=(
                "point at one person's record: to somebody who knows nothing else, a guess among the records that fit "
                f"is right once in {self.k:,} at most."
            ),
            can=(
                "see what all records that fit have in common: if all have the same class, it is that person's too.",
                "tell the records apart by columns that are not named here.",
            ),
        )

    def __str__(self) -> str:
        return f"k = {self.k:,} on {braced(self.quasi_identifier)}"
