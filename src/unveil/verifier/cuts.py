"""The cuts of a manifest, how they mask values, and whether the rows hold their labels, complete and sorted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from unveil.errors import listed, records_text, rows_text
from unveil.verifier.claims import (
    MANIFEST,
    PARQUET,
    Claims,
    Discretization,
    Entry,
    Generalization,
    Masked,
    RefinementManifest,
    Released,
    Suppression,
    labels,
)
from unveil.verifier.columns import Groups, day_number, group, number, text
from unveil.verifier.data import Data
from unveil.verifier.findings import Finding, repeated
from unveil.verifier.survey import rounded
from unveil.verifier.values import block_labels, missing_problems, places, spans

REST = ", other"
"""How the label of what is left of a taxonomy node ends."""
Key = str | int | float | None
"""A released value, or what a raw value is released as."""


def check_cuts(manifest: Claims) -> Iterator[Finding]:
    """Each cut is a partition whose labels cannot be mistaken for one another; local labels may overlap."""
    for name, released in manifest.masking.items():
        for problem in missing_problems(released):
            yield Finding("cut", f"the missing values of {name!r}: {problem}.")
    for name, entry in manifest.masked.items():
        twice = [] if isinstance(entry, Suppression) else repeated(labels(entry))
        for problem in [*_problems(entry), *([f"the label {listed(twice)} appears twice"] if twice else [])]:
            yield Finding("cut", f"the cut of {name!r}: {problem}.")


def check_labels(known: Mapping[str, Sequence[str]], data: Data) -> Iterator[Finding]:
    """Every released value is one of the known labels of its column, if that holds labels."""
    for name, expected in known.items():
        column = data.columns[name]
        code_of = {word: code for code, word in enumerate(column.texts()) if word is not None}
        strange = sorted(code_of.keys() - set(expected))
        if strange:
            count = data.rows_of(column.codes == code_of[strange[0]])
            more = f" (nor are {listed(strange[1:])})" if strange[1:] else ""
            yield Finding(
                "label",
                f"{PARQUET}: the column {name!r} holds {strange[0]!r} in {rows_text(count)}, "
                f"which is not one of its labels{more}.",
            )


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
        return _interval_problems(entry)
    if isinstance(entry, Generalization):
        return _node_problems(entry)
    return _suppression_problems(entry)


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


def _suppression_problems(entry: Suppression) -> Iterator[str]:
    if twice := repeated(entry.disclosed):
        yield f"the disclosed value {listed(twice)} appears twice"
    if entry.marker in entry.disclosed:
        yield f"the marker {entry.marker!r} of hidden values is disclosed as a value"


def masked_values(entry: Entry | None, values: Sequence[Any]) -> list[Key]:
    """What each raw value is released as; None if it is missing or no block holds it.

    The class has no entry: it is released as it is.
    """
    if isinstance(entry, Discretization):
        return _block_labels(entry, values)
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


def _block_labels(entry: Discretization, values: Sequence[Any]) -> list[Key]:
    raw = places(entry, values)
    starts, ends = np.array(list(spans(entry).values())).T
    found = np.searchsorted(starts, raw, side="right") - 1
    inside = (found >= 0) & (raw < ends[found])
    return [entry.blocks[place].label if held else None for place, held in zip(found, inside, strict=True)]


def check_rows(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """All claims about the rows of a refinement, except those about privacy."""
    yield from _count_findings(manifest, data)
    yield from check_order(manifest, data)
    if manifest.weight is not None:
        columns = [column for name, column in data.columns.items() if name != manifest.weight]
        yield from twice_findings(group(columns, data.counts))


def check_order(manifest: Claims, data: Data) -> Iterator[Finding]:
    """The rows of any release: each has its labels and its class, and they are sorted."""
    yield from _missing_findings(manifest, data)
    if data.disorder is not None:
        yield data.disorder


def twice_findings(groups: Groups) -> Iterator[Finding]:
    """No two rows are equal if a column says how many records a row represents."""
    if (groups.sizes > 1).any():
        worst = int(np.argmax(groups.sizes))
        yield Finding(
            "equal-rows",
            f"{PARQUET}: {groups.text(worst)} appears in {rows_text(int(groups.sizes[worst]))}, "
            "but equal rows are one row with one count.",
        )


def _count_findings(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    rows, records = manifest.rows, int(data.weights.sum())
    if data.rows == 0:
        yield Finding("rows", f"{PARQUET} holds no rows.")
    if rows.released != data.rows:
        yield Finding("rows", f"{PARQUET} has {rows_text(data.rows)}, but rows.released is {rows.released:,}.")
    if manifest.records != records:
        yield Finding("records", f"{PARQUET} holds {records_text(records)}, but records is {manifest.records:,}.")
    kept = rows.read - rows.dropped - rows.held_back - (rows.left_out if manifest.dropped else 0)
    # With weights, rows that are equal after masking become one row.
    if rows.released > kept or (manifest.weight is None and rows.released != kept):
        left_out = f", {rows.left_out:,} left out" if rows.left_out else ""
        left_out += f", {rows.held_back:,} held back" if rows.held_back else ""
        yield Finding(
            "rows",
            f"{MANIFEST} says that {rows.read:,} rows were read, {rows.dropped:,} dropped{left_out} "
            f"and {rows.released:,} released, which does not add up.",
        )


def _missing_findings(manifest: Claims, data: Data) -> Iterator[Finding]:
    for name in [*manifest.masked, manifest.class_]:
        if count := data.gaps(name):
            yield Finding("missing", f"{PARQUET}: the column {name!r} has no value in {rows_text(count)}.")
