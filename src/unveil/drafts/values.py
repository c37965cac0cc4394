"""What a draft starts from and ends with: the values of a column, and the tree above them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np

from unveil.drafts.facts import MARKS
from unveil.errors import TableError, did_you_mean
from unveil.schema import Branch, Missing, value_text
from unveil.tables import raw_column, read_table

Paths = dict[str, tuple[str, ...]]
"""For each value, in the order of the leaves, the labels above it from the top down."""


ENOUGH = 0.75
"""The share of values that a way must know for a guess."""
UNKNOWN = "Not recognised"
"""The label above values that a way does not know."""
WIDE = 12
"""A label with more labels or values right below it gets ranges of neighbours in between."""


class UnfitError(Exception):
    """A way to draft does not fit the values; says why, as a clause."""


@dataclass(frozen=True)
class Proposal:
    """What one way makes of the values, and why it fits them."""

    paths: Paths
    reason: str


@dataclass(frozen=True)
class Values:
    """The values of a column as texts."""

    origin: str
    attribute: str
    counts: dict[str, int]
    missing: tuple[str, ...]
    """Texts that the column holds and that were left out as marks of missing values."""
    missing_rows: int

    @property
    def place(self) -> str:
        """What messages call the column."""
        return f"{self.origin}: column {self.attribute!r}"


def column_values(table: Any, attribute: str, missing: Sequence[str] | None) -> Values:
    """Reads the values of a column, without those that mean missing: the given texts, or else the usual ones."""
    rows, origin = read_table(table)
    if attribute not in rows.column_names:
        hint = did_you_mean(attribute, rows.column_names)
        raise TableError(f"{origin}: there is no column {attribute!r}{hint or '.'}")
    raw = raw_column(attribute, rows[attribute], Missing(()), origin)
    held = np.bincount(raw.places[~raw.missing], minlength=len(raw.distinct)).tolist()
    counts: Counter[str] = Counter()
    for value, rows_with in zip(raw.distinct, held, strict=True):
        counts[value_text(value)] += rows_with
    marks = tuple(mark for mark in (MARKS if missing is None else missing) if mark in counts)
    gone = int(raw.missing.sum()) + sum(counts.pop(mark) for mark in marks)
    values = Values(origin, attribute, dict(counts), marks, gone)
    if not counts:
        raise TableError(f"{values.place}: all values are missing, so there is nothing to draft a taxonomy from.")
    return values


def by_pairs(table: Any, values: Values, above: Sequence[str]) -> Proposal:
    """The labels above each value from other columns of its rows, the coarsest first."""
    rows, origin = read_table(table)
    for name in above:
        if name not in rows.column_names or name == values.attribute:
            hint = did_you_mean(name, rows.column_names)
            raise TableError(f"{origin}: there is no other column {name!r}{hint or '.'}")
    pairs = rows.select([values.attribute, *above]).group_by([values.attribute, *above]).aggregate([])
    paths: Paths = {}
    for row in zip(*(pairs[name].to_pylist() for name in (values.attribute, *above)), strict=True):
        value, *path = (value_text(item) for item in row)
        if value not in values.counts:
            continue
        if paths.setdefault(value, tuple(path)) != tuple(path):
            one, other = (" > ".join(labels) for labels in (paths[value], tuple(path)))
            below = f"the value {value!r} is below {one!r} and below {other!r}"
            raise TableError(f"{values.place}: {below}, so the columns above it make no tree.")
    ordered = dict(sorted(paths.items(), key=lambda item: (item[1], item[0])))
    return Proposal(ordered, f"each of {len(ordered):,} values has one label in {', '.join(map(repr, above))}")


def tree_of(root: str, paths: Paths) -> Branch:
    """The tree over the values.

    A label that groups nothing is left out, one with many branches gets ranges of neighbours below it, and one that
    appears twice is renamed.
    """
    top: Branch = (root, [])
    groups: dict[tuple[str, ...], Branch] = {(): top}
    for value, path in paths.items():
        for depth in range(1, len(path) + 1):
            key = path[:depth]
            if key not in groups:
                groups[key] = (key[-1], [])
                groups[key[:-1]][1].append(groups[key])
        groups[path][1].append((value, []))
    label, below = _pruned(top)
    # A root with one group below it has been replaced by this group; it keeps its own name.
    pruned: Branch = (root, below or [(label, [])])
    return _renamed(_narrowed(pruned), set(paths))


def _pruned(branch: Branch) -> Branch:
    """Without labels that have one branch only: they say the same as the branch."""
    label, below = branch
    kept = [_pruned(child) for child in below]
    return kept[0] if len(kept) == 1 else (label, kept)


def _narrowed(branch: Branch) -> Branch:
    """With few branches right below each label: neighbours are joined, in runs of about the same length."""
    label, below = branch
    kept = [_narrowed(child) for child in below]
    while len(kept) > WIDE:
        size = -(-len(kept) // max(2, min(WIDE, math.isqrt(len(kept)))))
        runs = [kept[start : start + size] for start in range(0, len(kept), size)]
        kept = [run[0] if len(run) == 1 else (f"{run[0][0]} … {run[-1][0]}", run) for run in runs]
    return label, kept


def _renamed(branch: Branch, taken: set[str]) -> Branch:
    """Inner labels that differ from all values and from each other."""
    label, below = branch
    if not below:
        return branch
    names = chain((label, f"{label} (group)"), (f"{label} (group {number})" for number in count(2)))
    free = next(name for name in names if name not in taken)
    taken.add(free)
    return free, [_renamed(child, taken) for child in below]
