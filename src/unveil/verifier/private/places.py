"""Where raw values lie in the declared domains of a private spec, and which rows of each person it uses.

If ε is about one person, a private release uses at most m of a person's rows: those with the m smallest numbers. The
number of a row is made of its person, of the places of its values in the declared domains and, among equal rows, of a
counter, by the public function SplitMix64.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil.verifier.claims import (
    Discretization,
    Masked,
)
from unveil.verifier.cuts import masked_values
from unveil.verifier.data import Codes, Column
from unveil.verifier.private import label_places
from unveil.verifier.raw import Raw, read_raw
from unveil.verifier.raw.persons import Words, person_words
from unveil.verifier.values import day_number, number, plain, text

if TYPE_CHECKING:
    from unveil.schema import Attribute, Spec
if TYPE_CHECKING:
    from unveil.schema import Attribute, Spec
    from unveil.verifier.raw import Raw

Places = NDArray[np.int64]
NOWHERE = -1
ROUNDED = Fraction(1, 10**6)
"""By how much of a step a number may be off its place."""


def used_raw(spec: Spec) -> Iterator[Raw]:
    """The raw rows of a spec that a private release uses: all, or of every person at most as many as the spec says."""
    if spec.plan is None or spec.plan.contributions is None:
        yield from read_raw(spec)
        return
    batches = list(read_raw(spec))
    for raw, used in zip(batches, used_rows(spec, batches, spec.plan.contributions), strict=True):
        yield raw.where(used)


def used_rows(spec: Spec, batches: Sequence[Raw], most: int) -> list[NDArray[np.bool_]]:
    """Which rows of each batch are used. A row with a value outside its domain is dropped and not counted."""
    persons = np.concatenate([person_words([raw.columns[name] for name in spec.table.person]) for raw in batches])
    places = np.concatenate([_row_places(spec, raw) for raw in batches])
    valid = np.flatnonzero((places != NOWHERE).all(axis=1))
    rows = np.column_stack([persons[valid], places[valid].astype(np.uint64)])
    kept = valid[_smallest(rows, most)]
    used = np.zeros(len(places), dtype=np.bool_)
    used[kept] = True
    return np.split(used, np.cumsum([len(raw.weights) for raw in batches])[:-1])


def _smallest(rows: Words, most: int) -> Places:
    """The places of the rows that are used; the first two numbers of a row are its person."""
    hashed = np.zeros(len(rows), dtype=np.uint64)
    for values in rows.T:
        hashed = _mixed(hashed ^ values)
    hashed = _mixed(hashed ^ _nth([rows[:, 0], rows[:, 1], hashed]).astype(np.uint64))
    order = np.lexsort([hashed, rows[:, 1], rows[:, 0]])
    return order[_nth([rows[order, 0], rows[order, 1]]) < most]


def _nth(keys: Sequence[Words]) -> Places:
    """How many rows with the same keys come before each."""
    order = np.lexsort(list(reversed(keys)))
    same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
    for key in keys:
        same &= key[order][1:] == key[order][:-1]
    starts = np.flatnonzero(np.concatenate([[True], ~same]))[: len(order)]
    nth = np.empty(len(order), dtype=np.int64)
    nth[order] = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    return nth


def _mixed(numbers: Words) -> Words:
    """SplitMix64."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    mixed: Words = numbers ^ (numbers >> np.uint64(31))
    return mixed


def _row_places(spec: Spec, raw: Raw) -> Places:
    """For every row the places of its values in the declared domains, and of its class."""
    shown = {name: attribute for name, attribute in spec.attributes.items() if attribute.role == "attribute"}
    found = [_places(raw.columns[name], attribute) for name, attribute in shown.items()]
    return np.stack([*found, _label_places(raw.columns[spec.table.class_], spec.table.class_values)], axis=1)


def _places(column: Column, attribute: Attribute) -> Places:
    if attribute.kind == "category":
        return _label_places(column, attribute.values if attribute.taxonomy is None else attribute.taxonomy.leaves)
    return column.mapped(lambda value: _number_place(value, attribute), np.int64)


def _label_places(column: Column, declared: Sequence[str] | None) -> Places:
    place_of = {label: place for place, label in enumerate(declared or ())}

    def place(value: Any) -> int:
        whole = isinstance(value, float) and value.is_integer()
        return place_of.get(str(int(value)) if whole else text(value) or "", NOWHERE)

    return column.mapped(place, np.int64)


def _number_place(value: Any, attribute: Attribute) -> int:
    """How many steps a number or a day is above the lowest; kinds of missing values come after all numbers."""
    step = Fraction(1) if attribute.whole else None if attribute.step is None else Fraction(str(attribute.step))
    if attribute.range is None or step is None:
        return NOWHERE
    lo, hi = (Fraction(str(bound)) for bound in attribute.range)
    size = int((hi - lo) / step)
    if value in attribute.missing.labels:
        return size + attribute.missing.labels.index(value)
    read = (day_number if attribute.kind == "date" else number)(value)
    if read is None:
        return NOWHERE
    exact = (Fraction(str(read)) - lo) / step
    if attribute.outside == "clamp":
        exact = min(max(exact, Fraction(0)), Fraction(size - 1))
    place = round(exact)
    return place if abs(exact - place) <= ROUNDED and 0 <= place < size else NOWHERE


def raw_places(column: Column, labels: Sequence[str], entry: Masked | None, attribute: Attribute | None) -> Codes:
    """For every raw row the place of its label, or of its class; -1 if it has none."""
    values = [_whole(value) for value in plain(column.values)]
    if entry is None or attribute is None:
        return label_places(labels, map(text, values))[column.codes]
    if attribute.values is not None:
        values = [value if text(value) in attribute.values else None for value in values]
    if attribute.outside == "clamp":
        values = [_clamped(entry, value) for value in values]
    if attribute.kind == "number":
        kinds = attribute.missing.labels
        values = [value if value in kinds or _on_grid(number(value), attribute) else None for value in values]
    return label_places(labels, masked_values(entry, values))[column.codes]


def _whole(value: Any) -> Any:
    """A column with missing values holds whole numbers as floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _on_grid(value: float | None, attribute: Attribute) -> bool:
    """Whether a number is one that the owner declared, up to rounding."""
    step = 1.0 if attribute.whole else attribute.step
    if value is None or step is None or attribute.range is None:
        return False
    place = (Fraction(str(value)) - Fraction(str(attribute.range[0]))) / Fraction(str(step))
    return abs(place - round(place)) <= Fraction(1, 10**6)


def _clamped(entry: Masked, value: Any) -> Any:
    """A value outside the range becomes one inside; only its block matters."""
    if not isinstance(entry, Discretization):
        return value
    read = (day_number if entry.unit == "date" else number)(value)
    if isinstance(read, int) and int(float(read)) != read:
        return None  # a float cannot hold all its digits
    blocks = [block for block in entry.blocks if block.start is not None]
    if read is None or blocks[0].lo <= read < blocks[-1].hi:
        return value
    return (blocks[0] if read < blocks[0].lo else blocks[-1]).start
