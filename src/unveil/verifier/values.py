"""Values as the verifier computes with them, independently of the code that publishes: scales and derived columns.

On a scale, missing values come after all numbers and dates. The first kind lies at `AFTER`, each next one twice as far.
An interval that ends where all numbers do reaches up to the first kind, so that a cut has no gap there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.errors import TableError, listed
from unveil.verifier.claims import (
    MANIFEST,
    Claims,
    Derived,
    Discretization,
    Entry,
    Generalization,
    Interval,
    Number,
    Released,
    Suppression,
    counted,
)
from unveil.verifier.columns import Column, day_number, encode, number, plain, text
from unveil.verifier.findings import Finding, repeated

if TYPE_CHECKING:
    from unveil.verifier.data import Data

AFTER = 1e302
OR = " or "


Span = tuple[float, float]


def highest(entry: Discretization) -> Number:
    """Where the numbers of a cut or of a vocabulary end."""
    return max((block.hi for block in entry.blocks if block.start is not None), default=0)


def spans(entry: Discretization) -> dict[str, Span]:
    """Where the block of each label begins and ends."""
    kinds = kind_spans(entry)
    found = {}
    for block in entry.blocks:
        held = [kinds[kind] for kind in block.missing if kind in kinds]
        numbers = [] if block.start is None else [span((block.lo, block.hi), entry)]
        parts = [*numbers, *held] or [(0.0, 0.0)]
        found[block.label] = (parts[0][0], parts[-1][1])
    return found


def kind_spans(entry: Discretization) -> dict[str, Span]:
    """Where each kind of missing values lies."""
    return {label: (AFTER * 2.0**kind, AFTER * 2.0 ** (kind + 1)) for kind, label in enumerate(entry.missing)}


def span(bounds: tuple[Number, Number], entry: Discretization) -> Span:
    """Where an interval lies."""
    lo, hi = bounds
    return float(lo), AFTER if entry.missing and hi == highest(entry) else float(hi)


def places(entry: Discretization, values: Sequence[Any]) -> NDArray[np.float64]:
    """Where raw values lie, missing ones by their labels; not a number where there is no such place."""
    read = day_number if entry.unit == "date" else number
    kinds, top = kind_spans(entry), highest(entry)
    found = [kinds[value][0] if isinstance(value, str) and value in kinds else read(value) for value in values]
    inside = [place if place is not None and (place < top or place >= AFTER) else np.nan for place in found]
    return np.array(inside, dtype=np.float64)


def block_labels(parts: Sequence[Interval]) -> set[str]:
    """The labels that a block may have that holds these parts, in order: numbers, missing values, or both."""
    numbered = [part for part in parts if part.start is not None and part.end is not None]
    missing = [kind for part in parts for kind in part.missing]
    if not numbered:
        return {OR.join(missing)}
    lo, hi = numbered[0].start, numbered[-1].end
    return {OR.join((label, *missing)) for label in interval_labels(lo or 0, hi or 0)}


def interval_labels(lo: Number | str, hi: Number | str) -> set[str]:
    """The labels that an interval may have: each bound as a text that reads back as the same number."""
    return {f"[{low}, {high})" for low in _bound_texts(lo) for high in _bound_texts(hi)}


def _bound_texts(number: Number | str) -> set[str]:
    """The shortest text that reads back as the number; a large whole number has more, 1e+16 and its digits.

    The digits are those of the shortest decimal or of the float itself, which may differ from 2^53 on. A date has one
    text.
    """
    if isinstance(number, str):
        return {number}
    texts = {repr(number).removesuffix(".0")}
    if number != int(number):
        return texts
    return {*texts, str(int(number)), str(int(Decimal(repr(number))))}


def missing_problems(entry: Entry) -> Iterator[str]:
    """Kinds of missing values that a reader could mistake for one another, or for values."""
    if twice := repeated(mark for marks in entry.missing.values() for mark in marks):
        yield f"the text {twice[0]!r} means a missing value twice"
    if isinstance(entry, Generalization):
        leaves = {value for block in entry.blocks for value in block.values}
        if absent := [kind for kind in entry.missing if kind not in leaves]:
            yield f"the missing value {absent[0]!r} has no block"
    if isinstance(entry, Discretization):
        yield from _order_problems(entry)


def _order_problems(entry: Discretization) -> Iterator[str]:
    """Missing values follow the numbers: a block with both has all up to the end, and then the first kinds."""
    kinds, top = list(entry.missing), highest(entry)
    if entry.blocks[0].start is None or (kinds and top >= AFTER):
        yield "its first block holds no numbers, or they have no end"
    for block in entry.blocks:
        first = kinds.index(block.missing[0]) if block.missing and block.missing[0] in kinds else 0
        if block.missing != kinds[first : first + len(block.missing)]:
            yield f"the block {block.label!r} holds missing values that are not next to each other"
        elif block.start is not None and block.missing and (first or block.hi != top):
            yield f"the block {block.label!r} holds numbers and missing values that are not next to each other"
    if not entry.local and (absent := set(kinds) - {kind for block in entry.blocks for kind in block.missing}):
        yield f"the missing value {min(absent)!r} has no block"


def missing_mark(value: Any, marks: Sequence[str]) -> str | None:
    """The text that says that a value is missing: the value itself, or one that writes the same number."""
    if isinstance(value, str) or value is None:
        return value if value in marks else None
    read = number(value)
    return next((mark for mark in marks if read is not None and number(mark) == read), None)


def derived_value(way: Derived, value: Any) -> str | None:
    """What is derived from a raw value; None if it is missing, or its text if the column keeps that.

    Raises:
        ValueError: Nothing can be derived from it.
    """
    word = text(value)
    if word is None:
        return None
    if (mark := missing_mark(value, way.missing)) is not None:
        return mark if way.names is not None or mark in way.kept else None
    if way.names is not None:
        return _label(way.names, value, word)
    no, yes = way.values[0], way.values[-1]
    wanted = way.among if way.equals is None else [way.equals]
    if wanted is not None and isinstance(wanted[0], str):
        return yes if word in wanted else no
    dated = any(isinstance(bound, str) for bound in (*way.limits, *(way.bands or ())))
    held = day_number(value) if dated else number(value)
    if held is None:
        raise ValueError("it is not a date" if dated else "it is not a number")
    if wanted is not None:
        return yes if held in wanted else no
    if way.bands is not None:
        begun = [label for bound, label in zip(way.bands, way.values, strict=True) if counted(bound) <= held]
        if not begun:
            raise ValueError("it lies below the first band")
        return begun[-1]
    return yes if _within(way, held) else no


def _label(names: Mapping[str, str], value: Any, code: str) -> str:
    """The label of a code; a whole number may be stored with a fraction of zero."""
    if isinstance(value, float) and value.is_integer():
        code = str(int(value))
    if code not in names and code not in names.values():
        raise ValueError("it has no label")
    return names.get(code, code)


def _within(way: Derived, held: float) -> bool:
    at_least, above, at_most, below = (None if limit is None else counted(limit) for limit in way.limits)
    return not (
        (at_least is not None and held < at_least)
        or (above is not None and held <= above)
        or (at_most is not None and held > at_most)
        or (below is not None and held >= below)
    )


def check_derived(manifest: Claims) -> Iterator[Finding]:
    """What is derived is released, from a column of the raw table, and its cut discloses nothing else."""
    for name, derived in manifest.derived.items():
        if name not in manifest.names:
            yield Finding("derived", f"{MANIFEST} says how {name!r} is derived, but it is not released.")
        if derived.source in manifest.derived and manifest.derived[derived.source].names is None:
            yield Finding("derived", f"{MANIFEST} derives {name!r} from {derived.source!r}, which is derived itself.")
        entry = manifest.masking.get(name)
        if isinstance(entry, Suppression) and entry.domain != "declared":
            yield Finding("derived", f"{MANIFEST}: {name!r} is derived, so its domain is declared, not observed.")
        if isinstance(entry, Suppression) and (odd := sorted(set(entry.disclosed) - _given(derived, entry))):
            yield Finding("derived", f"{MANIFEST}: {name!r} discloses {listed(odd)}, which its derivation never gives.")


def _given(derived: Derived, entry: Entry | None) -> set[str]:
    """What a column can hold: what its derivation gives, and the kinds of missing values that are kept."""
    return {*derived.values, *(() if entry is None else entry.missing)}


def check_derived_values(manifest: Claims, data: Data) -> Iterator[Finding]:
    """A derived column that is released as it is holds what its derivation gives, and nothing else."""
    for name, derived in manifest.derived.items():
        entry = manifest.masking.get(name)
        shown = name in data.columns and isinstance(entry, Released | None)
        if shown and (odd := sorted(set(data.columns[name].named()) - _given(derived, entry))):
            yield Finding("derived", f"the column {name!r} holds {listed(odd)}, which its derivation never gives.")


def derived_columns(derived: Mapping[str, Derived], batch: pa.Table, place: str, *, drops: bool) -> dict[str, Column]:
    """The derived columns of some raw rows. What cannot be derived is missing if such rows are dropped.

    Raises:
        TableError: Nothing can be derived from a value, and the spec does not say to drop its row.
    """
    columns = {}
    for name, way in derived.items():
        raw = encode(way.source, batch[way.source])
        found: list[str | None] = []
        for value in plain(raw.values):
            try:
                found.append(derived_value(way, value))
            except ValueError as error:
                if not drops:
                    raise TableError(f"{place}: {name!r} cannot be derived from {value!r}: {error}.") from error
                found.append(None)
        words = pc.take(pa.array(found, pa.string()), pa.array(raw.codes))
        columns[name] = encode(name, pa.chunked_array([words]))
    return columns
