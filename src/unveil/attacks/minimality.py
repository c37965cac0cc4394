"""Minimality: what a reader excludes who knows the spec and how the search works.

The reader knows what a stranger may know of everybody, and runs the search on every table that the release allows. A
table that leads to another release is not the one behind it. Wong et al. (*Minimality Attack in Privacy Preserving Data
Publishing*, VLDB 2007) reason about sensitive values, Cohen (*Attacks on Deidentification's Defenses*, USENIX Security
2022) about the masked ones (*downcoding*).

Small tables: all ways to hand out the classes and other unmasked values within the groups are tried, and the answer is
exact. Larger ones: the reader is in doubt about one thing only, which of two people in a group has which values, or
which of two values under a label somebody has; some such doubts are drawn at random. Where rows are set aside to learn
the masking from, the reader knows which they are and all about them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, product
from math import factorial, prod
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.arrays import FloatArray, IntArray, group_numbers
from unveil.attacks.exposure import Outcome, Rate
from unveil.attacks.scene import Truth, coded, shown_rows
from unveil.masking import AsIs
from unveil.progress import Tasks, Watcher
from unveil.publishers import trial_release, tried
from unveil.release import RefinementManifest, Release
from unveil.schema import Spec
from unveil.tables import Table, part_of

WORLDS = 500
"""With this many possible tables all of them are tried."""
SIZED = ("k-anonymity", "alpha-k-anonymity")
SURPLUSES = 12
"""This many surpluses of a margin are tried, the likely ones; a reader who tried more would exclude less."""
ROUNDING = 1e-9
NAIVE = "what the groups say without reasoning about the search"


class Search:
    """A table, its release, and which other tables would have led to the same release."""

    def __init__(self, truth: Truth, release: Release) -> None:
        self.truth = truth
        self.release = release
        masking = release.masking
        self.masked = [name for name in masking if not isinstance(masking[name], AsIs)]
        self.labels = masking.labels(truth.rows, unseen="suppress")
        self.groups, _ = group_numbers([coded(self.labels[name]).codes for name in self.masked])
        """The group of each row: all rows with the same labels."""
        table = truth.table
        self.spec = tried(truth.spec)
        self.released = shown_rows(table, self.spec)
        """The rows in the release. Of others, from which the masking was learned, the reader knows everything."""
        kept = [column.codes for column in table.columns if column.name not in self.masked]
        self.values, _ = group_numbers([*kept, table.classes.codes])
        """What each row has besides: its class, and its columns that are not masked."""
        shown = self.labels.filter(pa.array(self.released))
        self._surpluses = list(surpluses(truth.spec, release, shown))

    def given(self, giver: IntArray) -> Iterator[float]:
        """The chances of the release if each row takes what is not masked from another row of its group.

        Their sum is 0 or 1, unless a margin is drawn.
        """
        table = self.truth.table
        columns = tuple(
            column if column.name in self.masked else replace(column, codes=column.codes[giver])
            for column in table.columns
        )
        classes = replace(table.classes, codes=table.classes.codes[giver])
        return self._chances(replace(table, columns=columns, classes=classes))

    def changed(self, row: int, place: int, code: int) -> bool:
        """Whether the release is another one if a row has another value, under the same label."""
        columns = list(self.truth.table.columns)
        codes = columns[place].codes.copy()
        codes[row] = code
        columns[place] = replace(columns[place], codes=codes)
        return not any(self._chances(replace(self.truth.table, columns=tuple(columns))))

    def _chances(self, table: Table) -> Iterator[float]:
        """The chances of the surpluses with which a table leads to the release.

        The labels decide: moving values within groups and under labels changes no row of the release.
        """
        world = part_of(table, self.truth.spec, np.arange(table.rows), table.origin)
        for surplus, chance in self._surpluses:
            if _labels(trial_release(world, replace(self.spec, surplus=surplus))) == _labels(self.release):
                yield chance


def surpluses(spec: Spec, release: Release, labels: pa.Table) -> Iterator[tuple[int, float]]:
    """The surpluses that a reader holds possible, each with its chance: no group is smaller than k and the surplus."""
    spare = [
        int(np.bincount(group_numbers([coded(labels[name]).codes for name in item["quasi-identifier"]])[0]).min())
        - int(item["k"])
        for item in release.manifest.requirements
        if item["kind"] in SIZED
    ]
    most = min(spare, default=0) if spec.margin else 0
    kept = spec.margin / (spec.margin + 1)
    yield from ((surplus, (1 - kept) * kept**surplus) for surplus in range(min(most, SURPLUSES) + 1))


def _labels(release: Release) -> Any:
    manifest = release.manifest
    boxes = manifest.boxes if isinstance(manifest, RefinementManifest) else ()
    return manifest.columns, boxes


def minimality(truth: Truth, release: Release, tries: int, progress: Watcher) -> Iterator[Outcome]:
    """What the reader of a release by refinement excludes."""
    if not isinstance(release.manifest, RefinementManifest) or truth.table.weight is not None:
        return
    search = Search(truth, release)
    if not any(search.given(np.arange(len(search.groups)))):
        return  # the release is not what the spec makes of the table, so there is nothing to reason about
    doubts = Tasks(progress, "searching again from tables that might be the raw one", tries)
    drawn = np.random.default_rng(0)
    if _worlds(search) <= WORLDS:
        yield _exact(search)
    else:
        who = "people in a group has which unmasked values"
        yield _settled("minimality", who, "pairs", _swaps(search, drawn), doubts, tries // 2)
    value = "values under a label a person has"
    yield _settled("downcoding", value, "people", _downcoding(search, drawn), doubts, tries - tries // 2)


def _worlds(search: Search) -> int:
    """In how many ways what is not masked can be handed out within the groups."""
    groups, values = search.groups[search.released].tolist(), search.values[search.released].tolist()
    sizes, equal = Counter(groups).values(), Counter(zip(groups, values, strict=True)).values()
    # Of large groups the exact number does not matter, and takes long.
    if max(sizes) > WORLDS:
        return WORLDS + 1 if len(equal) > len(sizes) else 1
    return prod(map(factorial, sizes)) // prod(map(factorial, equal))


def _arrangements(search: Search) -> Iterator[IntArray]:
    """For each of these ways, from which row each row takes what is not masked."""
    example = {int(value): row for row, value in enumerate(search.values)}
    groups = range(int(search.groups.max()) + 1)
    members = [np.flatnonzero((search.groups == group) & search.released) for group in groups]
    orders = [list(_orders(Counter(search.values[rows].tolist()), ())) for rows in members]
    for chosen in product(*orders):
        giver = np.arange(len(search.groups))
        for rows, order in zip(members, chosen, strict=True):
            giver[rows] = [example[value] for value in order]
        yield giver


def _orders(left: Counter[int], begun: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The distinct orders of some values."""
    if not left:
        yield begun
    for value in list(left):
        yield from _orders(left - Counter([value]), (*begun, value))


