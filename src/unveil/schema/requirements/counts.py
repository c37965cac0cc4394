"""How many records a group has, and what share of them holds a value: k-anonymity, privacy templates, both together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Literal

from unveil.arrays import IntArray
from unveil.errors import braced, count_text, named, quoted
from unveil.schema.keys import Names, Share, Size
from unveil.schema.requirements.kind import DECIMALS, Bound, Kind, OneLevel, OnQuasiIdentifier, Promise, figure
from unveil.schema.requirements.levels import Atom, Level, Worst

STEP = 5
"""The usual step of k."""
POINTS = 0.05
"""Five points of a confidence, of α, or of a distance."""
SHOWN = 5
"""How many values are named on a page."""


def fewer(k: int) -> dict[float, str]:
    """The usual step and half of k; a k of 2 is the last that asks for anything."""
    if k <= 2:
        return {}
    wishes: dict[float, str] = {max(k - STEP, 2): "" if k - STEP >= 2 else "the last k that asks for anything"}
    if k // 2 >= 2:
        wishes.setdefault(k // 2, "half of it")
    return wishes


def more(share: float) -> dict[float, str]:
    """The usual step, or half the way to 1, which would ask for nothing."""
    if share >= 1:
        return {}
    wish = round(share + POINTS, DECIMALS)
    if wish < 1:
        return {wish: ""}
    return {round((1 + share) / 2, DECIMALS): "halfway to requiring nothing"}


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
        shortfall = f"it has {count_text(int(total.sum()), self.unit)}"
        return Level(lambda counts: counts.sum(axis=1).astype(float), self.k, lambda: shortfall)

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
        found = f"records of at least {self.k:,} persons" if self._persons else f"at least {self.k:,} records"
        return Promise(
            kind="k-anonymity",
            headline=f"At least {self.k:,} {self.unit}s look alike",
            promise=(
                f"Somebody who knows a person's {named(self.quasi_identifier)}, however exactly, finds {found} that "
                "match, or none. The released values of these columns do not distinguish these records."
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

    def __str__(self) -> str:
        persons = " persons" if self._persons else ""
        return f"k = {self.k:,}{persons} on {braced(self.quasi_identifier)}"


@dataclass(frozen=True)
class Template:
    """PDA, Definition 3.1: ⟨IC → π, h⟩. In no group on the channel is the share of the value above the limit."""

    channel: tuple[str, ...]
    sensitive: str
    value: str
    limit: float
    scale: ClassVar[float] = 1

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that are masked for this template."""
        return self.channel

    @property
    def bound(self) -> float:
        """The largest share allowed."""
        return self.limit

    def implies(self, other: Atom) -> bool:
        """Lemma 3.1: the same value, a channel that holds the other's, and a limit no higher."""
        return (
            isinstance(other, Template)
            and (other.sensitive, other.value) == (self.sensitive, self.value)
            and other.limit >= self.limit
            and set(other.channel) <= set(self.channel)
        )

    def level(self, values: tuple[str, ...], total: IntArray) -> Level:
        """−Conf(IC → π): the share of a group that holds the sensitive value, negated.

        Anti-monotone because the share of a group is the mean of the shares of its pieces, weighted by their sizes: one
        piece has at least that share (PDA, Lemma 3.2).

        A share and the limit are compared as the floats nearest to them. With at most six decimals in the limit, which
        the spec asks for, two different ones differ by more than rounding does for any group of less than 10⁹ records.
        """
        place = values.index(self.value)

        def shortfall() -> str:
            """Lemma 3.3: the fully masked table has the smallest confidence there is."""
            held, size = int(total[place]), int(total.sum())
            return (
                f"its smallest reachable confidence is {held / size:.2%}, "
                f"with everything masked ({held:,} of {count_text(size, 'record')})"
            )

        return Level(lambda counts: -counts[:, place] / counts.sum(axis=1), -self.limit, shortfall)

    def in_unit(self, level: float) -> float:
        """A share."""
        return -level

    def break_sentence(self, worst: Worst) -> str:
        """In which group the share would be too high, and by how many points."""
        held, points = round(worst.level * worst.records), figure(100 * worst.short)
        return (
            f"in the group {worst.who}, {held:,} of {worst.size} would hold {self.sensitive} = {self.value}: "
            f"{figure(100 * worst.level)}%, {points} point{'' if points == '1' else 's'} above {percent(self.limit)}"
        )

    def __str__(self) -> str:
        return f"⟨{braced(self.channel)} → {self.sensitive} = {self.value}, {percent(self.limit)}⟩"


