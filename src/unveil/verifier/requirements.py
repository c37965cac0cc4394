"""The kinds of requirement: what each states, how it is recounted, and the sentence that it promises.

A kind has one class here and one in `unveil.schema.requirements`; neither imports the other.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, ValidationError

from unveil.errors import braced, listed, quoted
from unveil.strangers import COLUMNS
from unveil.verifier.claims import (
    MANIFEST,
    PARQUET,
    BrokenClaimError,
    Finding,
    Name,
    Part,
    Released,
    broken,
    guarantee_findings,
    repeated,
)
from unveil.verifier.data import Data
from unveil.verifier.files import describe_errors
from unveil.verifier.holdings import (
    TOLERANCE,
    Holdings,
    Ranks,
    Table,
    distance_findings,
    distinct_findings,
    entropy_findings,
    equal_distances,
    ordered_distances,
    share_findings,
    size_findings,
)
from unveil.verifier.manifests import RefinementManifest
from unveil.verifier.records import record_sentences
from unveil.verifier.values import number_text, percent

Stated = dict[str, Any]
Names = Annotated[list[Name], Field(min_length=1, max_length=COLUMNS)]
Texts = Annotated[list[Name], Field(min_length=1)]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, le=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Statement(Part):
    """A requirement as a manifest states it. Each kind is a subclass."""

    kind: str
    role: ClassVar[Literal["quasi-identifier", "channel"]] = "quasi-identifier"
    """The key of the columns that it groups by."""
    at_least: ClassVar[frozenset[str]] = frozenset()
    at_most: ClassVar[frozenset[str]] = frozenset()
    """The keys that ask for more when they are higher, and when they are lower."""
    free: ClassVar[frozenset[str]] = frozenset()
    """The keys that two statements of the same strictness may differ in."""
    takes: ClassVar[Literal["category", "number"] | None] = None
    """The only type that its sensitive column may have: one that names values takes a category, since a limit on 40
    does not limit 40.0."""
    names: Names = Field(alias="quasi-identifier")
    """The columns that it groups by."""

    @property
    def records(self) -> str:
        """The records of a group in words."""
        return f"the records that share a combination of released values of {braced(self.names)}"

    @abstractmethod
    def findings(self, table: Table) -> Iterator[Finding]:
        """The groups that break it, recounted."""

    @abstractmethod
    def sentence(self) -> str:
        """What the release promises, in the words of `docs/release.md`."""

    def as_strict_as(self, asked: Statement, held: Sequence[str]) -> bool:
        """Whether it is of the kind that is asked, on the same columns, and at least as strict on the values held."""
        if type(self) is not type(asked):
            return False
        keys = [key for key in type(self).model_fields if key not in self.free]
        return all(self._key_as_strict(key, getattr(self, key), getattr(asked, key)) for key in keys)

    def _key_as_strict(self, key: str, stated: Any, asked: Any) -> bool:
        if key in self.at_least:
            return bool(stated >= asked)
        if key in self.at_most:
            return bool(stated <= asked)
        if key == "values":
            return set(stated) >= set(asked)
        return set(stated) == set(asked) if isinstance(stated, list) else bool(stated == asked)


class OnSensitive(Statement):
    """A requirement on the sensitive values that groups hold."""

    guarantee: ClassVar[str]
    """What the release promises, with keys in braces and `{records}` for those of a group."""
    sensitive: Name

    def sentence(self) -> str:
        """What the release promises."""
        keys = {key: number_text(value) if isinstance(value, float) else value for key, value in self}
        sentence = self.guarantee.format(**{**keys, "sensitive": quoted(self.sensitive), "records": self.records})
        return sentence[0].upper() + sentence[1:]


class OnSizes(Statement):
    """A requirement on the sizes of groups. A group of k persons has at least k records, which is recounted here."""

    of: Literal["persons"] | None = None
    """Whether sizes are in persons; otherwise they are in records."""
    k: Count

    def sentence(self) -> str:
        """What the release promises about sizes."""
        unit = self.of or "records"
        return f"Every combination of released values of {braced(self.names)} is shared by at least {self.k:,} {unit}."


class KAnonymity(OnSizes):
    """Every group on the quasi-identifier has at least k records, or records of k persons."""

    kind: Literal["k-anonymity"]
    at_least: ClassVar = frozenset({"k"})

    def findings(self, table: Table) -> Iterator[Finding]:
        """Groups that are too small."""
        yield from size_findings(table.place, self.k, table.groups(self))


class Confidence(Statement):
    """In every group on the channel, the share of each of the values is at most the limit."""

    kind: Literal["confidence"]
    role: ClassVar = "channel"
    at_most: ClassVar = frozenset({"limit"})
    takes: ClassVar = "category"
    names: Names = Field(alias="channel")
    sensitive: Name
    values: Texts
    limit: Share

    def findings(self, table: Table) -> Iterator[Finding]:
        """Groups with too large a share of a value."""
        yield from share_findings("confidence", table.place, self.values, self.limit, table.holdings(self))

    def sentence(self) -> str:
        """What the release promises."""
        return f"Among {self.records}, {_share_clause(self.values, self.sensitive, self.limit)}."


class AlphaKAnonymity(OnSizes):
    """Every group has at least k records, and the share of each of the values is at most alpha."""

    kind: Literal["alpha-k-anonymity"]
    at_least: ClassVar = frozenset({"k"})
    at_most: ClassVar = frozenset({"alpha"})
    takes: ClassVar = "category"
    sensitive: Name
    values: Texts
    alpha: Share

    def findings(self, table: Table) -> Iterator[Finding]:
        """Groups that are too small, or with too large a share of a value."""
        holdings = table.holdings(self)
        yield from size_findings(table.place, self.k, holdings.groups)
        yield from share_findings("alpha", table.place, self.values, self.alpha, holdings)

    def sentence(self) -> str:
        """What the release promises."""
        clause = _share_clause(self.values, self.sensitive, self.alpha)
        whole = "them" if self.of is None else "their records"
        return f"{super().sentence()} {clause[0].upper()}{clause[1:]} of {whole}."


class LDiversity(OnSensitive):
    """Every group holds l different sensitive values, or as much entropy as l equally frequent ones."""

    kind: Literal["l-diversity"]
    at_least: ClassVar = frozenset({"l"})
    l: float = Field(ge=1, allow_inf_nan=False)  # noqa: E741 - the name of the model
    variant: Literal["distinct", "entropy"]

    def findings(self, table: Table) -> Iterator[Finding]:
        """Groups with too few values."""
        holdings = table.holdings(self)
        recount = distinct_findings if self.variant == "distinct" else entropy_findings
        yield from recount(table.place, self.l, holdings)

    def sentence(self) -> str:
        """What the release promises."""
        how = {"distinct": "different values", "entropy": "well represented values (entropy)"}[self.variant]
        least = f"{number_text(self.l)} {how} of {quoted(self.sensitive)}"
        return f"T{self.records[1:]} hold at least {least}."


class TCloseness(OnSensitive):
    """The sensitive values of every group are distributed as in the whole release, up to a distance of t."""

    kind: Literal["t-closeness"]
    at_most: ClassVar = frozenset({"t"})
    free: ClassVar = frozenset({"order"})
    guarantee: ClassVar = (
        "among {records}, {sensitive} is distributed as in the whole release up to a distance ({distance}) of {t}."
    )
    t: float = Field(ge=0, le=1)
    distance: Literal["equal", "ordered"]
    order: list[Name] | None

    def findings(self, table: Table) -> Iterator[Finding]:
        """Groups that are too far from the whole release."""
        holdings = table.holdings(self)
        if self.distance == "equal":
            if self.order is not None:
                message = f"{MANIFEST}: {table.place} gives an order, but the equal distance has none."
                yield Finding("requirement", message)
            distances = equal_distances(holdings)
        else:
            entry = table.manifest.masking[self.sensitive]
            number = isinstance(entry, Released) and entry.type != "category"
            distances = ordered_distances(holdings, self._ranks(table.place, holdings, number=number))
        yield from distance_findings(table.place, self.t, distances, holdings)

    def as_strict_as(self, asked: Statement, held: Sequence[str]) -> bool:
        """Also the same order, of the values that the release holds; an owner who declared none takes any."""
        if not super().as_strict_as(asked, held):
            return False
        known, wished = set(held), asked.order if isinstance(asked, TCloseness) else None
        return wished is None or [v for v in self.order or () if v in known] == [v for v in wished if v in known]

    def _ranks(self, place: str, holdings: Holdings, *, number: bool) -> Ranks:
        """The place of each value in the order: by value for numbers, as the manifest lists it for categories."""
        held = [str(value) for value in holdings.sensitive.texts()]
        if problem := _order_problem(held, self.order, number=number):
            raise broken("sensitive", f"{MANIFEST}: {place} protects {self.sensitive!r} and {problem}.")
        if self.order is None:
            return np.arange(len(held), dtype=np.int64)
        known = set(held)
        rank_of = {value: rank for rank, value in enumerate(value for value in self.order if value in known)}
        return np.array([rank_of[value] for value in held], dtype=np.int64)


class BetaLikeness(OnSensitive):
    """In every group, the share of each sensitive value is at most 1 + beta times its share in the whole release."""

    kind: Literal["beta-likeness"]
    at_most: ClassVar = frozenset({"beta"})
    guarantee: ClassVar = (
        "among {records}, the share of every value of {sensitive} is at most 1 + {beta} times its share in the whole "
        "release."
    )
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
                f"{holdings.tally('too much', holdings.owners[high])}.",
            )


class KEAnonymity(OnSensitive):
    """Every group holds k different sensitive numbers, and the largest is at least e above the smallest."""

    kind: Literal["k-e-anonymity"]
    at_least: ClassVar = frozenset({"k", "e"})
    takes: ClassVar = "number"
    guarantee: ClassVar = "{records} hold at least {k:,} different values of {sensitive}, and these span at least {e}."
    k: Count
    e: Positive

    def findings(self, table: Table) -> Iterator[Finding]:
        """Groups with too few numbers, or with numbers too close to each other."""
        holdings = table.holdings(self)
        yield from distinct_findings(table.place, self.k, holdings)
        numbers = [Fraction(str(value)) for value in holdings.sensitive.texts()]
        lowest, highest = holdings.codes[holdings.first], holdings.codes[np.roll(holdings.first, -1)]
        spans = np.array([numbers[high] - numbers[low] for low, high in zip(lowest, highest, strict=True)])
        close = np.flatnonzero(spans < Fraction(str(self.e)))
        if len(close):
            worst = int(np.argmin(spans))
            yield Finding(
                "span",
                f"{PARQUET}: in {holdings.groups.text(worst)} the values of {self.sensitive!r} span "
                f"{float(spans[worst]):.9g}, but {table.place} asks for at least {self.e:g} "
                f"{holdings.tally('too close', close)}.",
            )


def _share_clause(values: Sequence[str], sensitive: str, share: float) -> str:
    """Each value by itself has a bounded share."""
    which = "the value" if len(values) == 1 else "each of the values"
    return f"{which} {', '.join(map(repr, values))} of {quoted(sensitive)} is held by at most {percent(share)}"


def _order_problem(held: Sequence[str], order: Sequence[str] | None, *, number: bool) -> str | None:
    if number:
        return None if order is None else "gives an order, but numbers are ordered by value"
    if order is None:
        return "gives no order of its values"
    if twice := repeated(order):
        return f"lists {listed(twice)} twice in its order"
    if absent := sorted(set(held) - set(order)):
        return f"leaves {listed(absent)} out of its order"
    return None


KINDS: dict[str, type[Statement]] = {
    "k-anonymity": KAnonymity,
    "confidence": Confidence,
    "l-diversity": LDiversity,
    "t-closeness": TCloseness,
    "alpha-k-anonymity": AlphaKAnonymity,
    "beta-likeness": BetaLikeness,
    "k-e-anonymity": KEAnonymity,
}
"""The class of each kind. A kind that is not listed here cannot be checked, which is a finding."""


def read_statement(stated: Stated) -> Statement:
    """A requirement of a manifest; a `KeyError` if its kind is unknown, a `ValidationError` if its shape is wrong."""
    kind = stated.get("kind")
    return KINDS[kind if isinstance(kind, str) else ""].model_validate(stated)


def readable(stated: Stated) -> Statement | None:
    """The same; None if it cannot be read, which `check_requirements` reports."""
    try:
        return read_statement(stated)
    except (KeyError, ValidationError):
        return None


def check_requirements(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """Recounts every requirement that the manifest states."""
    for number, stated in enumerate(manifest.requirements, start=1):
        place = f"requirement {number}"
        try:
            yield from read_statement(stated).findings(Table(manifest, data, place))
        except KeyError:
            kind = stated.get("kind")
            yield Finding("requirement", f"{MANIFEST}: {place} is of the kind {kind!r}, which cannot be checked.")
        except ValidationError as error:
            for clause in describe_errors(error):
                yield Finding("requirement", f"{MANIFEST}: {place} ({stated.get('kind')}): {clause}.")
        except BrokenClaimError as error:
            yield from error.findings


def check_guarantee(manifest: RefinementManifest) -> Iterator[Finding]:
    """The guarantee is the sentence that the requirements and the records left out make, character by character.

    It cannot be checked if a requirement cannot be read.
    """
    statements = [statement for stated in manifest.requirements if (statement := readable(stated)) is not None]
    if len(statements) == len(manifest.requirements):
        sentences = [statement.sentence() for statement in statements]
        expected = " ".join([*sentences, *record_sentences(manifest)])
        yield from guarantee_findings(manifest.guarantee, expected)
