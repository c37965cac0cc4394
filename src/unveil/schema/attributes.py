"""Attributes and their domains, and raw values as numbers and texts.

The search works on numbers only: numbers are themselves, dates are days since 1970-01-01, and what is missing comes
after all numbers. Raw values become numbers here, and numbers become labels, and nowhere else.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from unveil.schema.taxonomy import Taxonomy

if TYPE_CHECKING:
    from unveil.schema.derivations import Derivation
    from unveil.schema.weights import Weighting

Role = Literal["attribute", "identifier", "survey-weight"]
Kind = Literal["number", "date", "category"]
MaskingKind = Literal["generalization", "suppression", "discretization"]
Unit = Literal["number", "date"]
"""The unit of an ordered value: numbers are themselves, dates are days since 1970-01-01."""
Range = tuple[float, float]
Fineness = tuple[str, ...] | float | str
"""How fine an attribute is: the labels of a cut, or the values that are shown; for a number the step between the
ends of intervals; for a date that step in days, or a period of the calendar."""
EPOCH = datetime.date(1970, 1, 1).toordinal()
LAST_DAY = datetime.date.max.toordinal() - EPOCH
"""The last day of the calendar. An interval has an end after its last day, so no value can be this one."""
FIRST_DAY = datetime.date.min.toordinal() - EPOCH
DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
TIME = re.compile(r"[T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?( ?(Z|[+-]\d{2}(:?\d{2})?))?", re.ASCII)
AFTER_ALL = 1e301
"""The number of the first kind of missing values: larger than any value of a range."""
OR = " or "
"""What joins the label of an interval and those of the missing values in its block."""


@dataclass(frozen=True)
class Missing:
    """Which texts of a column mean a missing value, in addition to nulls, and what happens to rows with one."""

    values: tuple[str, ...] = ("",)
    rows: Literal["drop", "refuse", "keep"] = "refuse"
    kinds: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """If such rows are kept: the label of each kind of missing value, and the texts that mean it."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The values that take the place of missing ones."""
        return tuple(label for label, _ in self.kinds)

    def spares(self, values: Iterable[Any]) -> bool:
        """Whether all of some values, none of which is NaN, are read as they are."""
        return {None, *marks_of(self.values), *self.labels}.isdisjoint(values)

    def reader(self) -> Callable[[Any], Any]:
        """What a raw value is read as: itself, or for a missing one its label, or None if that is not kept.

        A text that means a missing value also means the number that it writes. A null counts as the empty text; if no
        kind has that, it is of the first kind. A value that is called like a missing one is None as well.
        """
        marks, labels = marks_of(self.values), frozenset(self.labels)
        label_of = {mark: label for label, texts in self.kinds for mark in texts}
        of_null = label_of.get("", self.kinds[0][0] if self.kinds else None)

        def read(value: Any) -> Any:
            if value is None or value != value:
                return of_null
            if value in marks and not isinstance(value, bool):
                return label_of.get(marks[value])
            return None if value in labels else value

        return read


def marks_of(texts: Iterable[str]) -> dict[Any, str]:
    """Texts that mean a missing value, by themselves and by the numbers that they write."""
    marks: dict[Any, str] = {number: mark for mark in texts if (number := parse_number(mark)) is not None}
    return marks | {mark: mark for mark in texts}


REFUSED = Missing()
"""The policy of a spec that has none."""


def missing_number(kind: int) -> float:
    """The number of a kind of missing values: they come after all numbers, in the order of the spec."""
    return AFTER_ALL * 10.0**kind


