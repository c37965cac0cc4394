"""k-anonymity: how many records, or persons, a group has."""

from __future__ import annotations

from typing import ClassVar, Literal

from unveil.arrays import FloatArray, IntArray
from unveil.errors import braced, count_text, named
from unveil.schema.keys import Size
from unveil.schema.requirements.kind import WHO, Bound, OneLevel, OnQuasiIdentifier, Promise
from unveil.schema.requirements.levels import Level, Worst

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


class AtLeastK(OnQuasiIdentifier):
    """A requirement that asks for at least k of something in every group."""

    k: Size


class KAnonymity(OneLevel, AtLeastK):
    """TDR, Definition 1: every group on the quasi-identifier has at least k records, or records of k persons."""

    kind: Literal["k-anonymity"] = "k-anonymity"
    sensitive: ClassVar[None] = None
    bounds: ClassVar = {"k": LEAST_SIZE}
    sized: ClassVar = True

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