class Confidence(Kind):
    """Privacy templates with one channel and one limit, one for each of the sensitive values; no values means all."""

    kind: Literal["confidence"] = "confidence"
    role: ClassVar = "channel"
    bounds: ClassVar = {"limit": Bound("most", more, percent=True)}
    channel: Names
    sensitive: str
    values: Names | None = None
    limit: Share

    @property
    def attributes(self) -> tuple[str, ...]:
        """The masking attributes."""
        return self.channel

    def atoms(self) -> tuple[Atom, ...]:
        """One template per value."""
        return tuple(Template(self.channel, self.sensitive, value, self.limit) for value in self.values or ())

    def sentence(self) -> str:
        """The guarantee as a reader of the release gets it."""
        return f"Among {self.sharing}, {share_clause(self.values, self.sensitive, self.limit)}."

    def promise(self) -> Promise:
        """What a group gives away about the values."""
        share, values = percent(self.limit), value_list(self.values or ())
        apart = ", each taken by itself" if len(self.values or ()) > 1 else ""
        return Promise(
            kind="privacy template",
            headline=f"{self.sensitive}: {values} for at most {share} of a group",
            promise=(
                f"Take all records that match what somebody knows about a person's {named(self.channel)}. "
                f"At most {share} of them hold {values} as {self.sensitive}{apart}."
            ),
            cannot=f"find matching records where more than {share} hold {values}{apart}.",
            can=(
                "rule a value out: a group in which nobody holds it says so.",
                "learn values that are not named here, and that a person holds some one of several named values.",
                "meet groups of very few records: this promise is about shares, not about sizes.",
                "be surer than this share by knowing more, such as another column, or by working out which tables "
                "could have given this release: in a small table that can leave a single answer.",
            ),
        )


class AlphaKAnonymity(AtLeastK):
    """(α, k): at least k records in every group, and no sensitive value held by more than a share α of them.

    In a table of persons: records of at least k persons, and the share is still of their records.
    """

    kind: Literal["alpha-k-anonymity"] = "alpha-k-anonymity"
    sized: ClassVar = True
    bounds: ClassVar = {"k": LEAST_SIZE, "alpha": Bound("most", more, symbol="α", percent=True)}
    sensitive: str
    values: Names | None = None
    alpha: Share

    @property
    def parts(self) -> tuple[KAnonymity, Confidence]:
        """k-anonymity, and templates."""
        size = KAnonymity(quasi_identifier=self.quasi_identifier, k=self.k)
        return (
            size.of_persons() if self._persons else size,
            Confidence(channel=self.quasi_identifier, sensitive=self.sensitive, values=self.values, limit=self.alpha),
        )

    def atoms(self) -> tuple[Atom, ...]:
        """k-anonymity, and one template per value."""
        size, share = self.parts
        return (size, *share.atoms())

    def sentence(self) -> str:
        """The guarantee as a reader of the release gets it."""
        clause = share_clause(self.values, self.sensitive, self.alpha)
        whole = "their records" if self._persons else "them"
        return f"{self.parts[0].sentence()} {clause[0].upper()}{clause[1:]} of {whole}."

    def promise(self) -> Promise:
        """Both promises together."""
        size, share = (part.promise() for part in self.parts)
        return Promise(
            kind="(α, k)-anonymity",
            headline=f"{size.headline}; {share.headline}",
            promise=f"{size.promise} {share.promise}",
            cannot=f"{size.cannot.rstrip('.')}; nor {share.cannot}",
            can=(*size.can, *share.can[:2]),
        )


def share_clause(values: Sequence[str] | None, sensitive: str, share: float) -> str:
    """What a bound on shares says. It bounds a share of records, and not what a reader can conclude."""
    return f"{each(values)} of {quoted(sensitive)} is held by at most {percent(share)}"


def percent(share: float) -> str:
    """A share in percent, exact, so that sentences say what is checked."""
    return f"{Decimal(str(share)).scaleb(2).normalize():f}%"


def each(values: Sequence[str] | None) -> str:
    """Values in a sentence; a promise about several values is about each of them."""
    words = [repr(value) for value in values or ()]
    if len(words) == 1:
        return f"the value {words[0]}"
    return f"each of the values {', '.join(words)}" if words else "each value"


def value_list(values: Sequence[str]) -> str:
    """Values in the words of a page, the tail of a long list counted."""
    words = [f"“{value}”" for value in values]
    if len(words) > SHOWN:
        words = [*words[: SHOWN - 1], f"{len(words) - SHOWN + 1:,} other values"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
