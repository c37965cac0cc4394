"""Requirements about how the sensitive values of a group are spread, or how far they are from the whole table."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, PrivateAttr

from unveil.arrays import FloatArray, IntArray
from unveil.errors import SpecError, count_text, quoted
from unveil.schema.attributes import number_text
from unveil.schema.requirements.counts import LEAST_SIZE, AtLeastK, more
from unveil.schema.requirements.kind import DECIMALS, Bound, Domain, LikeWhole, OnSensitive, Promise, figure
from unveil.schema.requirements.levels import ROUNDING, Level, Worst


def less_diverse(least: float) -> dict[float, str]:
    """One value less, or half the way to 1, which would ask for nothing."""
    if least - 1 > 1:
        return {least - 1: ""}
    if least <= 1:
        return {}
    return {round((1 + least) / 2, DECIMALS): "halfway to requiring nothing"}


def entropies(counts: IntArray) -> FloatArray:
    """−Σ p ln p of each group."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy: FloatArray = -(shares * logs).sum(axis=1)
    return entropy


class LDiversity(OnSensitive):
    """Every group holds at least ℓ sensitive values, counted, or well represented as measured by entropy."""

    kind: Literal["l-diversity"] = "l-diversity"
    bounds: ClassVar = {"l": Bound("least", less_diverse)}
    title: ClassVar = "{variant} {l}-diversity"
    l: Annotated[float, Field(ge=1)]  # noqa: E741 - the name of the model
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
            return Level(
                lambda counts: np.count_nonzero(counts, axis=1).astype(float), self.l, lambda: f"the table holds {held}"
            )

        def shortfall() -> str:
            return f"the whole table is only {math.exp(entropies(total[None, :])[0]):.2f}-diverse"

        return Level(entropies, math.log(self.l) - ROUNDING, shortfall)

    def in_unit(self, level: float) -> float:
        """Values; an entropy is that of this many equally frequent ones."""
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
        least = f"{number_text(self.l)} {self._counted} of {quoted(self.sensitive)}"
        return f"T{self.sharing[1:]} hold at least {least}."

    def promise(self) -> Promise:
        """How many values a group holds."""
        spread = " (measured by their entropy)" if self.variant == "entropy" else ""
        return self.about_matches(
            kind=f"ℓ-diversity, {self.variant}",
            headline=f"at least {self.l:g} values in every group",
            promise=f"{self.sensitive} takes at least {self.l:g} different values{spread}",
            cannot=f"with fewer than {self.l:g} values of {self.sensitive}{spread}",
            can=(
                "find one value much likelier than the others.",
                "draw conclusions where the possible values mean much the same.",
            ),
        )


class TCloseness(LikeWhole):
    """The sensitive values of every group are distributed like those of the whole table, up to a distance of t."""

    kind: Literal["t-closeness"] = "t-closeness"
    bounds: ClassVar = {"t": Bound("most", more)}
    title: ClassVar = "{t}-closeness ({distance})"
    guarantee: ClassVar = (
        "among {records}, {sensitive} is distributed as in the whole release up to a distance ({distance}) of {t}."
    )
    measure: ClassVar = "distance"
    t: Annotated[float, Field(ge=0, le=1)]
    distance: Literal["equal", "ordered"] = "equal"
    _order: tuple[str, ...] | None = PrivateAttr(None)
    """For the ordered distance on a category: its values in order."""

    def takes(self) -> tuple[str, ...]:
        """The ordered distance works on numbers and dates too."""
        return ("category", "number", "date") if self.distance == "ordered" else self.kinds

    def resolved(self, domain: Domain) -> Self:
        """With the order of a category filled in."""
        if self.distance != "ordered" or not domain.category or not domain.held:
            return self
        filled = self.model_copy()
        filled._order = domain.held
        return filled

    def apart(self, shares: FloatArray, table: FloatArray) -> FloatArray:
        """The distance D(P, Q) of a group; both kinds are sums of absolute values, so convex in P."""
        apart = shares - table
        if self.distance == "ordered":
            ordered: FloatArray = np.abs(np.cumsum(apart, axis=1)).sum(axis=1) / max(len(table) - 1, 1)
            return ordered
        equal: FloatArray = np.abs(apart).sum(axis=1) / 2
        return equal

    def break_sentence(self, worst: Worst) -> str:
        """Which group would be too far away."""
        return (
            f"in the group {worst.who}, {self.sensitive} would be {figure(worst.level)} away from the whole table; "
            f"t allows {number_text(self.t)}: {figure(worst.short)} too far"
        )

    def describe(self) -> dict[str, object]:
        """The entry of this requirement in a manifest, with the order that distances were measured in."""
        return {**super().describe(), "order": None if self._order is None else list(self._order)}

    def promise(self) -> Promise:
        """How much a group may differ from everybody."""
        return self.about_matches(
            kind=f"t-closeness, {self.distance} distance",
            headline="a group looks like the whole table",
            promise=(
                f"{self.sensitive} is distributed as in the whole release, up to a distance of {self.t:g} "
                "(0 is the same, 1 as different as can be)"
            ),
            cannot=f"in which {self.sensitive} is farther than that from the whole release",
            can=("learn what the whole table shows: a value that most people hold is likely for each of them.",),
        )


