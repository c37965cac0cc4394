"""The true counts of the cells of a private release, by a plain group-by of the raw rows. They are the owner's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from unveil.schema import Attribute, Spec
from unveil.verifier.columns import Codes, Column
from unveil.verifier.data import Data
from unveil.verifier.days import day_number
from unveil.verifier.parts import Discretization, Masked
from unveil.verifier.private.claims import COUNT, DiffGenManifest
from unveil.verifier.raw import number, plain, read_raw, text
from unveil.verifier.tallies import Tally
from unveil.verifier.truth import masked_values

Cell = tuple[int, ...]
"""The places of its labels in the cuts and of its class among the classes."""


@dataclass(frozen=True)
class CellCounts:
    """Released and true counts of cells.

    Attributes:
        released: Of the listed cells.
        true: Of the occupied cells.
        total: How many cells there are, listed or not, occupied or not.
    """

    released: dict[Cell, int]
    true: dict[Cell, int]
    total: int


def count_cells(manifest: DiffGenManifest, data: Data, spec: Spec) -> CellCounts:
    """Counts the cells on both sides.

    A raw row with a value that no block holds is in no cell: such rows are left out, each by itself.

    Raises:
        TableError: The raw table cannot be read.
    """
    places = {name: {label: place for place, label in enumerate(labels)} for name, labels in manifest.labels.items()}
    listed = [_numbers(places[name], map(text, plain(data.columns[name].values))) for name in places]
    codes = [numbers[data.columns[name].codes] for name, numbers in zip(places, listed, strict=True)]
    released = zip(*(code.tolist() for code in codes), strict=True)
    counts = plain(data.columns[COUNT].values)
    tally = Tally()
    tally.add([np.zeros(0, dtype=np.int32)] * len(places), np.zeros(0, dtype=np.int64))
    for raw in read_raw(spec):
        rows = [_raw_places(name, raw.columns[name], manifest, spec, places[name]) for name in places]
        known = np.all([row >= 0 for row in rows], axis=0)
        tally.add([row[known] for row in rows], raw.weights[known])
    keys, sums = tally.result()
    occupied = zip(*(key.tolist() for key in keys), strict=True)
    return CellCounts(
        dict(zip(released, (counts[code] for code in data.columns[COUNT].codes), strict=True)),
        dict(zip(occupied, sums.tolist(), strict=True)),
        manifest.cells,
    )


def _raw_places(name: str, column: Column, manifest: DiffGenManifest, spec: Spec, places: dict[str, int]) -> Codes:
    """For every raw row the place of its label, or of its class; -1 where it has none."""
    values = [_whole(value) for value in plain(column.values)]
    entry, attribute = manifest.masking.get(name), spec.attributes.get(name)
    if entry is None or attribute is None:
        return _numbers(places, map(text, values))[column.codes]
    if attribute.values is not None:
        values = [value if text(value) in attribute.values else None for value in values]
    if attribute.outside == "clamp":
        values = [_clamped(entry, value) for value in values]
    if attribute.kind == "number":
        values = [value if _on_grid(number(value), attribute) else None for value in values]
    return _numbers(places, masked_values(entry, values))[column.codes]


def _numbers(places: dict[str, int], labels: Iterable[Any]) -> Codes:
    return np.array([places.get(label, -1) for label in labels], dtype=np.int32)


def _whole(value: Any) -> Any:
    """A whole number that came as a float, as a column with gaps has them, is that number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _on_grid(value: float | None, attribute: Attribute) -> bool:
    """Whether a number is one of those that the owner declared, but for rounding."""
    step = 1.0 if attribute.whole else attribute.step
    if value is None or step is None or attribute.range is None:
        return False
    place = (Fraction(str(value)) - Fraction(str(attribute.range[0]))) / Fraction(str(step))
    return abs(place - round(place)) <= Fraction(1, 10**6)


def _clamped(entry: Masked, value: Any) -> Any:
    """A value outside the range becomes one inside; which one does not matter, its block does."""
    if not isinstance(entry, Discretization):
        return value
    read = (day_number if entry.unit == "date" else number)(value)
    if isinstance(read, int) and int(float(read)) != read:
        return None  # more digits than a number can be counted on for
    if read is None or entry.blocks[0].lo <= read < entry.blocks[-1].hi:
        return value
    block = entry.blocks[0] if read < entry.blocks[0].lo else entry.blocks[-1]
    return block.start
