"""How well the statistics of a table survive: tables of one and of two columns, means and quantiles.

A reader of a release knows of a label which values it covers and no more, so each label is spread evenly over them.
Tables are compared by their total variation: the share of the records that would have to change cells, from 0 (the same
table) to 1. The columns are the masked attributes, and the class. Only the owner can compute this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.arrays import FloatArray, IntArray
from unveil.evaluation.distances import MIDDLE, QUANTILES, NumberKept, Spread, mean_number, number_kept, table_distances
from unveil.evaluation.information import certainty_penalty
from unveil.evaluation.protocol import means
from unveil.masking import AsIs, Discretization, Generalization, Interval, Suppression, dictionary_of
from unveil.release import Release
from unveil.schema import Spec, Unit, bound_text, value_text
from unveil.tables import Column, Table

MOST_CELLS = 100
"""A column has at most this many cells: of a number intervals of about equal weight, of a category the commonest values
and the others together."""
MOST_PAIRS = 500
"""Of more pairs of columns, this many are drawn at random."""


@dataclass(frozen=True)
class AttributeKept:
    """What survives of one attribute."""

    coarseness: float
    """NCP: how much of the domain the label of a record covers (`certainty_penalty`)."""
    one_way: float
    """How far its one-way table is off."""
    with_class: float
    """How far its table with the class is off."""
    two_way: float
    """How far its tables with other attributes are off, on average."""
    number: NumberKept | None = None
    """What survives of its mean and quantiles; None for a category."""


@dataclass(frozen=True)
class Statistics:
    """What survives of the statistics of a table. Computed from raw data, so it is private to the owner."""

    attributes: Mapping[str, AttributeKept]
    """By masked attribute."""
    two_way: float
    """The mean over the pairs of attributes."""
    releases: int = 1
    """How many releases the figures are means of."""
    pairs: int | None = None
    """How many pairs of attributes were drawn; None if all were measured."""

    @property
    def coarseness(self) -> float:
        """The mean NCP of the masked attributes."""
        return _mean([kept.coarseness for kept in self.attributes.values()])

    @property
    def one_way(self) -> float:
        """The mean distance of one-way tables."""
        return _mean([kept.one_way for kept in self.attributes.values()])

    @property
    def with_class(self) -> float:
        """The mean distance of the tables of an attribute and the class."""
        return _mean([kept.with_class for kept in self.attributes.values()])

    @property
    def numbers(self) -> dict[str, NumberKept]:
        """What survives of each number."""
        return {name: kept.number for name, kept in self.attributes.items() if kept.number is not None}

    @property
    def mean_error(self) -> float | None:
        """How far means are off, on average, in standard deviations; None without a number."""
        return _mean([kept.mean_error for kept in self.numbers.values()]) if self.numbers else None

    @property
    def quantile_error(self) -> float | None:
        """How far quantiles are off, on average, in shares of the records; None without a number."""
        return _mean([kept.quantile_error for kept in self.numbers.values()]) if self.numbers else None

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, for JSON."""
        overall = (
            "coarseness",
            "one_way",
            "with_class",
            "two_way",
            "mean_error",
            "quantile_error",
            "releases",
            "pairs",
        )
        return {
            **{name: getattr(self, name) for name in overall},
            "quantiles": list(QUANTILES),
            "attributes": {name: asdict(kept) for name, kept in self.attributes.items()},
        }

    def table_rows(self) -> list[tuple[str, ...]]:
        """A row of a table for each attribute, the one that lost most first, and one for all of them."""
        worst = sorted(self.attributes.items(), key=lambda item: -item[1].one_way)
        return [(name, *_cells(kept)) for name, kept in worst] + [("all", *self.overall)]

    @property
    def overall(self) -> tuple[str, ...]:
        """The means over the attributes, as cells of a table."""
        return _cells(self)

    def number_rows(self, units: Mapping[str, Unit]) -> list[tuple[str, ...]]:
        """A row of a table for each number: mean and median, raw and released, and how far quantiles are off."""
        rows = []
        for name, kept in self.numbers.items():
            medians = kept.raw_quantiles[MIDDLE], kept.released_quantiles[MIDDLE]
            values = (kept.raw_mean, kept.released_mean, *medians)
            texts = (_value_text(value, units.get(name, "number")) for value in values)
            rows.append((name, *texts, f"{kept.quantile_error:.1%}"))
        return rows


TABLE_COLUMNS = ("attribute", "coarseness", "one-way", "with class", "two-way")
NUMBER_COLUMNS = ("number", "mean: raw", "released", "median: raw", "released", "quantiles off")
EXPLAINED = (
    "Coarseness: how much of all values a label covers (NCP). One-way, with class, two-way: the share of the records "
    "that are in another cell of a table of one attribute, of it and the class, of two attributes, if each label is "
    "spread evenly over what it covers. Quantiles off: the share of the records between a quantile and the true one."
)
"""What the columns of both tables mean."""


