"""The rows that a private release uses where ε is about one person, found again in the raw table.

Of a person with more than m rows, those with the m smallest numbers are used. The number of a row is made of its
person, of the places of its values in the declared domains and, among equal rows, of a counter, by the public function
SplitMix64. A person is the BLAKE2b hash of the texts in the person columns, each after its length and a colon.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil.verifier.columns import Column, day_number, number, plain, text
from unveil.verifier.raw import Raw, read_raw

if TYPE_CHECKING:
    from unveil.schema import Attribute, Spec

Words = NDArray[np.uint64]
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
        columns = {name: Column(name, column.values, column.codes[used]) for name, column in raw.columns.items()}
        yield Raw(columns, raw.weights[used], raw.read, raw.dropped)


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


def person_words(columns: Sequence[Column]) -> Words:
    """Two numbers for the person of each row."""
    texts = [[_person(value) for value in plain(column.values)] for column in columns]
    known: dict[tuple[int, ...], tuple[int, int]] = {}
    found = np.empty((len(columns[0].codes), 2), dtype=np.uint64)
    for row, codes in enumerate(zip(*(column.codes.tolist() for column in columns), strict=True)):
        if codes not in known:
            said = "".join(f"{len(held[code])}:{held[code]}" for held, code in zip(texts, codes, strict=True))
            digest = blake2b(said.encode(), digest_size=16).digest()
            known[codes] = (int.from_bytes(digest[:8], "little") >> 2, int.from_bytes(digest[8:], "little") >> 2)
        found[row] = known[codes]
    return found


def _person(value: Any) -> str:
    """The text of a person; a whole number has no decimal point."""
    if isinstance(value, float | Decimal) and value == value // 1:
        return str(int(value))
    return text(value) or ""


def _row_places(spec: Spec, raw: Raw) -> Places:
    """For every row the places of its values in the declared domains, and of its class."""
    found = []
    for name, attribute in spec.attributes.items():
        if attribute.role == "attribute":
            found.append(_places(raw.columns[name], attribute))
    labels = {label: place for place, label in enumerate(spec.table.class_values or ())}
    class_ = raw.columns[spec.table.class_]
    found.append(np.array([_label(value, labels) for value in plain(class_.values)], dtype=np.int64)[class_.codes])
    return np.stack(found, axis=1)


def _places(column: Column, attribute: Attribute) -> Places:
    values = plain(column.values)
    if attribute.kind == "category":
        declared = attribute.values if attribute.taxonomy is None else attribute.taxonomy.leaves
        labels = {label: place for place, label in enumerate(declared or ())}
        return np.array([_label(value, labels) for value in values], dtype=np.int64)[column.codes]
    return np.array([_number_place(value, attribute) for value in values], dtype=np.int64)[column.codes]


def _label(value: Any, labels: dict[str, int]) -> int:
    whole = isinstance(value, float) and value.is_integer()
    return labels.get(str(int(value)) if whole else text(value) or "", NOWHERE)


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
