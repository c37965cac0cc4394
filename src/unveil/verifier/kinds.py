"""The kinds of requirement as a reader of a manifest understands them: what each states, and how it is recounted.

A kind has one class here and one in `unveil.schema.requirements`; neither imports the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from unveil.errors import listed
from unveil.verifier.columns import Groups
from unveil.verifier.distances import equal_distances, ordered_distances
from unveil.verifier.findings import BrokenClaimError, Finding, records_text
from unveil.verifier.holdings import Floats, Holdings, Ranks, largest_counts, value_texts
from unveil.verifier.parts import MANIFEST, PARQUET, Name, Released
from unveil.verifier.statements import (
    Count,
    Names,
    Share,
    Statement,
    Table,
    Texts,
    name_text,
    names_text,
    number_text,
    percent,
)

TOLERANCE = 1e-9
"""Entropies and distances are sums of floats."""
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class OnQuasiIdentifier(Statement):
    """A requirement on the groups of a quasi-identifier."""

    quasi_identifier: Names = Field(alias="quasi-identifier")

    @property
    def names(self) -> list[str]:
        """The columns that it groups by."""
        return self.quasi_identifier

    @property
    def records(self) -> str:
        """The records of a group in words."""
        return f"the records that share a combination of released values of {names_text(self.names)}"


class KAnonymity(OnQuasiIdentifier):
    """Every group on the quasi-identifier has at least k records."""

    kind: Literal["k-anonymity"]
    at_least: ClassVar = frozenset({"k"})
    k: Count

    def findings(self, table: Table) -> Iterator[Finding]:
        """Groups that are too small."""
        yield from _size_findings(table.place, self.k, table.groups(self))

    def sentence(self) -> str:
        """What a reader is promised."""
        return _size_sentence(self.names, self.k)


class Confidence(Statement):
    """In every group on the channel, the share of each of the values is at most the limit."""

    kind: Literal["confidence"]
    role: ClassVar = "channel"
    at_most: ClassVar = frozenset({"limit"})
    category: ClassVar = True
    channel: Names
    sensitive: Name
    values: Texts
    limit: Share

    @property
    def names(self) -> list[str]:
        """The columns that it groups by."""
        return self.channel

    def findings(self, table: Table) -> Iterator[Finding]:
        """Groups with too large a share of a value."""
        yield from _share_findings("confidence", table.place, self.values, self.limit, table.holdings(self))

    def sentence(self) -> str:
        """What a reader is promised."""
        records = f"the records that share a combination of released values of {names_text(self.names)}"
        return f"Among {records}, {_share_clause(self.values, self.sensitive, self.limit)}."


class AlphaKAnonymity(OnQuasiIdentifier):
    """Every group has at least k records, and the share of each of the values is at most alpha."""

    kind: Literal["alpha-k-anonymity"]
    at_least: ClassVar = frozenset({"k"})
    at_most: ClassVar = frozenset({"alpha"})
    category: ClassVar = True
    k: Count
    sensitive: Name
    values: Texts
    alpha: Share

    def findings(self, table: Table) -> Iterator[Finding]:
        """Groups that are too small, or with too large a share of a value."""
        holdings = table.holdings(self)
        yield from _size_findings(table.place, self.k, holdings.groups)
        yield from _share_findings("alpha", table.place, self.values, self.alpha, holdings)

    def sentence(self) -> str:
        """What a reader is promised."""
        clause = _share_clause(self.values, self.sensitive, self.alpha)
        return f"{_size_sentence(self.names, self.k)} {clause[0].upper()}{clause[1:]} of them."


class LDiversity(OnQuasiIdentifier):
    """Every group holds l different sensitive values, or as much entropy as l equally frequent ones."""

    kind: Literal["l-diversity"]
    at_least: ClassVar = frozenset({"l"})
    sensitive: Name
    l: float = Field(ge=1, allow_inf_nan=False)  # noqa: E741 - the name of the model
    variant: Literal["distinct", "entropy"]

    def findings(self, table: Table) -> Iterator[Finding]:
        """Groups with too few values."""
        holdings = table.holdings(self)
        recount = _distinct_findings if self.variant == "distinct" else _entropy_findings
        yield from recount(table.place, self.l, holdings)

    def sentence(self) -> str:
        """What a reader is promised."""
        how = {"distinct": "different values", "entropy": "well represented values (entropy)"}[self.variant]
        least = f"{number_text(self.l)} {how} of {name_text(self.sensitive)}"
        return f"T{self.records[1:]} hold at least {least}."


class TCloseness(OnQuasiIdentifier):
    """The sensitive values of every group are distributed as in the whole release, up to a distance of t."""

    kind: Literal["t-closeness"]
    at_most: ClassVar = frozenset({"t"})
    free: ClassVar = frozenset({"order"})
    sensitive: Name
    t: float = Field(ge=0, le=1)
    distance: Literal["equal", "ordered"]
    order: list[Name] | None

    def findings(self, table: Table) -> Iterator[Finding]:
        """Groups that are too far from the whole release."""
        holdings = table.holdings(self)
        if self.distance == "equal":
            if self.order is not None:
                message = f"{MANIFEST}: {table.place} gives an order, which the equal distance has none of."
                yield Finding("requirement", message)
            distances = equal_distances(holdings)
        else:
            entry = table.manifest.masking[self.sensitive]
            number = isinstance(entry, Released) and entry.type != "category"
            distances = ordered_distances(holdings, self._ranks(table.place, holdings, number=number))
        yield from _distance_findings(table.place, self.t, distances, holdings)

    def as_strict_as(self, asked: Statement, held: Sequence[str]) -> bool:
        """Also the same order, of the values that the release holds; an owner who declared none takes any."""
        if not super().as_strict_as(asked, held):
            return False
        known, wished = set(held), asked.order if isinstance(asked, TCloseness) else None
        return wished is None or [v for v in self.order or () if v in known] == [v for v in wished if v in known]

    def sentence(self) -> str:
        """What a reader is promised."""
        return (
            f"Among {self.records}, {name_text(self.sensitive)} is distributed as in the whole release "
            f"up to a distance ({self.distance}) of {number_text(self.t)}."
        )

    def _ranks(self, place: str, holdings: Holdings, *, number: bool) -> Ranks:
        """The place of each value in the order: by value for numbers, as the manifest lists it for categories."""
        held = [str(value) for value in value_texts(holdings.sensitive)]
        problem = _order_problem(held, self.order, number=number)
        if problem is not None:
            message = f"{MANIFEST}: {place} protects {self.sensitive!r} and {problem}."
            raise BrokenClaimError([Finding("sensitive", message)])
        if self.order is None:
            return np.arange(len(held), dtype=np.int64)
        known = set(held)
        rank_of = {value: rank for rank, value in enumerate(value for value in self.order if value in known)}
        return np.array([rank_of[value] for value in held], dtype=np.int64)


class BetaLikeness(OnQuasiIdentifier):
    """In every group, the share of each sensitive value is at most 1 + beta times its share in the whole release."""

    kind: Literal["beta-likeness"]
    at_most: ClassVar = frozenset({"beta"})
    sensitive: Name
    beta: Positive

    def findings(self, table: Table) -> Iterator[Finding]:
        """Groups in which a value is too much more frequent."""
        holdings = table.holdings(self)
        whole = holdings.whole()
        gains = holdings.shares * whole.sum() / whole[holdings.codes] - 1
        high = gains > self.beta + TOLERANCE
        if high.any():
            worst = int(np.argmax(gains))
            yield Finding(
                "likeness",
                f"{PARQUET} has {holdings.text(worst)}, {1 + gains[worst]:.6g} times that of the whole release, but "
                f"{table.place} allows at most 1 + {self.beta:g} times "
                f"(too much in {len(np.unique(holdings.owners[high])):,} of {len(holdings.groups.sizes):,} groups).",
            )

    def sentence(self) -> str:
        """What a reader is promised."""
        return (
            f"Among {self.records}, the share of every value of {name_text(self.sensitive)} is at most "
            f"1 + {number_text(self.beta)} times its share in the whole release."
        )


class KEAnonymity(OnQuasiIdentifier):
    """Every group holds k different sensitive numbers, and the largest is at least e above the smallest."""

    kind: Literal["k-e-anonymity"]
    at_least: ClassVar = frozenset({"k", "e"})
    k: Count
    sensitive: Name
    e: Positive

    def findings(self, table: Table) -> Iterator[Finding]:
        """Groups with too few numbers, or with numbers too close to each other."""
        holdings = table.holdings(self)
        yield from _distinct_findings(table.place, self.k, holdings)
        entry = table.manifest.masking[self.sensitive]
        if not (isinstance(entry, Released) and entry.type == "number"):
            yield Finding("sensitive", f"{MANIFEST}: {table.place} measures {self.sensitive!r}, which is not a number.")
            return
        numbers = [Fraction(str(value)) for value in value_texts(holdings.sensitive)]
        first, last = np.diff(holdings.owners, prepend=-1) > 0, np.diff(holdings.owners, append=-1) != 0
        ends = zip(holdings.codes[first].tolist(), holdings.codes[last].tolist(), strict=True)
        spans = [numbers[highest] - numbers[lowest] for lowest, highest in ends]
        close = sum(span < Fraction(str(self.e)) for span in spans)
        if close:
            worst = min(range(len(spans)), key=spans.__getitem__)
            yield Finding(
                "span",
                f"{PARQUET}: in {holdings.groups.text(worst)} the values of {self.sensitive!r} span "
                f"{float(spans[worst]):.9g}, but {table.place} asks for at least {self.e:g} "
                f"(too close in {close:,} of {len(spans):,} groups).",
            )

    def sentence(self) -> str:
        """What a reader is promised."""
        return (
            f"T{self.records[1:]} hold at least {self.k:,} different values of {name_text(self.sensitive)}, and these "
            f"span at least {number_text(self.e)}."
        )


def _size_sentence(names: Sequence[str], k: int) -> str:
    return f"Every combination of released values of {names_text(names)} is shared by at least {k:,} records."


def _size_findings(place: str, least: int, groups: Groups) -> Iterator[Finding]:
    small = int((groups.sizes < least).sum())
    if small:
        smallest = int(np.argmin(groups.sizes))
        yield Finding(
            "group-size",
            f"{PARQUET}: {groups.text(smallest)} is shared by {records_text(int(groups.sizes[smallest]))}, "
            f"but {place} asks for at least {least:,} "
            f"({small:,} of {len(groups.sizes):,} groups are too small).",
        )


def _share_clause(values: Sequence[str], sensitive: str, share: float) -> str:
    """Each value by itself has a bounded share."""
    which = "the value" if len(values) == 1 else "each of the values"
    return f"{which} {', '.join(map(repr, values))} of {name_text(sensitive)} is held by at most {percent(share)}"


def _share_findings(
    claim: Literal["confidence", "alpha"], place: str, values: Sequence[str], limit: float, holdings: Holdings
) -> Iterator[Finding]:
    """In every group, each of the values is held by at most the share `limit` of its records.

    Shares are compared as fractions and never as floats. A value that no record holds has the share 0.
    """
    named = set(values)
    limited = np.array([value in named for value in value_texts(holdings.sensitive)], dtype=np.bool_)
    most = largest_counts(holdings.groups.sizes, Fraction(str(limit)))
    above = limited[holdings.codes] & (holdings.counts > most[holdings.owners])
    if above.any():
        worst = int(np.argmax(np.where(above, holdings.shares, -1)))
        groups = len(np.unique(holdings.owners[above]))
        yield Finding(
            claim,
            f"{PARQUET} has {holdings.text(worst)}, but {place} allows at most {limit} "
            f"(too high in {groups:,} of {len(holdings.groups.sizes):,} groups).",
        )


def _distinct_findings(place: str, least: float, holdings: Holdings) -> Iterator[Finding]:
    """Every group holds at least so many different sensitive values."""
    held = holdings.distinct()
    few = held < least
    if few.any():
        worst = int(np.argmin(held))
        named = value_texts(holdings.sensitive)
        values = [str(named[code]) for code in holdings.codes[holdings.owners == worst]]
        noun = "value" if len(values) == 1 else "different values"
        yield Finding(
            "diversity",
            f"{PARQUET}: {holdings.groups.text(worst)} has {len(values):,} {noun} of {holdings.sensitive.name!r} "
            f"({listed(values)}) in {records_text(int(holdings.groups.sizes[worst]))}, but {place} asks for "
            f"at least {least:g} (too few in {few.sum():,} of {len(held):,} groups).",
        )


def _entropy_findings(place: str, least: float, holdings: Holdings) -> Iterator[Finding]:
    """The entropy of the sensitive values of every group is at least the logarithm of `least`."""
    shares, bound = holdings.shares, float(np.log(least))
    entropies = holdings.sums(-shares * np.log(shares))
    low = entropies < bound - TOLERANCE
    if low.any():
        worst = int(np.argmin(entropies))
        most = int(np.argmax(np.where(holdings.owners == worst, shares, -1)))
        yield Finding(
            "diversity",
            f"{PARQUET} has {holdings.text(most)}; the entropy of {holdings.sensitive.name!r} there is "
            f"{entropies[worst]:.9g}, but {place} asks for at least log {least:g} = {bound:.9g} "
            f"(too low in {low.sum():,} of {len(entropies):,} groups).",
        )


def _distance_findings(place: str, most: float, distances: Floats, holdings: Holdings) -> Iterator[Finding]:
    """No group is farther from the whole release than `most`."""
    far = distances > most + TOLERANCE
    if far.any():
        worst = int(np.argmax(distances))
        whole = holdings.whole()
        excess = holdings.shares - whole[holdings.codes] / whole.sum()
        entry = int(np.argmax(np.where(holdings.owners == worst, excess, -2)))
        yield Finding(
            "closeness",
            f"{PARQUET} has {holdings.text(entry)}, and in {int(whole[holdings.codes[entry]]):,} of all "
            f"{records_text(int(whole.sum()))}; the distance of {holdings.sensitive.name!r} there is "
            f"{distances[worst]:.9g}, but {place} allows at most {most} "
            f"(too far in {far.sum():,} of {len(distances):,} groups).",
        )


def _order_problem(held: Sequence[str], order: Sequence[str] | None, *, number: bool) -> str | None:
    if number:
        return None if order is None else "gives an order, but numbers are ordered by value"
    if order is None:
        return "gives no order of its values"
    if twice := [value for value, count in Counter(order).items() if count > 1]:
        return f"lists {listed(twice)} twice in its order"
    if absent := sorted(set(held) - set(order)):
        return f"leaves {listed(absent)} out of its order"
    return None