def _cells(kept: AttributeKept | Statistics) -> tuple[str, ...]:
    return tuple(f"{share:.1%}" for share in (kept.coarseness, kept.one_way, kept.with_class, kept.two_way))


def _value_text(value: float, unit: Unit) -> str:
    return bound_text(round(value), unit) if unit == "date" else f"{value:.6g}"


def statistics(release: Release, spec: Spec, table: Table, people: FloatArray | None = None) -> Statistics:
    """Compares a release with the raw table that it was made of.

    `people` says how many people each raw row represents: then tables count people, not records, and the release must
    have survey weights.
    """
    rows = _Rows.of(release, people=people is not None)
    records = table.row_records.astype(np.float64) if people is None else people
    columns = [_compared(rows, name, spec, table, records) for name in rows.masked]
    pairs = _pairs(len(columns))
    found = table_distances(
        [*(column.cells for column in columns), table.classes.codes.astype(np.int64)],
        [*(column.spread for column in columns), rows.classes(table.classes)],
        records,
        rows.weights,
        [*pairs, *((place, len(columns)) for place in range(len(columns)))],
    )
    return Statistics(
        attributes={
            name: AttributeKept(
                coarseness=certainty_penalty(release, name, spec, table),
                one_way=found.one_way[place],
                with_class=found.two_way[place, len(columns)],
                two_way=_mean([found.two_way[pair] for pair in pairs if place in pair]),
                number=column.number,
            )
            for place, (name, column) in enumerate(zip(rows.masked, columns, strict=True))
        },
        two_way=_mean([found.two_way[pair] for pair in pairs]),
        pairs=len(pairs) if len(pairs) < len(columns) * (len(columns) - 1) // 2 else None,
    )


def mean_statistics(runs: Sequence[Statistics]) -> Statistics:
    """The means over several releases of the same attributes."""
    return Statistics(
        attributes={name: _mean_kept([run.attributes[name] for run in runs]) for name in runs[0].attributes},
        two_way=_mean([run.two_way for run in runs]),
        releases=len(runs),
        pairs=runs[0].pairs,
    )


