"""Which raw values a column may hold, decided for each value by itself.

Where the owner says that invalid rows are dropped, a value that the table would be refused for counts as missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from unveil.errors import TableError
from unveil.schema import Spec
from unveil.tables import columns
from unveil.tables.columns import MISSING, RawColumn, RawValues

Check = Callable[[RawColumn], list[int]]
"""The places of the distinct values that do not belong to a column."""
LARGEST_WEIGHT = 2**31
"""A larger weight is invalid where invalid rows are dropped, so that no single row makes the sum too large to count."""


def value_checks(spec: Spec, origin: str) -> Mapping[str, Check]:
    """What each column is checked with, value by value; nothing where a wrong value is refused with the whole table."""
    if not spec.table.drops_invalid:
        return {}
    checks: dict[str, Check] = {spec.table.class_: _declared(spec.table.class_values)}
    for attribute in spec.released:
        coding = partial(columns.number_coding, attribute=attribute, origin=origin, snap=True)
        declared = columns.declared_values(attribute)
        checks[attribute.name] = partial(_refused, coding=coding) if attribute.ordered else _declared(declared)
    if spec.table.weight is not None:
        weights = partial(columns.weights, origin=origin, most=LARGEST_WEIGHT)
        checks[spec.table.weight] = partial(_refused, coding=weights)
    return checks


def checked_column(
    name: str, column: pa.ChunkedArray, marks: Sequence[str], origin: str, checks: Mapping[str, Check]
) -> RawColumn:
    """The distinct values of a column; those that its check finds are missing."""
    if name not in checks:
        return columns.raw_column(name, column, marks, origin)
    raw = columns.raw_column(name, column, marks, origin, alone=True)
    wrong = checks[name](raw)
    if not wrong:
        return raw
    held = np.delete(np.arange(len(raw.distinct)), wrong)
    lookup = np.full(len(raw.distinct) + 1, MISSING, dtype=np.int32)  # what is missing already is at -1
    lookup[held] = np.arange(len(held))
    return replace(raw, distinct=tuple(raw.distinct[place] for place in held), indices=lookup[raw.indices])


def _declared(values: Iterable[str] | None) -> Check:
    return partial(_undeclared, declared=frozenset(values or ()))


def _undeclared(raw: RawColumn, declared: frozenset[str]) -> list[int]:
    """The values that are not among those of a category."""
    return [place for place, value in enumerate(raw.distinct) if columns.plain_text(value) not in declared]


def _refused(raw: RawColumn, coding: Callable[[RawValues], object], places: range | None = None) -> list[int]:
    """The values that cannot be coded. All are tried together, and each half by itself where that fails."""
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
