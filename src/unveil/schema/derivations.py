"""Derived columns: a category that the owner declares as a function of one column. No code is executed.

A derivation compares numbers or dates, bands them, or looks for values. It sees one value at a time, so it treats each
row on its own, and its values are known without the data: their domain is public.
"""

from __future__ import annotations

import math
import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BeforeValidator, model_serializer
from pydantic_core import PydanticCustomError

from unveil.errors import SpecError
from unveil.schema.attributes import Unit, bound_text, interval_label, marks_of, number_of, value_text
from unveil.schema.keys import Section

COMPARED: dict[str, Callable[[float, float], bool]] = {
    "at_least": float.__ge__,
    "above": float.__gt__,
    "at_most": float.__le__,
    "below": float.__lt__,
}
OPERATORS = {">=": "at-least", ">": "above", "<=": "at-most", "<": "below", "==": "equals", "=": "equals", "in": "in"}
_TEXT = re.compile(r"""\s*(?P<column>"[^"]*"|'[^']*'|[^\s<>=!"']+)\s*(?P<operator>>=|<=|==|=|>|<|in\b)(?P<value>.+)""")
SHAPE = "must be written 'age >= 18', 'town == \"Cork\"' or 'town in [\"Cork\", \"Bergen\"]', or as a table with 'from'"


class UnfitError(ValueError):
    """A value that nothing can be derived from; says why, as a clause."""