class BetaLikeness(LikeWhole):
    """In every group, each value is at most 1 + β times as frequent as in the table (Cao and Karras, VLDB 2012)."""

    kind: Literal["beta-likeness"] = "beta-likeness"
    bounds: ClassVar = {"beta": Bound("most", lambda beta: {2 * beta: "twice as much"}, symbol="β")}
    title: ClassVar = "{beta}-likeness"
    guarantee: ClassVar = (
        "among {records}, the share of every value of {sensitive} is at most 1 + {beta} times its share in the whole "
        "release."
    )
    measure: ClassVar = "gain"
    beta: Annotated[float, Field(gt=0, allow_inf_nan=False)]

    def apart(self, shares: FloatArray, table: FloatArray) -> FloatArray:
        """The gain: max (q − p) / p over the values, with p the share in the table and q in a group; convex in q."""
        gains: FloatArray = (shares / table - 1).max(axis=1)
        return gains

    def break_sentence(self, worst: Worst) -> str:
        """In which group a value would be too much likelier."""
        return (
            f"in the group {worst.who}, a value of {self.sensitive} would be {figure(1 + worst.level)} times as "
            f"frequent as in the whole table; β allows {figure(1 + self.beta)} times"
        )

    def promise(self) -> Promise:
        """How much likelier a group makes a value."""
        times = f"{figure(1 + self.beta)} times as frequent"
        return self.about_matches(
            kind="β-likeness",
            headline=f"at most {times} in a group",
            promise=f"every value of {self.sensitive} is at most {times} as in the whole release, rare values too",
            cannot=f"in which a value of {self.sensitive} is more frequent than that",
            can=("rule a value out: a group in which nobody holds it says so.",),
        )


class KEAnonymity(OnSensitive, AtLeastK):
    """Every group holds at least k different numbers, which span at least e (Zhang and others, ICDE 2007)."""

    kind: Literal["k-e-anonymity"] = "k-e-anonymity"
    bounds: ClassVar = {"e": Bound("least", lambda e: {e / 2: "half of it"}), "k": LEAST_SIZE}
    kinds: ClassVar = ("number",)
    title: ClassVar = "({k:,}, {e})-anonymity"
    guarantee: ClassVar = "{records} hold at least {k:,} different values of {sensitive}, and these span at least {e}."
    e: Annotated[float, Field(gt=0, allow_inf_nan=False)]

    def level(self, values: tuple[str, ...], total: IntArray) -> Level:
        """The largest sensitive number of a group less the smallest; below 0 by what it lacks of k different ones.

        Anti-monotone because a piece holds no number that the group does not hold: it has at most as many, and they
        span at most as much.
        """
        exact, size = [Fraction(value) for value in values], len(values)

        def spans(counts: IntArray) -> FloatArray:
            held = counts > 0
            lowest, highest = held.argmax(axis=1), size - 1 - held[:, ::-1].argmax(axis=1)
            pairs, place = np.unique(lowest * size + highest, return_inverse=True)
            # The float nearest to an exact difference: 0.3 - 0.1 is 0.2, as the spec writes it.
            span = np.array([float(exact[pair % size] - exact[pair // size]) for pair in pairs.tolist()])[place]
            lacking = np.minimum(held.sum(axis=1) - self.k, 0)
            return np.where(lacking < 0, lacking, span).astype(np.float64)

        return Level(spans, self.e, lambda: f"the whole table has {self._has(float(spans(total[None, :])[0]))}")

    def _has(self, level: float) -> str:
        return f"a span of {figure(level)}" if level >= 0 else f"{self.k + int(level):,} different values"

    def break_sentence(self, worst: Worst) -> str:
        """In which group the numbers would be too few or too close."""
        asked = f"{self.k:,} different values and a span of {number_text(self.e)}"
        return f"the group {worst.who} would have {self._has(worst.level)} of {self.sensitive}; asked for are {asked}"

    def promise(self) -> Promise:
        """How close a reader gets to a number."""
        k, e = f"{self.k:,}", number_text(self.e)
        values = f"takes at least {k} different values, and the largest is at least {e} above the smallest"
        return self.about_matches(
            kind="(k, e)-anonymity",
            headline=f"at least {k} numbers, {e} apart",
            promise=f"{self.sensitive} {values}",
            cannot=f"with {self.sensitive} in a narrower range, or with fewer values",
            can=("find most of these values close together: only the smallest and the largest are kept apart.",),
        )