def _mean_kept(runs: Sequence[AttributeKept]) -> AttributeKept:
    numbers = [run.number for run in runs if run.number is not None]
    return AttributeKept(
        **means(runs, "coarseness", "one_way", "with_class", "two_way"),
        number=mean_number(numbers) if numbers else None,
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """The distinct rows of a release."""

    table: pa.Table
    weights: FloatArray
    """How many records, or people, each of them represents."""
    masked: dict[str, Generalization | Suppression | Discretization]
    class_: str

    @classmethod
    def of(cls, release: Release, *, people: bool) -> _Rows:
        table, counts = release.counted
        weight = release.manifest.survey_weight if people else release.manifest.weighed_by
        weights = counts.astype(np.float64) if weight is None else counts * table[weight].to_numpy().astype(np.float64)
        columns = release.masking.columns.items()
        masked = {name: entry for name, entry in columns if not isinstance(entry, AsIs)}
        return cls(table, weights, masked, release.manifest.class_)

    def labels(self, name: str) -> tuple[IntArray, list[str]]:
        """The label of each row, as its place among the labels of the column."""
        held = dictionary_of(self.table[name])
        return held.indices.to_numpy().astype(np.int64), [value_text(label) for label in held.dictionary.to_pylist()]

    def classes(self, classes: Column) -> Spread:
        """The class, which is released as it is."""
        places, labels = self.labels(self.class_)
        place_of = {value_text(value): place for place, value in enumerate(classes.array.to_pylist())}
        return Spread(places, np.eye(len(classes))[np.array([place_of[label] for label in labels], dtype=np.int64)])


@dataclass(frozen=True, eq=False)
class _Compared:
    """An attribute as both tables have it."""

    cells: IntArray
    """The cell of each raw row."""
    spread: Spread
    number: NumberKept | None = None


def _compared(rows: _Rows, name: str, spec: Spec, table: Table, records: FloatArray) -> _Compared:
    """An attribute of a release and of the raw table, whose rows represent `records`."""
    entry, column = rows.masked[name], table.column(name)
    held: FloatArray = np.bincount(column.codes, weights=records, minlength=len(column)).astype(np.float64)
    if isinstance(entry, Discretization):
        return _compared_numbers(rows, name, entry, spec, column, held)
    places, labels = rows.labels(name)
    cell_of, size = _common_values(held)
    covered = covered_codes(entry, [str(value) for value in column.values])
    everything = np.arange(len(column))
    spread = [np.bincount(cell_of[covered.get(label, everything)], minlength=size) for label in labels]
    counts = np.array(spread).reshape(len(labels), size)
    return _Compared(cell_of[column.codes], Spread(places, counts / counts.sum(axis=1, keepdims=True)))


def _compared_numbers(
    rows: _Rows, name: str, entry: Discretization, spec: Spec, column: Column, held: FloatArray
) -> _Compared:
    places, labels = rows.labels(name)
    numbers = len(column) - len(column.missing)
    values, counts = np.asarray(column.values, dtype=np.float64)[:numbers], held[:numbers]
    known, kinds = entry.intervals, list(entry.missing)
    whole = (entry.scale.lo, entry.scale.hi)
    intervals = np.array([known[label].numbers or whole for label in labels]).reshape(-1, 2)
    starts = _starts(values, counts, whole[0])
    gaps = len(starts) + np.array([kinds.index(label) for label in column.missing], dtype=np.int64)
    cell_of = np.concatenate([np.searchsorted(starts, values, side="right") - 1, gaps])
    unit = 1.0 if entry.whole else spec.attributes[name].step or 0.0
    blocks = [known[label] for label in labels]
    spread = Spread(places, _with_missing(_overlaps(intervals, np.append(starts, whole[1])), blocks, kinds))
    released: FloatArray = np.bincount(places, weights=rows.weights, minlength=len(labels)).astype(np.float64)
    released *= np.array([block.numbers is not None for block in blocks])
    if not counts.sum():
        return _Compared(cell_of[column.codes], spread)
    if not released.sum():
        # Noise left no record, so a reader knows the range and no more.
        intervals, released = np.array([whole]), np.ones(1)
    number = number_kept(values[counts > 0], counts[counts > 0], intervals, released, unit)
    return _Compared(cell_of[column.codes], spread, number)


def _with_missing(shares: FloatArray, blocks: Sequence[Interval], kinds: Sequence[str]) -> FloatArray:
    """The shares of numbers, and a cell for each kind of missing values, which weighs as much as a cell of numbers."""
    held = np.array([[float(kind in block.missing) for kind in kinds] for block in blocks])
    held = held.reshape(len(blocks), len(kinds))
    alone = np.array([block.numbers is None for block in blocks], dtype=np.bool_)
    cells = np.where(alone, 0, (shares > 0).sum(axis=1))
    total = np.maximum(cells + held.sum(axis=1), 1)[:, None]
    return np.hstack([shares * cells[:, None] / total, held / total])


def _common_values(held: FloatArray) -> tuple[IntArray, int]:
    """The cell of each value of a category, and how many cells there are: rare values of a long list share the last."""
    if len(held) <= MOST_CELLS:
        return np.arange(len(held)), len(held)
    cells = np.full(len(held), MOST_CELLS - 1)
    cells[np.argsort(-held, kind="stable")[: MOST_CELLS - 1]] = np.arange(MOST_CELLS - 1)
    return cells, MOST_CELLS


def covered_codes(entry: Generalization | Suppression, values: Sequence[str]) -> dict[str, IntArray]:
    """The values, by code, that each label covers: at most, where groups are refined one by one."""
    code_of = {value: code for code, value in enumerate(values)}
    if isinstance(entry, Generalization):
        found = {block.label: [code_of[value] for value in block.values if value in code_of] for block in entry.blocks}
    else:
        found = {value: [code_of[value]] for value in entry.disclosed if value in code_of}
        hidden = [code for value, code in code_of.items() if entry.local or value not in found]
        found[entry.marker] = hidden
    return {label: np.array(codes) for label, codes in found.items() if codes}


def _starts(values: FloatArray, held: FloatArray, lo: float) -> FloatArray:
    """Where the cells of a number begin: at every value, or at some of many so that cells weigh about the same."""
    occupied = values[held > 0]
    if len(occupied) > MOST_CELLS:
        below = np.cumsum(held[held > 0])
        even = np.searchsorted(below, np.arange(1, MOST_CELLS) / MOST_CELLS * below[-1], side="right")
        occupied = np.unique(occupied[np.minimum(even, len(occupied) - 1)])
    return np.concatenate([[lo], occupied[occupied > lo]])


def _overlaps(intervals: FloatArray, edges: FloatArray) -> FloatArray:
    """Which share of each interval lies in each cell."""
    low = np.maximum(intervals[:, :1], edges[None, :-1])
    high = np.minimum(intervals[:, 1:], edges[None, 1:])
    shares: FloatArray = np.clip(high - low, 0, None) / np.diff(intervals, axis=1)
    return shares


def _pairs(columns: int) -> list[tuple[int, int]]:
    """All pairs of columns, or some of very many."""
    pairs = list(combinations(range(columns), 2))
    if len(pairs) <= MOST_PAIRS:
        return pairs
    drawn = np.random.default_rng(0).choice(len(pairs), MOST_PAIRS, replace=False)
    return [pairs[place] for place in np.sort(drawn).tolist()]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else 0.0
