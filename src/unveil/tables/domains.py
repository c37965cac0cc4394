"""The values of attributes in domain order: raw values checked against the spec and coded, value by value.

If the owner asks to drop invalid rows, a value for which the table would be refused counts as missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import BoolArray, FloatArray, IntArray, NumberArray
from unveil.errors import TableError, did_you_mean, rows_text
from unveil.masking import Scale
from unveil.schema import (
    AFTER_ALL,
    LAST_DAY,
    MILLIONTHS,
    SUPPRESSED,
    Attribute,
    Range,
    Spec,
    Unit,
    grid_of,
    interval_label,
    missing_number,
    number_of,
    number_text,
    off_step,
    rounded_weight,
    value_text,
    widened,
    widened_days,
)
from unveil.tables.columns import Check, Codes, RawColumn, declared_label_type, label_type, number_array, number_type
from unveil.tables.persons import Persons

FEW_DIGITS = r"^-?[0-9]{1,15}(\.[0-9]{1,30})?$"
"""Numbers whose digits before the point a float can hold."""
LARGEST = 1e300
"""The largest number of an observed range, which must end above its values."""
LARGEST_POPULATION = 2.0**62 / MILLIONTHS
"""Sums of survey weights are exact below this."""
LARGEST_WEIGHT = 2**31
"""If invalid rows are dropped, a larger weight is invalid, so that no single row makes the sum too large."""


@dataclass(frozen=True)
class RawValues:
    """Distinct raw values of a column and how many rows hold each."""

    name: str
    distinct: tuple[Any, ...]
    rows: IntArray
    type: pa.DataType

    def without(self, gone: BoolArray) -> RawValues:
        """The other values."""
        held = tuple(value for value, left_out in zip(self.distinct, gone, strict=True) if not left_out)
        return RawValues(self.name, held, self.rows[~gone], self.type)

    def rows_with(self, values: Sequence[Any]) -> int:
        """How many rows hold one of these values."""
        wanted = set(values)
        return sum(int(count) for value, count in zip(self.distinct, self.rows, strict=True) if value in wanted)


@dataclass(frozen=True)
class Domain:
    """The values of an attribute, in domain order. The position of a value is its code."""

    name: str
    values: tuple[str, ...] | NumberArray
    type: pa.DataType
    """The type in which unmasked values are released."""
    missing: tuple[str, ...] = ()
    """For a number: the labels of its last values, those that are missing. A category has them among its values."""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def array(self) -> pa.Array:
        """The values as they are released if they are not masked."""
        if isinstance(self.values, tuple):
            return pa.array(self.values, pa.string()).cast(self.type)
        return number_array(self.values, self.type)

    def plain(self) -> list[Any]:
        """The values as a masking knows them: the labels of missing ones, not nulls."""
        held: list[Any] = self.array.to_pylist()
        return [*held[: len(held) - len(self.missing)], *self.missing]

    @property
    def texts(self) -> tuple[str, ...]:
        """The values as texts."""
        numbers = self.values[: len(self.values) - len(self.missing)]
        return (*(str(value) for value in numbers), *self.missing)


@dataclass(frozen=True)
class Column(Domain):
    """A domain and, per row, the code of its value."""

    codes: Codes = field(kw_only=True)


class Coding(NamedTuple):
    """A domain, and which of its codes each distinct raw value has."""

    domain: Domain
    code_of: Codes


@dataclass(frozen=True)
class Outline:
    """Attributes, domains and single-attribute counts, in the order of the spec, identifiers left out."""

    attributes: tuple[Attribute, ...]
    columns: tuple[Domain, ...]
    classes: Domain
    histograms: tuple[IntArray, ...]
    """The `[value, class]` counts of every attribute."""
    others: pa.Schema
    """Columns that the spec does not describe and releases as they are."""
    read: int
    dropped: int
    withheld: int
    """How many rows are held back because of earlier releases."""
    records: int
    """How many records the rows represent."""
    weighted: bool
    origin: str
    persons: Persons | None
    """Whose rows they are, if the table says so."""

    @property
    def size(self) -> int:
        """The size of the group of all rows: its persons, or its records if the table does not say whose they are."""
        return self.records if self.persons is None else self.persons.count

    @property
    def rows(self) -> int:
        """How many rows are left after the missing-value policy."""
        return self.read - self.dropped - self.withheld

    def bounds(self, place: int) -> Range:
        """The range of a number: declared, or observed and widened to round numbers."""
        attribute = self.attributes[place]
        if attribute.range is not None:
            return attribute.range
        values = np.asarray(self.columns[place].values, dtype=np.float64)
        values = values[values < AFTER_ALL]
        if not len(values):
            raise TableError(
                f"{self.origin}: the column {attribute.name!r} is missing in every row, so it needs a declared range."
            )
        lo, hi = float(values.min()), float(values.max())
        return widened_days(lo, hi) if attribute.unit == "date" else widened(lo, hi, whole=attribute.whole)

    def scale(self, place: int) -> Scale:
        """The range of a number, and after it the kinds of missing values."""
        return Scale.of(self.attributes[place], self.bounds(place))


def text_coding(raw: RawValues, attribute: Attribute, origin: str, *, private: bool = False) -> Coding:
    """Codes of a category: leaves of its taxonomy, its declared values, or the observed values in sorted order.

    Among observed values, the kinds of missing ones that are kept come last.

    In a private table 1.0 is read as 1: in pandas, a missing value turns a column of integers into floats.
    """
    texts = [plain_text(value) if private else value_text(value) for value in raw.distinct]
    domain = declared_values(attribute)
    if domain is None:
        held, labels = set(texts), attribute.missing.labels
        domain = (*sorted(held.difference(labels)), *(label for label in labels if label in held))
    code_of = {value: code for code, value in enumerate(domain)}
    place = f"{origin}: attribute {attribute.name!r}"
    for value, text in zip(raw.distinct, texts, strict=True):
        if text == SUPPRESSED or text not in code_of:
            rows = rows_text(raw.rows_with([value]))
            raise TableError(f"{place}: the value {text!r} ({rows}) {_not_a_value(text, attribute, domain)}")
    return Coding(Domain(raw.name, domain, pa.string()), np.array([code_of[text] for text in texts], dtype=np.int32))


def declared_values(attribute: Attribute) -> tuple[str, ...] | None:
    """The values that a category may have, in domain order; None where they are observed."""
    return attribute.taxonomy.leaves if attribute.taxonomy is not None else attribute.values


def class_coding(raw: RawValues, attribute: Attribute, origin: str, *, private: bool) -> Coding:
    """The class: coded as a category, released with its type.

    In a private table the type follows from the declaration alone, since the type of a column may depend on its values.
    """
    domain, code_of = text_coding(raw, attribute, origin, private=private)
    labels = [str(label) for label in domain.values]
    type_ = declared_label_type(labels) if private else label_type(raw.type, labels)
    return Coding(replace(domain, type=type_), code_of)


def plain_text(value: Any) -> str:
    """A raw value of a private category as text, like any other, but whole numbers have no decimal point."""
    whole = isinstance(value, float) and value.is_integer()
    return number_text(value) if whole else value_text(value)


def _not_a_value(text: str, attribute: Attribute, domain: Sequence[str]) -> str:
    if text == SUPPRESSED:
        return "looks like a suppressed one, so a release could not tell them apart."
    taxonomy = attribute.taxonomy
    if taxonomy is None:
        return f"is not among its declared values{did_you_mean(text, domain) or '.'}"
    if text in taxonomy:
        return f"is an inner label of the taxonomy {taxonomy.origin}, not a raw value."
    return f"is not a leaf of the taxonomy {taxonomy.origin}{did_you_mean(text, domain) or '.'}"


def number_coding(raw: RawValues, attribute: Attribute, origin: str, *, snap: bool = False) -> Coding:
    """Codes of a number: its observed values in ascending order, checked against the declared range.

    Kinds of missing values that are kept come after all numbers. A value that is off its step only by rounding is
    replaced with that of the step if `snap` is set. A private release needs this: values must be exactly those from
    which splits are drawn.
    """
    kinds = {label: missing_number(kind) for kind, label in enumerate(attribute.missing.labels)}
    place = f"{origin}: attribute {attribute.name!r}"
    if kinds:
        gone = np.array([isinstance(value, str) and value in kinds for value in raw.distinct], dtype=np.bool_)
        numbers: NumberArray = np.array([kinds.get(value, 0.0) for value in raw.distinct], dtype=np.float64)
        numbers[~gone] = _checked(raw.without(gone), attribute, place, snap)
    else:
        gone = np.zeros(0, dtype=np.bool_)
        numbers = _checked(raw, attribute, place, snap)
    # -0.0 becomes 0.0, whichever of the two appeared first.
    distinct, code_of = np.unique(numbers + 0.0, return_inverse=True)
    values = distinct.astype(np.int64) if attribute.whole and not gone.any() else distinct
    held = tuple(label for label, number in kinds.items() if number in distinct)
    return Coding(Domain(raw.name, values, number_type(raw.type, attribute), held), code_of.astype(np.int32))


def _checked(raw: RawValues, attribute: Attribute, place: str, snap: bool) -> NumberArray:
    """The numbers of raw values, none of which is missing."""
    numbers = _numbers(raw, place, attribute.unit)
    if attribute.outside == "clamp" and (grid := grid_of(attribute)) is not None:
        numbers = np.clip(numbers, float(grid.value(0)), float(grid.value(grid.size - 1)))
    _check_steps(numbers, raw, attribute, place)
    if snap and (grid := grid_of(attribute)) is not None:
        numbers = grid.values(grid.places(numbers))
    _check_range(numbers, raw, attribute, place)
    return numbers


def _check_steps(numbers: NumberArray, raw: RawValues, attribute: Attribute, place: str) -> None:
    if attribute.whole:
        _refuse(numbers != np.floor(numbers), raw, place, "is not whole")
        _refuse(np.abs(numbers) > 2**53, raw, place, "is too large for an exact whole number")
    if attribute.step is not None:
        start = attribute.range[0] if attribute.range is not None else 0.0
        off = off_step(numbers, start, attribute.step)
        _refuse(off, raw, place, f"is not a multiple of its step {number_text(attribute.step)}")


def _check_range(numbers: NumberArray, raw: RawValues, attribute: Attribute, place: str) -> None:
    if attribute.unit == "date":
        _refuse(numbers >= LAST_DAY, raw, place, "is the last possible day, so no interval can end after it")
    if attribute.range is not None:
        lo, hi = attribute.range
        outside = (numbers < lo) | (numbers >= hi)
        _refuse(outside, raw, place, f"lies outside its range {interval_label(lo, hi, attribute.unit)}")
    else:
        _refuse(np.abs(numbers) > LARGEST, raw, place, "is too large for an observed range")


def _refuse(wrong: BoolArray, raw: RawValues, place: str, rule: str) -> None:
    if wrong.any():
        values = [value for value, bad in zip(raw.distinct, wrong, strict=True) if bad]
        others = "" if len(values) == 1 else f", the first of {len(values):,} such values,"
        raise TableError(
            f"{place}: the value {value_text(values[0])}{others} {rule} ({rows_text(raw.rows_with(values))})."
        )


def _numbers(raw: RawValues, place: str, unit: Unit = "number") -> FloatArray:
    """Raw values as numbers. Texts of few digits, as most are, are read all at once."""
    if unit == "number" and all(isinstance(value, str) for value in raw.distinct):
        texts = pa.array(raw.distinct, pa.string())
        if pc.all(pc.match_substring_regex(texts, FEW_DIGITS)).as_py():
            return np.asarray(texts.cast(pa.float64()), dtype=np.float64)
    return np.array([_number(value, place, raw, unit) for value in raw.distinct], dtype=np.float64)


def _number(value: Any, place: str, raw: RawValues, unit: Unit = "number") -> float:
    number = number_of(value, unit)
    if number is None:
        rows = rows_text(raw.rows_with([value]))
        raise TableError(f"{place}: the value {value_text(value)!r} ({rows}) is not a {unit}.")
    if not np.isfinite(number):
        raise TableError(f"{place}: the value {value_text(value)!r} is not a finite number.")
    if unit == "number" and not _is_exact(value, number):
        raise TableError(f"{place}: the value {value_text(value)!r} has more digits than a number can hold.")
    return number


def _is_exact(value: Any, number: float) -> bool:
    """Whether an integer or a decimal is exact as a float. Other text is the float that it parses to."""
    if isinstance(value, str):
        return not value.lstrip("+-").isdigit() or Decimal(value) == int(number)
    return not isinstance(value, int | Decimal) or Decimal(value) == Decimal(number_text(number))


def weights(raw: RawValues, origin: str, most: int = 2**53) -> IntArray:
    """How many records a row represents, by the distinct values of its weight column."""
    place = f"{origin}: weight column {raw.name!r}"
    numbers = _numbers(raw, place)
    _refuse((numbers < 1) | (numbers != np.floor(numbers)), raw, place, "is not a whole number above 0")
    _refuse(numbers > most, raw, place, f"is more than {most:,} records")
    records = [int(number) for number in numbers]
    if sum(record * int(rows) for record, rows in zip(records, raw.rows, strict=True)) > 2**53:
        raise TableError(f"{place}: the weights add up to more records than can be counted exactly.")
    return np.array(records, dtype=np.int64)


def weight_coding(raw: RawValues, attribute: Attribute, origin: str) -> Coding:
    """Codes of a survey weight, rounded if the release shows it so."""
    numbers, weighting = survey_weights(raw, origin), attribute.weighting
    kind = number_type(raw.type, attribute)
    if weighting is not None and weighting.release == "rounded" and weighting.step is not None:
        step, kind = weighting.step, pa.float64()
        numbers = np.array([rounded_weight(Fraction(str(number)), step) for number in numbers.tolist()])
    distinct, code_of = np.unique(numbers, return_inverse=True)
    return Coding(Domain(raw.name, distinct, kind), code_of.astype(np.int32))


def survey_weights(raw: RawValues, origin: str) -> FloatArray:
    """How many people of the population a record represents, by the distinct values of the column."""
    place = f"{origin}: survey weight {raw.name!r}"
    numbers = _numbers(raw, place)
    _refuse(numbers < 0, raw, place, "is below 0")
    if numbers @ raw.rows >= LARGEST_POPULATION:
        raise TableError(f"{place}: the weights add up to more people than can be counted exactly.")
    if len(numbers) and not numbers.any():
        raise TableError(f"{place}: all weights are 0, so nobody is represented.")
    return numbers + 0.0


def value_checks(spec: Spec, origin: str) -> Mapping[str, Check]:
    """The check of each column, value by value; empty if an invalid value means that the table is refused."""
    if not spec.table.drops_invalid:
        return {}
    checks: dict[str, Check] = {spec.table.class_: _declared(spec.table.class_values)}
    for attribute in spec.released:
        coding = partial(number_coding, attribute=attribute, origin=origin, snap=True)
        declared = declared_values(attribute)
        checks[attribute.name] = partial(_refused, coding=coding) if attribute.ordered else _declared(declared)
    if spec.table.weight is not None:
        weighing = partial(weights, origin=origin, most=LARGEST_WEIGHT)
        checks[spec.table.weight] = partial(_refused, coding=weighing)
    return {**checks, **dict.fromkeys(spec.table.person, _anything)}


def _anything(raw: RawColumn) -> list[int]:
    """Every value says whose row it is."""
    return []


def _declared(values: Iterable[str] | None) -> Check:
    return partial(_undeclared, declared=frozenset(values or ()))


def _undeclared(raw: RawColumn, declared: frozenset[str]) -> list[int]:
    """The values that are not among those of a category."""
    return [place for place, value in enumerate(raw.distinct) if plain_text(value) not in declared]


def _refused(raw: RawColumn, coding: Callable[[RawValues], object], places: range | None = None) -> list[int]:
    """The values that cannot be coded. All are tried together and, if that fails, each half separately."""
    places = range(len(raw.distinct)) if places is None else places
    values = tuple(raw.distinct[place] for place in places)
    try:
        coding(RawValues(raw.name, values, np.ones(len(values), dtype=np.int64), raw.type))
    except TableError:
        if len(places) == 1:
            return list(places)
        half = len(places) // 2
        return [*_refused(raw, coding, places[:half]), *_refused(raw, coding, places[half:])]
    return []
