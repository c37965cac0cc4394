"""The cuts of a manifest: how they mask values, whether rows hold their labels, and whether they are as fine as asked.

The owner steers a search by what may be left out, and by how fine attributes must or may be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil.errors import listed, records_text, rows_text
from unveil.verifier.claims import (
    MANIFEST,
    PARQUET,
    Claims,
    Discretization,
    Entry,
    Generalization,
    Interval,
    Masked,
    Number,
    Released,
    Suppression,
    labels,
)
from unveil.verifier.columns import Groups, day_number, day_text, group, number, text
from unveil.verifier.data import Data
from unveil.verifier.findings import Finding, repeated
from unveil.verifier.manifests import RefinementManifest
from unveil.verifier.records import fully_masked
from unveil.verifier.survey import rounded
from unveil.verifier.values import block_labels, missing_problems, places, spans

if TYPE_CHECKING:
    from unveil.schema import Attribute, Spec

MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""The calendar steps of a date."""

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
    kept = rows.read - rows.dropped - rows.held_back - rows.learned - (rows.left_out if manifest.dropped else 0)
    # With weights, rows that are equal after masking become one row.
    if rows.released > kept or (manifest.weight is None and rows.released != kept):
        left_out = f", {rows.left_out:,} left out" if rows.left_out else ""
        left_out += f", {rows.held_back:,} held back" if rows.held_back else ""
        left_out += f", {rows.learned:,} learned from" if rows.learned else ""
        yield Finding(
            "rows",
            f"{MANIFEST} says that {rows.read:,} rows were read, {rows.dropped:,} dropped{left_out} "
            f"and {rows.released:,} released, which does not add up.",
        )


def _missing_findings(manifest: Claims, data: Data) -> Iterator[Finding]:
    for name in [*manifest.masked, manifest.class_]:
        if count := data.gaps(name):
            yield Finding("missing", f"{PARQUET}: the column {name!r} has no value in {rows_text(count)}.")


def check_steering(manifest: RefinementManifest, data: Data, spec: Spec) -> Iterator[Finding]:
    """No more is left out, and no attribute is finer or coarser, than the owner says."""
    for problem in _search_problems(manifest, spec):
        yield Finding("spec-search", f"{MANIFEST} {problem}.")
    hidden = fully_masked(manifest, data)
    for name, entry in manifest.masked.items():
        attribute = spec.attributes.get(name)
        if attribute is None or entry.kind != attribute.masking:
            continue  # `check_agreement` reports it
        column = data.columns[name]
        words = column.texts()
        held = {str(words[code]) for code in set(column.codes[~hidden].tolist())}
        for problem in (*_too_fine(entry, attribute), *_too_coarse(entry, held, attribute)):
            yield Finding("spec-fineness", f"{MANIFEST}: {name!r} {problem}.")


def _search_problems(manifest: RefinementManifest, spec: Spec) -> Iterator[str]:
    """A release may be more uniform than the owner allows, and leave out less."""
    if manifest.recoding == "local" and spec.recoding != "local":
        yield "has the recoding 'local', but the spec has 'global'"
    asked = spec.goal if isinstance(spec.goal, str) else list(spec.goal)
    if manifest.goal != asked:
        yield f"has the goal {manifest.goal!r}, but the spec has {asked!r}"
    stated = Fraction(0 if manifest.learn is None else manifest.learn.share.removesuffix("%")) / 100
    if stated != spec.learn:
        yield f"sets {float(stated):.6%} aside to choose the masking, but the spec {float(spec.learn):.6%}"
    left_out = manifest.leave_out
    if left_out is None:
        return
    if left_out.most > spec.leave_out:
        whom = "records" if left_out.persons is None else "persons"
        yield f"lets {left_out.share} of the {whom} be left out, but the spec {float(spec.leave_out):.6%}"
    if left_out.how == "mask" and spec.left_out != "mask":
        yield "says that records are fully masked, but by the spec they are dropped"
    for name, label in left_out.labels.items():
        taxonomy = spec.attributes[name].taxonomy if name in spec.attributes else None
        if taxonomy is not None and label != taxonomy.root.label:
            yield f"masks {name!r} fully as {label!r}, but its taxonomy begins with {taxonomy.root.label!r}"


def _too_fine(entry: Masked, attribute: Attribute) -> Iterator[str]:
    finest = attribute.finest
    if finest is None:
        return
    if isinstance(entry, Discretization):
        if not isinstance(finest, tuple):
            bounds = {bound for block in entry.blocks if block.start is not None for bound in (block.lo, block.hi)}
            bounds -= {min(bounds), max(bounds)}
            odd = sorted(bound for bound in bounds if not _is_bound(bound, finest))
            yield from (f"has a bound at {_bound_text(bound, entry)}, between two of {finest!r}" for bound in odd[:1])
    elif attribute.taxonomy is not None and isinstance(finest, tuple):
        nodes = [node.label for label in finest for node in attribute.taxonomy.node(label).walk()]
        below = {*nodes, *(label + REST for label in nodes)} - set(finest)
        if found := [label for label in labels(entry) if label in below]:
            yield f"has the label {listed(found)}, which is finer than {listed(finest)}"


def _too_coarse(entry: Masked, held: set[str], attribute: Attribute) -> Iterator[str]:
    """Labels that rows hold. Values that must be distinguished are compared with the raw rows."""
    keep, taxonomy = attribute.keep, attribute.taxonomy
    if isinstance(entry, Discretization):
        if keep is not None and not isinstance(keep, tuple):
            wide = [block.label for block in entry.blocks if block.label in held and not _within(block, keep)]
            if wide:
                yield f"has the label {listed(wide)}, which is coarser than steps of {keep!r}"
    elif isinstance(entry, Generalization) and isinstance(keep, tuple) and taxonomy is not None:
        fine = {node.label for label in keep for node in taxonomy.node(label).walk()}
        found = sorted(label for label in held if label not in fine and label.removesuffix(REST) not in fine)
        if found:
            yield f"has the label {listed(found)}, which is coarser than {listed(keep)}"


def _is_bound(bound: Number, step: float | str) -> bool:
    if isinstance(step, str):
        return _day_of_month(bound) == 1 and _months(bound) % MONTHS[step] == 0
    return Fraction(str(bound)) % Fraction(str(step)) == 0


def _within(block: Interval, step: float | str) -> bool:
    """Whether an interval lies between two neighbouring bounds; missing values have none."""
    if block.start is None:
        return True
    if isinstance(step, str):
        return _months(block.lo) // MONTHS[step] == _months(block.hi - 1) // MONTHS[step]
    width = Fraction(str(step))
    return ceil(Fraction(str(block.hi)) / width) - floor(Fraction(str(block.lo)) / width) <= 1


def _months(day: Number) -> int:
    """How many months after the year 0 a day lies."""
    year, month, _ = day_text(int(day)).split("-")
    return 12 * int(year) + int(month) - 1


def _day_of_month(day: Number) -> int:
    return int(day_text(int(day)).split("-")[2])


def _bound_text(bound: Number, entry: Discretization) -> str:
    return day_text(int(bound)) if entry.unit == "date" else f"{bound:g}"
