"""What is attacked, and the people by whom the attacks are judged.

The rows of a release are held in codes, so that finding those that fit what somebody knows of a person is arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from unveil.arrays import BoolArray, IntArray, NumberArray, group_numbers, run_starts, sorted_order
from unveil.counting.learning import learning_rows
from unveil.counting.memory import MemoryEngine
from unveil.masking import AnyMasking, AsIs, Discretization, Generalization, dictionary_of, python_values
from unveil.publishers import tried
from unveil.release import RefinementManifest, Release, SafeManifest
from unveil.schema import Spec, number_of, value_text
from unveil.tables import Table

SMALL = 1 << 21
"""This many possible keys are counted in an array; more are sorted."""
NONE = -1


class Coded(NamedTuple):
    """A column: its distinct values, and which of them each row has."""

    values: list[Any]
    codes: IntArray


class Fit(NamedTuple):
    """The records that fit what is known of one person."""

    records: float
    """How many there are."""
    places: IntArray
    """The distinct rows among them."""


class Records:
    """The distinct rows of a release, each with its number of records; noisy counts and weights are taken as given."""

    def __init__(self, release: Release) -> None:
        self.release = release
        manifest = release.manifest
        distinct, counts = release.counted
        weight = manifest.weighed_by
        self.counts: NumberArray = counts if weight is None else counts * distinct[weight].to_numpy()
        self.total = int(self.counts.sum())
        known = [name for name in release.masking if name != manifest.grouped]
        self.names = tuple(dict.fromkeys((*known, manifest.class_)))
        """All released columns, the class last; but not the mean weight of a group, which nobody knows of a person."""
        self.columns = {name: coded(distinct[name]) for name in self.names}

    def numbers(self, names: Sequence[str]) -> tuple[IntArray, int]:
        """The number of each row's group on these columns, and how many groups there are."""
        if not names:
            return np.zeros(len(self.counts), dtype=np.int64), 1
        return group_numbers([self.columns[name].codes for name in names])

    def group_sizes(self, names: Sequence[str]) -> IntArray:
        """The records in each group on these columns."""
        numbers, groups = self.numbers(names)
        return np.bincount(numbers, weights=self.counts, minlength=groups).astype(np.int64)

    def alone(self, numbers: IntArray, groups: int, name: str) -> tuple[int, int]:
        """If groups are split by one more column: how many records are alone, and how many groups there are."""
        column = self.columns[name]
        keys = numbers * len(column.values) + column.codes
        if groups * len(column.values) <= SMALL:
            sums = np.bincount(keys, weights=self.counts)
            return int((sums == 1).sum()), int((sums > 0).sum())
        # Sorting the keys alone is ten times as fast as finding their order, so a bit says which rows are one record.
        held = np.sort(2 * keys[self.counts > 0] + (self.counts[self.counts > 0] != 1))
        starts = run_starts([held >> 1])
        single = np.diff(starts, append=len(held)) == 1
        return int((single & (held[starts] & 1 == 0)).sum()), len(starts)

    def fitting(self, people: pa.Table, names: Sequence[str]) -> list[Fit]:
        """For each person, given by raw values, the records that fit these columns.

        A label fits if it is the one that the person would have. Where groups are refined one by one, that label
        follows only from all columns of their tree; without them, every label fits that covers the value.
        """
        masked = self.release.masking.rows(people, unseen="suppress")
        loose = self._loose(names)
        exact = [name for name in names if name not in loose]
        group, first, last, order = self._ranges(masked, exact)
        covers = {name: self._covering(name, people[name]) for name in loose}
        fits = []
        for person, number in enumerate(group):
            places = order[first[number] : last[number]] if number != NONE else order[:0]
            for name, (value, covered) in covers.items():
                places = places[covered[value[person]][self.columns[name].codes[places]]]
            fits.append(Fit(float(self.counts[places].sum()), places))
        return fits

    def represented(self, rows: pa.Table) -> IntArray:
        """How many of some raw rows each distinct row represents."""
        masked = self.release.masking.rows(rows, unseen="suppress")
        group, first, last, order = self._ranges(masked, self.names)
        sums = np.bincount(group[group != NONE], minlength=len(first))
        counts: IntArray = np.zeros(len(self.counts), dtype=np.int64)
        occupied = first < last
        counts[order[first[occupied]]] = sums[occupied]
        return counts

    def _loose(self, names: Sequence[str]) -> list[str]:
        """The columns refined group by group whose tree has a column that is not known."""
        trees = [set(tree.attributes) for tree in self.release.masking.boxes]
        open_ = {name for tree in trees if not tree <= set(names) for name in tree}
        return [name for name in names if name in open_ and getattr(self.release.masking[name], "local", False)]

    def _ranges(self, masked: pa.Table, names: Sequence[str]) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Per person the number of its group on columns known exactly, and where in an order each group is."""
        people = masked.num_rows
        if not names:
            one = np.zeros(people, dtype=np.int64)
            return one, one[:1], np.full(1, len(self.counts)), np.arange(len(self.counts))
        both = [np.concatenate([self.columns[name].codes, self.codes(masked, name)]) for name in names]
        unknown = np.any([codes[len(self.counts) :] == NONE for codes in both], axis=0)
        numbers, groups = group_numbers([np.maximum(codes, 0) for codes in both])
        own = numbers[: len(self.counts)]
        places = sorted_order([own])
        bounds = np.searchsorted(own[places], np.arange(groups + 1))
        return np.where(unknown, NONE, numbers[len(self.counts) :]), bounds[:-1], bounds[1:], places

    def codes(self, rows: pa.Table, name: str) -> IntArray:
        """The codes of other rows in a column of this release; -1 for a value that it does not have."""
        held, own = coded(rows[name]), self.columns[name]
        code_of = {value: code for code, value in enumerate(own.values)}
        found = np.array([code_of.get(value, NONE) for value in held.values], dtype=np.int64)
        codes: IntArray = found[held.codes]
        return codes

    def _covering(self, name: str, column: pa.ChunkedArray) -> tuple[IntArray, BoolArray]:
        """The value of each person, and for each value which labels of the column cover it."""
        held, labels = coded(column), self.columns[name].values
        return held.codes, coverage(self.release.masking[name], held.values, labels)


def coded(column: pa.ChunkedArray) -> Coded:
    """A column in codes; a missing value has the last one."""
    encoded = dictionary_of(column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column]))
    values = python_values(encoded.dictionary)
    indices = encoded.indices
    if indices.null_count:
        values, indices = [*values, None], indices.fill_null(len(values))
    return Coded(values, indices.to_numpy(zero_copy_only=False).astype(np.int64))


def coverage(entry: AnyMasking, values: Sequence[Any], labels: Sequence[Any]) -> BoolArray:
    """For each raw value which labels may be its own. One that the entry does not have is a full mask."""
    missing = [value is None for value in values]
    if isinstance(entry, Discretization):
        intervals = entry.intervals
        held = [intervals.get(label) for label in labels]
        low = np.array([-np.inf if one is None else one.lo for one in held])
        high = np.array([np.inf if one is None else one.hi for one in held])
        numbers = [None if value is None else number_of(value, entry.unit) for value in values]
        unknown = np.array([number is None for number in numbers], dtype=np.bool_)[:, None]
        known = np.array([0.0 if number is None else number for number in numbers])[:, None]
        return unknown | ((low <= known) & (known < high))
    if isinstance(entry, Generalization):
        leaves = {block.label: frozenset(block.values) for block in reversed(entry.blocks)}
        parts = [leaves.get(label) for label in labels]
        texts = [value_text(value) for value in values]
        covered = [
            [gone or part is None or text in part for part in parts] for text, gone in zip(texts, missing, strict=True)
        ]
    elif isinstance(entry, AsIs):
        covered = [[label == value for label in labels] for value in values]
    else:
        covered = [
            [gone or label in (entry.marker, value_text(value)) for label in labels]
            for value, gone in zip(values, missing, strict=True)
        ]
    return np.array(covered, dtype=np.bool_).reshape(len(values), len(labels))


def shown_rows(table: Table, spec: Spec) -> BoolArray:
    """Which rows a trial release shows, and does not only learn from."""
    if not spec.learn:
        return np.ones(table.rows, dtype=np.bool_)
    return ~learning_rows(tried(spec), MemoryEngine(table))


@dataclass(frozen=True, eq=False)
class Truth:
    """What only the owner has: the raw table behind a release, people in it, and people who are not."""

    spec: Spec
    table: Table
    rows: pa.Table
    """The raw rows of the table: what a release would have of them, class included."""
    places: IntArray
    """The rows of the people to attack, drawn at random."""
    complete: bool = True
    """Whether these are all rows behind the release, and not a sample of them."""
    absent: pa.Table | None = None
    """Raw rows of as many people who are not in the table `without`; None if there is no control."""
    without: Release | None = None
    """The release that is attacked, or, of one that exists and has everybody, another one by the same spec."""

    @cached_property
    def people(self) -> pa.Table:
        """The raw rows of the people to attack."""
        return self.rows.take(pa.array(self.places))

    @cached_property
    def others(self) -> IntArray:
        """The places of everybody else in the table."""
        return np.setdiff1d(np.arange(self.rows.num_rows), self.places)


@dataclass(frozen=True, eq=False)
class Scene:
    """A release under attack."""

    release: Release
    truth: Truth | None = None
    """None for a reader, who has the release alone."""

    @property
    def has_rows(self) -> bool:
        """Whether the release has masked rows, and not noisy counts or weights."""
        return isinstance(self.release.manifest, RefinementManifest | SafeManifest)

    @cached_property
    def records(self) -> Records:
        """The rows of the release."""
        return Records(self.release)

    @cached_property
    def control(self) -> tuple[Records, pa.Table] | None:
        """The rows of the release that lacks some people, and these people; None if there is no control."""
        truth = self.truth
        if truth is None or truth.without is None or truth.absent is None:
            return None
        return self.records if truth.without is self.release else Records(truth.without), truth.absent