def _exact(search: Search) -> Outcome:
    """All tables that the release allows: how sure the reader is of what each person has."""
    lines, width = np.arange(len(search.groups)), int(search.values.max()) + 1
    before, after = (np.zeros((len(lines), width)) for _ in range(2))
    worlds = possible = 0
    chances = 0.0
    for giver in _arrangements(search):
        worlds += 1
        before[lines, search.values[giver]] += 1
        if chance := sum(search.given(giver)):
            possible += 1
            chances += chance
            after[lines, search.values[giver]] += chance
    watched, shown = _watched(search), search.released
    success, control = watched.above(after[shown] / chances), watched.above(before[shown] / worlds)
    sentence = (
        f"{possible:,} of the {worlds:,} tables that the release allows lead to it. Trying them all makes "
        f"a reader {watched.words} for {success.hits:,} of {success.tries:,} people; without that, "
        f"for {control.hits:,}."
    )
    figures = {"exact": True, "tables": worlds, "possible": possible}
    return Outcome("minimality", sentence, success, control, NAIVE, success.hits > control.hits, figures)


@dataclass(frozen=True, eq=False)
class Watched:
    """The values that the reader wants to know, and how sure is too sure."""

    words: str
    limit: float
    """Beliefs above it are too sure; 1 where only certainty is."""
    holds: FloatArray
    """For everything that a row may have besides its masked columns, and each value: whether it is that value."""

    def above(self, beliefs: FloatArray) -> Rate:
        """About how many people the reader is too sure."""
        highest = (beliefs @ self.holds).max(axis=1)
        sure = highest > self.limit + ROUNDING if self.limit < 1 else highest > 1 - ROUNDING
        return Rate(int(sure.sum()), len(sure))


def _watched(search: Search) -> Watched:
    """The values that a requirement limits, or else the class."""
    table, manifest = search.truth.table, search.release.manifest
    limited = next((item for item in manifest.requirements if "limit" in item or "alpha" in item), None)
    if limited is None:
        column, held, limit = table.classes, list(range(len(table.classes))), 1.0
        words = f"sure of the {column.name}"
    else:
        column = table.column(limited["sensitive"])
        held = [code for code, value in enumerate(column.values) if str(value) in limited["values"]]
        limit = float(limited["limit"] if "limit" in limited else limited["alpha"])
        words = f"more than {limit:.0%} sure of a {column.name} limited to that"
    codes = np.zeros(int(search.values.max()) + 1, dtype=np.int64)
    codes[search.values] = column.codes
    return Watched(words, limit, (codes[:, None] == np.array(held)).astype(np.float64))


def _settled(attack: str, doubt: str, unit: str, excluded: Iterator[bool], doubts: Tasks, tries: int) -> Outcome:
    """How many of some doubts the release settles, by whether it excludes one of the two ways."""
    found = []
    for settled in islice(excluded, tries):
        found.append(settled)
        doubts.finish()
    rate = Rate(sum(found), len(found))
    sentence = (
        f"A reader who knows everything except which of two {doubt} finds out for {rate.hits:,} of {rate.tries:,} "
        f"{unit}, because the other way the search would have ended elsewhere."
    )
    return Outcome(attack, sentence, rate, figures={"exact": False})


def _swaps(search: Search, drawn: np.random.Generator) -> Iterator[bool]:
    """Pairs of one group with different values: does the release say who has which?"""
    groups, values = search.groups, search.values
    for row in drawn.permutation(np.flatnonzero(search.released)):
        others = np.flatnonzero((groups == groups[row]) & (values != values[row]) & search.released)
        if len(others):
            giver = np.arange(len(groups))
            other = int(drawn.choice(others))
            giver[row], giver[other] = other, row
            yield not any(search.given(giver))


def _downcoding(search: Search, drawn: np.random.Generator) -> Iterator[bool]:
    """Another value under the same label: does the release say that it is not that one?"""
    table, rows, labels = search.truth.table, search.truth.rows, search.labels
    places = [place for place, column in enumerate(table.columns) if column.name in search.masked]
    for row in drawn.permutation(np.flatnonzero(search.released)):
        place = int(drawn.choice(places))
        column = table.columns[place]
        code = int(drawn.choice(column.codes))
        if code == column.codes[row]:
            continue
        one = rows.slice(int(row), 1)
        other = one.set_column(one.column_names.index(column.name), column.name, [column.array.take(pa.array([code]))])
        if search.release.masking.labels(other, unseen="suppress").to_pylist() == labels.slice(int(row), 1).to_pylist():
            yield search.changed(int(row), place, code)