@dataclass(frozen=True)
class Attribute:
    """A column of the table as the owner describes it. A domain that is not declared is observed."""

    name: str
    role: Role = "attribute"
    kind: Kind = "category"
    range: Range | None = None
    """For a number: `[lo, hi)`. For a date the same in days since 1970-01-01."""
    whole: bool = False
    """For a number: integers only. Dates are whole numbers of days."""
    step: float | None = None
    """For a number: the declared resolution."""
    outside: Literal["refuse", "clamp"] = "refuse"
    """For a number or a date: what happens to a value outside the range."""
    values: tuple[str, ...] | None = None
    """For a category without a taxonomy: its values, in domain order."""
    taxonomy: Taxonomy | None = None
    derive: Derivation | None = None
    """What the column is derived from, if the table does not have it."""
    missing: Missing = REFUSED
    """Kinds of missing values that are kept are among the values, or leaves below the root of the taxonomy."""
    gain_weight: float = 1.0
    """The owner's preference: the search multiplies the gain of its refinements by it. `[table] weight` is another."""
    keep: Fineness | None = None
    """The release is at least this fine."""
    finest: Fineness | None = None
    """The release is no finer than this."""
    weighting: Weighting | None = None
    """For a survey weight: what a release shows of it."""

    @property
    def steering(self) -> tuple[str, ...]:
        """The keys by which the owner steers its refinement."""
        asked = {"weight": self.gain_weight != 1, "keep": self.keep is not None, "finest": self.finest is not None}
        return tuple(key for key, is_asked in asked.items() if is_asked)

    @property
    def shown(self) -> bool:
        """Whether a release has the column."""
        if self.weighting is not None:
            return self.weighting.release != "no"
        return self.role == "attribute"

    @property
    def called(self) -> str:
        """What messages call a column that is not an attribute, and why a requirement cannot name it."""
        if self.role == "survey-weight":
            return f"the survey weight {self.name!r}, which is not masked"
        return f"the identifier {self.name!r}, which is never released"

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers or dates, which are masked by intervals."""
        return self.kind != "category"

    @property
    def unit(self) -> Unit:
        """The unit of its numbers."""
        return "date" if self.kind == "date" else "number"

    @property
    def masking(self) -> MaskingKind:
        """How the attribute is masked: the paper's three operations."""
        if self.ordered:
            return "discretization"
        return "suppression" if self.taxonomy is None else "generalization"

    @property
    def declared(self) -> bool:
        """Whether a person declared the domain, so that it is public."""
        if self.ordered:
            return self.range is not None
        if self.taxonomy is not None:
            return self.taxonomy.observed is None
        return self.values is not None


def plain_number(value: float) -> int | float:
    """A whole number as an int, from its shortest decimal: 1e23 is exactly ten to the 23rd, though no float is."""
    return int(Decimal(str(value))) if value == int(value) else float(value)


def number_text(value: float) -> str:
    """The shortest decimal that reads back as the same number; whole numbers have no decimal point."""
    return str(plain_number(value))


def value_text(value: object) -> str:
    """A raw value of a category as text, the way it is released."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def parse_number(value: object) -> float | None:
    """A raw value as a number; None if it is not one. Text must be plain ASCII without digit grouping."""
    if isinstance(value, bool) or (isinstance(value, str) and (not value.isascii() or "_" in value)):
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def number_of(value: object, unit: Unit) -> float | None:
    """A raw value as a number; None if it is not one."""
    return parse_number(value) if unit == "number" else parse_day(value)


def bound_text(number: float, unit: Unit) -> str:
    """A number as labels and messages write it."""
    return number_text(number) if unit == "number" else day_of(number).isoformat()


def interval_label(lo: float, hi: float, unit: Unit = "number") -> str:
    """The label of a half-open interval."""
    return f"[{bound_text(lo, unit)}, {bound_text(hi, unit)})"


def parse_day(value: object) -> float | None:
    """The day of a date, of a time stamp, or of text such as `2019-01-31` or `2019-01-31T23:59:00Z`.

    A time stamp counts as the day it shows, in its own time zone.
    """
    if isinstance(value, datetime.date):
        return float(value.toordinal() - EPOCH)
    if not isinstance(value, str) or not DAY.match(value) or (value[10:] and not TIME.fullmatch(value, 10)):
        return None
    try:
        return float(datetime.date.fromisoformat(value[:10]).toordinal() - EPOCH)
    except ValueError:
        return None


def day_of(number: float) -> datetime.date:
    """The date of a number of days since 1970-01-01."""
    return datetime.date.fromordinal(int(number) + EPOCH)
