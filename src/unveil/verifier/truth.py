"""Whether a release is true: the raw rows, masked by the manifest's cuts, are the released rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import rows_text
from unveil.verifier.columns import Codes, Column, Groups, missing
from unveil.verifier.data import Data
from unveil.verifier.days import day_number
from unveil.verifier.findings import Finding, records_text
from unveil.verifier.parts import MANIFEST, Discretization, Entry, Generalization, Released, Suppression
from unveil.verifier.raw import Raw, number, plain, text
from unveil.verifier.refinement import RefinementManifest
from unveil.verifier.tallies import Tally

Key = str | int | float | None


def check_truth(manifest: RefinementManifest, data: Data, batches: Iterable[Raw]) -> Iterator[Finding]:
    """The masked raw rows and the released rows are the same multiset, over all released columns.

    Raw rows are masked as they come, and only the distinct masked ones are kept.

    Args:
        manifest: How they are masked.
        data: The released rows.
        batches: The raw rows.
    """
    names = [*manifest.masking, manifest.class_]
    sides = [Comparison(manifest.masking.get(name), data.columns[name]) for name in names]
    tally = Tally()
    tally.add([side.released() for side in sides], data.weights)
    read = dropped = 0
    for raw in batches:
        if absent := [name for name in names if name not in raw.columns]:
            yield from (Finding("truth", f"the raw table has no column {name!r} to release.") for name in absent)
            return
        tally.add([side.masked(raw.columns[side.name]) for side in sides], -raw.weights)
        read, dropped = read + raw.read, dropped + raw.dropped
    yield from _count_findings(manifest, read, dropped)
    for side in sides:
        yield from side.findings()
    keys, excess = tally.result()
    columns = [side.column(codes) for side, codes in zip(sides, keys, strict=True)]
    yield from _difference_findings(Groups(columns, keys, excess))


class Comparison:
    """A column on both sides: what its released values and its masked raw values are called, numbered alike."""

    def __init__(self, entry: Entry | None, column: Column) -> None:
        """Starts with the released side.

        Args:
            entry: The masking of the column; None for the class.
            column: The released column.
        """
        self.name = column.name
        self._entry = entry
        self._column = column
        self._number_of: dict[Key, int] = {}
        self._lost: str | None = None
        self._lost_rows = 0

    def released(self) -> Codes:
        """The released rows."""
        return self._numbers(released_values(self._entry, self._column))[self._column.codes]

    def masked(self, raw: Column) -> Codes:
        """Raw rows, masked. A raw value that is there must be released as something, or it is lost."""
        values = plain(_in_zone(raw.values, self._column.values.type))
        keys = masked_values(self._entry, values)
        unplaced = np.array([key is None for key in keys], dtype=np.bool_) & ~missing(raw.values)
        lost = unplaced[raw.codes]
        if lost.any():
            self._lost = self._lost or raw.text(int(raw.codes[np.argmax(lost)]))
            self._lost_rows += int(lost.sum())
        return self._numbers(keys)[raw.codes]

    def findings(self) -> Iterator[Finding]:
        """A raw value that no block holds."""
        if self._lost is not None:
            rows = rows_text(self._lost_rows)
            yield Finding("truth", f"the raw value {self._lost} has no place in the release ({rows}).")

    def column(self, codes: Codes) -> Column:
        """Rows of either side as they read in a finding."""
        values = pa.array([None if key is None else str(key) for key in self._number_of], pa.string())
        return Column(self.name, values, codes)

    def _numbers(self, keys: Sequence[Key]) -> Codes:
        numbers = self._number_of
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int32)


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


def _count_findings(manifest: RefinementManifest, read: int, dropped: int) -> Iterator[Finding]:
    claims = {"read": (manifest.rows.read, read), "dropped": (manifest.rows.dropped, dropped)}
    for name, (claimed, counted) in claims.items():
        if claimed != counted:
            message = f"{MANIFEST} says that rows.{name} is {claimed:,}, but the raw table gives {counted:,}."
            yield Finding("raw-rows", message)


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
