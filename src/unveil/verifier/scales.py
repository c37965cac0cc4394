"""Where the blocks of numbers and dates lie, if some hold missing values: these come after all numbers.

The first kind of missing values lies at `AFTER`, each next one twice as far. An interval that ends where all numbers do
reaches up to the first kind, so that a cut has no gap there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.verifier.claims import Discretization, Entry, Generalization, Interval, Number
from unveil.verifier.columns import number
from unveil.verifier.days import day_number
from unveil.verifier.findings import repeated

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