def _threshold(value: Any) -> int | float | str:
    """A number, or a date as text."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return value
    day = None if isinstance(value, bool | int | float) else number_of(value, "date")
    if day is None or bound_text(day, "date") != str(value):
        raise PydanticCustomError("threshold", "neither a number nor a date")
    return str(value)


def _wanted(value: Any) -> int | float | str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise PydanticCustomError("wanted", "neither text nor a number")
    return value


def _listed(value: Any) -> Any:
    if not isinstance(value, list | tuple) or not value:
        raise PydanticCustomError("tuple_type", "not a list")
    return tuple(value)


Threshold = Annotated[int | float | str, BeforeValidator(_threshold)]
Wanted = Annotated[int | float | str, BeforeValidator(_wanted)]


class Derivation(Section):
    """What a column is derived from, and how: a table in a spec, and an entry of a manifest."""

    from_: str
    at_least: Threshold | None = None
    above: Threshold | None = None
    at_most: Threshold | None = None
    below: Threshold | None = None
    equals: Wanted | None = None
    in_: Annotated[tuple[Wanted, ...], BeforeValidator(_listed)] | None = None
    bands: Annotated[tuple[Threshold, ...], BeforeValidator(_listed)] | None = None
    labels: Annotated[tuple[str, ...], BeforeValidator(_listed)] | None = None
    names: dict[str, str] | None = None
    """For a column that is read under labels: the label of each code. `labels` of the attribute says it in a spec."""
    missing: Annotated[tuple[str, ...], BeforeValidator(tuple)] = ()
    """The texts that mean a missing value. Nothing is derived from it."""
    kept: Annotated[tuple[str, ...], BeforeValidator(tuple)] = ()
    """Those of them that stay as they are, because the derived column keeps missing values by their kinds."""

    @model_serializer
    def describe(self) -> dict[str, Any]:
        """The keys that are given, as a manifest has them."""
        keys = {name: field.alias or name for name, field in type(self).model_fields.items()}
        given = {key: getattr(self, name) for name, key in keys.items() if name in self.model_fields_set}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in given.items() if value != ()}

    @cached_property
    def tests(self) -> dict[str, int | float | str]:
        """The comparisons, which must all hold."""
        return {name: bound for name in COMPARED if (bound := getattr(self, name)) is not None}

    @cached_property
    def wanted(self) -> frozenset[int | float | str]:
        """The values that are looked for."""
        return frozenset(self.in_ or ()) if self.equals is None else frozenset([self.equals])

    @cached_property
    def unit(self) -> Unit | None:
        """As what the values of the source are compared; None if as text."""
        if self.names is not None:
            return None
        if self.wanted:
            return None if any(isinstance(value, str) for value in self.wanted) else "number"
        bounds = self.bands or tuple(self.tests.values())
        return "date" if any(isinstance(bound, str) for bound in bounds) else "number"

    @cached_property
    def values(self) -> tuple[str, ...]:
        """What the derived column can hold, in order: false before true, or the bands."""
        if self.names is not None:
            return tuple(self.names.values())
        if self.labels is not None:
            return self.labels
        if self.bands is None:
            return "false", "true"
        unit = self.unit or "number"
        starts = [_number(bound) for bound in self.bands]
        inner = [interval_label(lo, hi, unit) for lo, hi in pairwise(starts)]
        return *inner, f"{bound_text(starts[-1], unit)} and above"

    def of(self, value: object) -> str | None:
        """What is derived from a raw value; None from a missing one, or its text if it is kept or there are labels."""
        if value is None or value != value:
            return None
        mark = None if isinstance(value, bool) else self._marks.get(value)
        if mark is not None:
            return mark if self.names is not None or mark in self.kept else None
        if self.names is not None:
            return self._named(value)
        if self.unit is None:
            return self.values[value_text(value) in self.wanted]
        number = number_of(value, self.unit)
        if number is None or not math.isfinite(number):
            raise UnfitError(f"is not a {self.unit}")
        if self.bands is not None:
            return self._band(number)
        if self.wanted:
            return self.values[number in self.wanted]
        return self.values[all(COMPARED[name](number, _number(bound)) for name, bound in self.tests.items())]

    @cached_property
    def _marks(self) -> dict[Any, str]:
        return marks_of(self.missing)

    def _named(self, value: object) -> str:
        """The label of a code. A label stays itself, so that rows that have labels already keep them."""
        text = code_text(value)
        label = (self.names or {}).get(text, text)
        if label not in self.values:
            raise UnfitError("has no label")
        return label

    def _band(self, number: float) -> str:
        starts = [_number(bound) for bound in self.bands or ()]
        place = bisect_right(starts, number)
        if not place:
            raise UnfitError(f"lies below the first band, which starts at {self.bands[0] if self.bands else ''}")
        return self.values[place - 1]

    def check(self, place: str) -> None:
        """Refuses keys that contradict each other."""
        ways = [bool(self.tests), self.equals is not None, self.in_ is not None, self.bands is not None]
        if sum(ways) != 1:
            raise SpecError(
                f"{place} derive needs one of a comparison (at-least, above, at-most, below), 'equals', 'in' and "
                f"'bands', and has {'none' if not any(ways) else 'several'}."
            )
        bounds = self.bands or tuple(self.tests.values()) or tuple(self.wanted)
        if len({isinstance(bound, str) for bound in bounds}) > 1:
            raise SpecError(f"{place} derive mixes numbers with texts or dates.")
        starts = [_number(bound) for bound in self.bands or ()]
        if wrong := [hi for lo, hi in pairwise(starts) if not lo < hi]:
            raise SpecError(
                f"{place} derive bands must ascend, but {bound_text(wrong[0], self.unit or 'number')} does not."
            )
        count = len(self.bands or (0, 1))
        if self.labels is not None and len(self.labels) != count:
            what = "one per band" if self.bands else "first the one for false, then the one for true"
            raise SpecError(f"{place} derive has {len(self.labels)} labels, but it needs {count}: {what}.")
        if lost := [label for label in self.values if not label or label in self.missing]:
            raise SpecError(f"{place} derive gives {lost[0]!r}, which means a missing value; write other labels.")
        if marks := [value for value in self.wanted if value in self.missing]:
            raise SpecError(
                f"{place} derive looks for {marks[0]!r}, which means a missing value, so nothing is derived from it."
            )


def code_text(value: object) -> str:
    """A code as text; a whole number may come as a float, since pandas has no missing integers."""
    return value_text(int(value)) if isinstance(value, float) and value.is_integer() else value_text(value)


def _number(bound: int | float | str) -> float:
    return number_of(bound, "date" if isinstance(bound, str) else "number") or 0.0


def read_derivation(value: Any) -> Any:
    """A derivation as text (a column, an operator and a value) as a table; anything else unchanged."""
    if not isinstance(value, str):
        return value
    found = _TEXT.fullmatch(value)
    if found is None:
        raise PydanticCustomError("derivation", "not a derivation")
    column = found["column"][1:-1] if found["column"][0] in "\"'" else found["column"]
    try:
        literal = tomllib.loads(f"value = {found['value'].strip()}")["value"]
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise PydanticCustomError("derivation", "not a derivation") from error
    return {"from": column, OPERATORS[found["operator"]]: literal}


Derived = Annotated[Derivation, BeforeValidator(read_derivation)]
