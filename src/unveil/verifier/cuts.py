"""The cuts of a manifest: how they mask values, whether rows hold their labels, and what is derived from columns."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import TableError, listed, rows_text
from unveil.verifier.claims import (
    MANIFEST,
    PARQUET,
    Derived,
    Discretization,
    Entry,
    Finding,
    Generalization,
    Masked,
    Released,
    Suppression,
    counted,
    findings_of,
    labels,
    repeated,
)
from unveil.verifier.coverage import AFTER, REST, block_labels, highest, places, spans
from unveil.verifier.data import Column, Data, encode
from unveil.verifier.manifests import Claims, RefinementManifest
from unveil.verifier.records import rounded
from unveil.verifier.values import day_number, number, plain, text

Key = str | int | float | None
"""A released value, or what a raw value is released as."""


def check_cuts(manifest: Claims) -> Iterator[Finding]:
    """Each cut is a partition whose labels cannot be mistaken for one another; local labels may overlap."""
    for name, released in manifest.masking.items():
        yield from findings_of("cut", f"the missing values of {name!r}: ", missing_problems(released))
    for name, entry in manifest.masked.items():
        twice = [] if isinstance(entry, Suppression) else repeated(labels(entry))
        problems = [*_problems(entry), *([f"the label {listed(twice)} appears twice"] if twice else [])]
        yield from findings_of("cut", f"the cut of {name!r}: ", problems)


def check_labels(known: Mapping[str, Sequence[str]], data: Data) -> Iterator[Finding]:
    """Every released value is one of the known labels of its column, if that holds labels."""
    for name, expected in known.items():
        column = data.columns[name]
        code_of = {word: code for code, word in enumerate(column.texts()) if word is not None}
        strange = sorted(code_of.keys() - set(expected))
        if strange:
            count = data.rows_of(column.codes == code_of[strange[0]])
            more = f" (nor are {listed(strange[1:])})" if strange[1:] else ""
            message = f"{PARQUET}: the column {name!r} holds {strange[0]!r} in {rows_text(count)},"
            yield Finding("label", f"{message} which is not one of its labels{more}.")


def check_disclosed(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """A value that no record holds is never disclosed, so a list with such a value belongs to another release.

    Later rows have the list of an earlier release, where it is public already.
    """
    if manifest.masking_of is not None:
        return
    for name, entry in manifest.masked.items():
        held = set(data.columns[name].texts())
        if isinstance(entry, Suppression) and (unheld := [value for value in entry.disclosed if value not in held]):
            yield Finding("disclosed", f"the cut of {name!r} discloses {listed(unheld)}, which no row holds.")


def _problems(entry: Masked) -> Iterator[str]:
    if isinstance(entry, Discretization):
        yield from _interval_problems(entry)
    elif isinstance(entry, Generalization):
        yield from _node_problems(entry)
    else:
        if twice := repeated(entry.disclosed):
            yield f"the disclosed value {listed(twice)} appears twice"
        if entry.marker in entry.disclosed:
            yield f"the marker {entry.marker!r} of hidden values is disclosed as a value"


def _interval_problems(entry: Discretization) -> Iterator[str]:
    for block in entry.blocks:
        if block.start is not None and block.lo >= block.hi:
            yield f"the block {block.label!r} goes from {block.start} to {block.end}, so it holds no {entry.unit}"
        if block.label not in block_labels([block]):
            what = f"from {block.start} to {block.end}" if block.start is not None else "of missing values"
            yield f"the block {what} has the label {block.label!r}"
        if entry.whole and not (block.lo == int(block.lo) and block.hi == int(block.hi)):
            yield f"the block {block.label!r} has a bound that is not whole"
    if entry.local:
        return
    for (left, (_, end)), (right, (start, _)) in pairwise(spans(entry).items()):
        if end != start:
            yield f"the blocks {left!r} and {right!r} {'overlap' if start < end else 'leave a gap'}"


def _node_problems(entry: Generalization) -> Iterator[str]:
    known = set(labels(entry))
    block_of: dict[str, str] = {}
    for block in entry.blocks:
        for value in block.values:
            if value in block_of and not entry.local:
                yield f"the value {value!r} lies in {block_of[value]!r} and in {block.label!r}"
            block_of[value] = block.label
        if not entry.local and f"{block.label}{REST}" in known:
            yield f"the label {block.label!r} is a block, and so is what others leave of it"
        if block.rest and not entry.local:
            yield f"the block {block.label!r} is called a rest, but the cut lists all that it covers"
        if repeated(block.values):
            yield f"the block {block.label!r} lists {listed(repeated(block.values))} twice"
    for block in entry.blocks:
        if block.label in block_of and block.values != [block.label]:
            yield f"the label {block.label!r} of {len(block.values):,} values is itself a raw value"


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


def masked_values(entry: Entry | None, values: Sequence[Any]) -> list[Key]:
    """What each raw value is released as; None if it is missing or no block holds it.

    The class has no entry: it is released as it is.
    """
    if isinstance(entry, Discretization):
        raw = places(entry, values)
        starts, ends = np.array(list(spans(entry).values())).T
        found = np.searchsorted(starts, raw, side="right") - 1
        inside = (found >= 0) & (raw < ends[found])
        return [entry.blocks[place].label if held else None for place, held in zip(found, inside, strict=True)]
    if isinstance(entry, Generalization):
        label_of = {value: block.label for block in entry.blocks for value in block.values}
        return [label_of.get(text(value) or "") for value in values]
    if isinstance(entry, Suppression):
        disclosed = set(entry.disclosed)
        texts = [text(value) for value in values]
        return [word if word is None or word in disclosed else entry.marker for word in texts]
    if isinstance(entry, Released) and entry.survey_weight is not None and entry.survey_weight.step is not None:
        step = entry.survey_weight.step
        return [None if weight is None else rounded(weight, step) for weight in map(number, values)]
    return released_values(entry, values)


def released_values(entry: Entry | None, values: Sequence[Any]) -> list[Key]:
    """Released values in a form that compares with masked raw ones."""
    if isinstance(entry, Released) and entry.type == "number":
        return [number(value) for value in values]
    if isinstance(entry, Released) and entry.type == "date":
        return [day_number(value) for value in values]
    return [text(value) for value in values]


def missing_mark(value: Any, marks: Sequence[str]) -> str | None:
    """The text that says that a value is missing: the value itself, or one that writes the same number."""
    if isinstance(value, str) or value is None:
        return value if value in marks else None
    read = number(value)
    return next((mark for mark in marks if read is not None and number(mark) == read), None)


def derived_value(way: Derived, value: Any) -> str | None:
    """What is derived from a raw value; None if it is missing, or its text if the column keeps that.

    It is a `ValueError` if nothing can be derived from it.
    """
    word = text(value)
    if word is None:
        return None
    if (mark := missing_mark(value, way.missing)) is not None:
        return mark if way.names is not None or mark in way.kept else None
    if way.names is not None:
        return _code_label(way.names, value, word)
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
    return yes if _fits(way, held) else no


def _code_label(names: Mapping[str, str], value: Any, code: str) -> str:
    """The label of a code; a whole number may be stored with a fraction of zero."""
    if isinstance(value, float) and value.is_integer():
        code = str(int(value))
    if code not in names and code not in names.values():
        raise ValueError("it has no label")
    return names.get(code, code)


def _fits(way: Derived, held: float) -> bool:
    limits = zip(way.limits, (operator.ge, operator.gt, operator.le, operator.lt), strict=True)
    return all(compare(held, counted(limit)) for limit, compare in limits if limit is not None)


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
    """The derived columns of some raw rows. What cannot be derived is missing if such rows are dropped."""
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
