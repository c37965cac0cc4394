"""Whether a release is true: the raw rows, masked by the manifest's cuts, are the released rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import rows_text
from unveil.verify.columns import Column, Groups, group, missing
from unveil.verify.data import Data
from unveil.verify.days import day_number
from unveil.verify.findings import Finding, records_text
from unveil.verify.parts import MANIFEST, Discretization, Entry, Generalization, Released, Suppression
from unveil.verify.raw import Raw, number, plain, text
from unveil.verify.refinement import RefinementManifest

Key = str | int | float | None


def check_truth(manifest: RefinementManifest, data: Data, raw: Raw) -> Iterator[Finding]:
    """The masked raw rows and the released rows are the same multiset, over all released columns."""
    yield from _count_findings(manifest, raw)
    names = [*manifest.masking, manifest.class_]
    if absent := [name for name in names if name not in raw.columns]:
        yield from (Finding("truth", f"the raw table has no column {name!r} to release.") for name in absent)
        return
    both = []
    for name in names:
        entry = manifest.masking.get(name)
        masked = masked_values(entry, plain(_in_zone(raw.columns[name].values, data.columns[name].values.type)))
        yield from _blockless_findings(raw.columns[name], masked)
        both.append(
            _side_by_side(data.columns[name], released_values(entry, data.columns[name]), raw.columns[name], masked)
        )
    yield from _difference_findings(group(both, np.concatenate([data.weights, -raw.weights])))


def masked_values(entry: Entry | None, values: Sequence[Any]) -> list[Key]:
    """What each raw value is released as; None where it is missing or no block holds it.

    Args:
        entry: The masking of the column; None for the class, which is released as it is.
        values: Distinct raw values.
    """
    if isinstance(entry, Discretization):
        return _interval_labels(entry, values)
    if isinstance(entry, Generalization):
        label_of = {value: block.label for block in entry.blocks for value in block.values}
        return [label_of.get(text(value) or "") for value in values]
    if isinstance(entry, Suppression):
        disclosed = set(entry.disclosed)
        texts = [text(value) for value in values]
        return [word if word is None or word in disclosed else entry.marker for word in texts]
    return _as_released(entry, values)


def released_values(entry: Entry | None, column: Column) -> list[Key]:
    """The distinct released values in a form that compares with masked raw ones."""
    return _as_released(entry, plain(column.values))


def _as_released(entry: Entry | None, values: Sequence[Any]) -> list[Key]:
    if isinstance(entry, Released) and entry.type == "number":
        return [number(value) for value in values]
    if isinstance(entry, Released) and entry.type == "date":
        return [day_number(value) for value in values]
    return [text(value) for value in values]


def _in_zone(values: pa.Array, released: pa.DataType) -> pa.Array:
    """Times that were released as times in another zone: the same moments, and a parquet file keeps no other."""
    zoned = pa.types.is_timestamp(values.type) and pa.types.is_timestamp(released) and released.tz is not None
    return pc.cast(values, pa.timestamp(values.type.unit, released.tz)) if zoned else values


def _interval_labels(entry: Discretization, values: Sequence[Any]) -> list[Key]:
    read = day_number if entry.unit == "date" else number
    numbers = [read(value) for value in values]
    raw = np.array([np.nan if value is None else value for value in numbers], dtype=np.float64)
    starts = np.array([block.lo for block in entry.blocks], dtype=np.float64)
    ends = np.array([block.hi for block in entry.blocks], dtype=np.float64)
    places = np.searchsorted(starts, raw, side="right") - 1
    inside = (places >= 0) & (raw < ends[places])
    return [entry.blocks[place].label if held else None for place, held in zip(places, inside, strict=True)]


def _count_findings(manifest: RefinementManifest, raw: Raw) -> Iterator[Finding]:
    claims = {"read": (manifest.rows.read, raw.read), "dropped": (manifest.rows.dropped, raw.dropped)}
    for name, (claimed, counted) in claims.items():
        if claimed != counted:
            message = f"{MANIFEST} says that rows.{name} is {claimed:,}, but the raw table gives {counted:,}."
            yield Finding("raw-rows", message)


def _blockless_findings(column: Column, masked: Sequence[Key]) -> Iterator[Finding]:
    """A raw value that is there must be released as something."""
    counts = np.bincount(column.codes, minlength=len(masked))
    gone = missing(column.values)
    lost = [code for code, key in enumerate(masked) if key is None and counts[code] and not gone[code]]
    if lost:
        rows = rows_text(int(counts[lost].sum()))
        yield Finding("truth", f"the raw value {column.text(lost[0])} has no place in the release ({rows}).")


def _side_by_side(released: Column, keys: Sequence[Key], raw: Column, masked: Sequence[Key]) -> Column:
    """One column with the released rows first and the masked raw rows after them."""
    code_of = {key: code for code, key in enumerate(dict.fromkeys([*keys, *masked]))}
    lookups = [np.array([code_of[key] for key in side], dtype=np.int32) for side in (keys, masked)]
    codes = np.concatenate([lookups[0][released.codes], lookups[1][raw.codes]])
    values = pa.array([None if key is None else str(key) for key in code_of], pa.string())
    return Column(released.name, values, codes)


def _difference_findings(groups: Groups) -> Iterator[Finding]:
    """Sizes are released records minus raw ones, so that they are 0 where the release is true."""
    for sign, verb in ((-1, "lost"), (1, "gained")):
        excess = sign * groups.sizes
        if (excess > 0).any():
            worst = int(np.argmax(excess))
            yield Finding(
                "truth",
                f"the release {verb} {records_text(int(excess[worst]))} of {groups.text(worst)} "
                f"({records_text(int(excess[excess > 0].sum()))} in all, "
                f"of {(excess > 0).sum():,} kinds of rows).",
            )
