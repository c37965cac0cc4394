"""Values as cells: whole numbers in domain order, so that every label in a tree of boxes is a range of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from unveil.arrays import IntArray
from unveil.errors import ReleaseError
from unveil.masking.boxes import Split
from unveil.masking.entries import Discretization, Generalization, Suppression
from unveil.schema import value_text

UNSEEN = -1
"""The cell of a value that has no block."""
Range = tuple[int, int]
Masked = Generalization | Suppression | Discretization


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one attribute."""

    entry: Masked
    ranges: dict[str, Range]
    """The first cell of each label, and the one after its last. A rest covers no range of its own."""

    def of(self, values: Sequence[Any]) -> IntArray:
        """The cell of each value; -1 for one that has no block."""
        if not self.entry.local:
            place_of = {label: place for place, label in enumerate(self.entry.shown)}
            return _places([None if label is None else place_of[label] for label in self.entry.labels(values)])
        if isinstance(self.entry, Discretization):
            edges = _edges(self.entry)
            numbers = self.entry.places(values)
            inside = (numbers >= edges[0]) & (numbers < edges[-1])
            return np.where(inside, np.searchsorted(edges, numbers, side="right") - 1, UNSEEN)
        texts = [None if value is None else value_text(value) for value in values]
        if isinstance(self.entry, Generalization):
            leaf_of = {leaf: place for place, leaf in enumerate(self.entry.blocks[0].values)}
            return _places([None if text is None else leaf_of.get(text) for text in texts])
        hidden = len(self.entry.disclosed)
        place_of = {value: place for place, value in enumerate(self.entry.disclosed)}
        return _places([None if text is None else place_of.get(text, hidden) for text in texts])


def cells(name: str, entry: Masked, splits: Iterable[Split]) -> Cells:
    """The cells of an attribute.

    Args:
        name: The attribute.
        entry: Its entry in the manifest.
        splits: The splits of the attribute. For a cut they say which of its blocks a coarser label covers.

    Raises:
        ReleaseError: A label covers no range, or nothing says what it covers.
    """
    if not entry.shown:
        raise ReleaseError(f"masking: {name!r} has no block.")
    if not entry.local:
        return Cells(entry, _ranges_above(name, entry, splits))
    if isinstance(entry, Discretization):
        place_of = {edge: place for place, edge in enumerate(_edges(entry).tolist())}
        return Cells(entry, {label: (place_of[lo], place_of[hi]) for label, (lo, hi) in entry.spans.items()})
    if isinstance(entry, Suppression):
        return Cells(entry, {value: (place, place + 1) for place, value in enumerate(entry.disclosed)})
    leaf_of = {leaf: place for place, leaf in enumerate(entry.blocks[0].values)}
    return Cells(
        entry,
        {block.label: _range(name, block.label, block.values, leaf_of) for block in entry.blocks if not block.rest},
    )


def _range(name: str, label: str, values: Sequence[str], leaf_of: dict[str, int]) -> Range:
    """The leaves of a taxonomy label, which are next to each other."""
    places = [leaf_of.get(value, UNSEEN) for value in values]
    first = min(places, default=UNSEEN)
    if first == UNSEEN or places != list(range(first, first + len(places))):
        raise ReleaseError(f"masking: {name!r}: the values of {label!r} are not a range of the values of its root.")
    return first, first + len(places)


def _ranges_above(name: str, entry: Masked, splits: Iterable[Split]) -> dict[str, Range]:
    """The blocks of a cut that each label covers, from the blocks themselves up to the root."""
    ranges = {label: (place, place + 1) for place, label in enumerate(entry.shown)}
    parts: dict[str, set[str]] = {}
    for split in splits:
        parts.setdefault(split.block, set()).update(set(split.into) - {split.block})
    try:
        order = list(TopologicalSorter(parts).static_order())
    except CycleError as error:
        raise ReleaseError(f"boxes: {name!r}: {error.args[1][0]!r} is a part of itself.") from error
    for label in order:
        below = [ranges[part] for part in [*parts.get(label, ()), label] if part in ranges]
        if not below:
            raise ReleaseError(f"boxes: {name!r}: nothing says what {label!r} covers.")
        ranges[label] = (min(lo for lo, _ in below), max(hi for _, hi in below))
    return ranges


def _edges(entry: Discretization) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Where the intervals of a vocabulary begin and end, in ascending order."""
    return np.unique(list(entry.spans.values()))


def _places(places: Sequence[int | None]) -> IntArray:
    return np.array([UNSEEN if place is None else place for place in places], dtype=np.int64)
