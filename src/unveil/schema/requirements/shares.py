"""Privacy templates and (α, k)-anonymity: what share of a group holds a sensitive value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from unveil.arrays import FloatArray, IntArray
from unveil.errors import braced, count_text, named, quoted
from unveil.schema.keys import Names, Share
from unveil.schema.requirements.kind import DECIMALS, Bound, Kind, Promise, each, figure, percent
from unveil.schema.requirements.levels import Atom, Level, Worst, covers
from unveil.schema.requirements.sizes import LEAST_SIZE, AtLeastK, KAnonymity

STEP = 0.05
"""Five points of a confidence, of α, or of a distance."""
SHOWN = 5
"""How many values are named on a page."""


def more(share: float) -> dict[float, str]:
    """The usual step, or half the way to 1, which would ask for nothing."""
    if share >= 1:
        return {}
    wish = round(share + STEP, DECIMALS)
    if wish < 1:
        return {wish: ""}
    return {round((1 + share) / 2, DECIMALS): "halfway to requiring nothing"}


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
            and covers(self.attributes, other.attributes)
        )

    def level(self, values: tuple[str, ...], total: IntArray) -> Level:
        """−Conf(IC → π): the share of a group that holds the sensitive value, negated.

        Anti-monotone because the share of a group is the mean of the shares of its pieces, weighted by their sizes: one
        piece has at least that share (PDA, Lemma 3.2).

        A share and the limit are compared as the floats nearest to them. With at most six decimals in the limit, which
        the spec asks for, two different ones differ by more than rounding does for any group of less than 10⁹ records.
        """
        place = values.index(self.value)

        def negated_shares(counts: IntArray) -> FloatArray:
            shares: FloatArray = -counts[:, place] / counts.sum(axis=1)
            return shares

        def shortfall() -> str:
            """Lemma 3.3: the fully masked table has the smallest confidence there is."""
            held, size = int(total[place]), int(total.sum())
            return (
                f"its smallest reachable confidence is {held / size:.2%}, "
                f"with everything masked ({held:,} of {count_text(size, 'record')})"
            )

        return Level(negated_shares, -self.limit, shortfall)

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


def value_list(values: Sequence[str]) -> str:
    """Values in the words of a page, the tail of a long list counted."""
    words = [f"“{value}”" for value in values]
    if len(words) > SHOWN:
        words = [*words[: SHOWN - 1], f"{len(words) - SHOWN + 1:,} other values"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
