"""Rows as a classifier takes them, and their values as codes that owe nothing to the rows it is tested on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil import frames
from unveil.arrays import FloatArray, IntArray
from unveil.frames import value_type
from unveil.masking import Discretization, Generalization, Masking, dictionary_of
from unveil.schema import value_text

Labels = NDArray[np.str_]
Values = NDArray[np.object_] | FloatArray
"""The values of a column: texts as objects, or numbers."""
Bounds = Mapping[str, tuple[float, float]]
UNSEEN = -1
"""The code of a value that the training part does not have."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows to learn from or to be tested on.

    Masked intervals and `⊥` are ordinary texts, as in the papers; a column of numbers stays one.
    """

    columns: dict[str, Values]
    labels: Labels
    weights: FloatArray | None = None
    """How many records each row represents; one each if it is not given."""
    survey: FloatArray | None = None
    """How many people of the population each row represents, if the table is a survey. Nothing is learned from it."""
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    """For columns of intervals that overlap, where the interval of each label begins and ends."""
    covered: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    """For columns of taxonomy labels that overlap, the labels that each coarse one covers, itself among them."""

    @classmethod
    def of(cls, table: pa.Table, class_: str, weight: str | None = None, masking: Masking | None = None) -> Examples:
        """The rows of a table, raw or released, to predict a column from the others.

        A weight says how many records a row represents (`count` in a DiffGen release); rows of weight 0 are left out.
        The masking of released rows says which of their intervals overlap.
        """
        if weight is not None:
            table = table.filter(pc.greater(table[weight], 0))
        names = [name for name in table.column_names if name not in (class_, weight)]
        return cls(
            columns={name: _values(table[name]) for name in names},
            labels=_texts(table[class_]).astype(np.str_),
            weights=None if weight is None else _numbers(table[weight]),
            bounds={} if masking is None else _overlapping(masking),
            covered={} if masking is None else _covered(masking),
        )

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def weight(self) -> FloatArray:
        """The weight of each row, 1 where none is given."""
        return np.ones(len(self)) if self.weights is None else self.weights

    def select(self, names: Iterable[str]) -> Examples:
        """Only these columns."""
        return replace(self, columns={name: self.columns[name] for name in names})

    def take(self, indices: IntArray) -> Examples:
        """Only these rows, in this order."""
        return replace(
            self,
            columns={name: values[indices] for name, values in self.columns.items()},
            labels=self.labels[indices],
            weights=None if self.weights is None else self.weights[indices],
            survey=None if self.survey is None else self.survey[indices],
        )

    def drawn(self, records: int, seed: int) -> Examples:
        """So many records drawn at random, if there are more."""
        total = self.weight.sum()
        if total <= records:
            return self
        draw = np.random.default_rng(seed)
        if self.weights is None:
            return self.take(np.sort(draw.choice(len(self), records, replace=False)))
        counts = draw.multinomial(records, self.weights / total)
        held = np.flatnonzero(counts)
        return replace(self.take(held), weights=counts[held].astype(np.float64))


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of texts as codes into the sorted values of the training part."""

    train: IntArray
    test: IntArray
    """Codes of the test part; `UNSEEN` for a value that the training part does not have."""
    size: int


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers."""

    train: FloatArray
    test: FloatArray


def encoded(train: Examples, test: Examples) -> Iterator[Coded | Numbers]:
    """The columns of both parts, in the order of the training part; nothing about them is read off the test part."""
    for name, learned in train.columns.items():
        tested = test.columns[name]
        if is_number(learned) and is_number(tested):
            yield Numbers(learned, tested)
        else:
            yield coded(learned, tested)


def encoded_bounds(train: Examples, test: Examples) -> Iterator[Coded | Numbers]:
    """The same, but an interval that overlaps others is two numbers, its ends: a label alone says nothing of others."""
    for name, column in zip(train.columns, encoded(train, test), strict=True):
        if name not in train.bounds:
            yield column
            continue
        for end in (0, 1):
            yield Numbers(*(_ends(part.columns[name], train.bounds[name], end) for part in (train, test)))


def encoded_nested(train: Examples, test: Examples) -> Iterator[Coded | Numbers]:
    """The labels, and next to labels that overlap what they share: the ends of intervals, and coarser labels above."""
    for name, column in zip(train.columns, encoded(train, test), strict=True):
        yield column
        for end in (0, 1) if name in train.bounds else ():
            yield Numbers(*(_ends(part.columns[name], train.bounds[name], end) for part in (train, test)))
        for labels in train.covered.get(name, {}).values():
            yield Numbers(*(_within(part.columns[name], labels) for part in (train, test)))


def _within(labels: Values, covered: frozenset[str]) -> FloatArray:
    """1 for a label that a coarser one covers, 0 for others."""
    return np.isin(labels.astype(np.str_), sorted(covered)).astype(np.float64)


def _ends(labels: Values, bounds: Bounds, end: int) -> FloatArray:
    """Where the intervals of some labels begin or end; NaN for a label that is not an interval."""
    distinct, places = np.unique(labels.astype(np.str_), return_inverse=True)
    return np.array([bounds[label][end] if label in bounds else np.nan for label in distinct.tolist()])[places]


def _covered(masking: Masking) -> dict[str, dict[str, frozenset[str]]]:
    found: dict[str, dict[str, frozenset[str]]] = {}
    for name, entry in masking.columns.items():
        if isinstance(entry, Generalization) and entry.local:
            values = {block.label: frozenset(block.values) for block in entry.blocks}
            coarse = [block.label for block in entry.blocks[1:] if len(block.values) > 1 and not block.rest]
            found[name] = {
                label: frozenset(below for below, held in values.items() if held <= values[label]) for label in coarse
            }
    return found


def _overlapping(masking: Masking) -> dict[str, Bounds]:
    numbers = {name: entry for name, entry in masking.columns.items() if isinstance(entry, Discretization)}
    return {
        name: {block.label: (block.lo, block.hi) for block in entry.blocks}
        for name, entry in numbers.items()
        if entry.local
    }


def coded(train: Values, test: Values) -> Coded:
    """Codes of texts, fitted on the training part."""
    learned, tested = (_text_array(values) for values in (train, test))
    values = pc.unique(learned)
    values = values.take(pc.sort_indices(values))
    return Coded(_codes(learned, values), _codes(tested, values), len(values))


def is_number(values: Values) -> TypeGuard[FloatArray]:
    """Whether a column holds numbers."""
    return values.dtype.kind == "f"


def _codes(texts: pa.Array, values: pa.Array) -> IntArray:
    codes: IntArray = pc.index_in(texts, values).fill_null(UNSEEN).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def _text_array(values: Values) -> pa.Array:
    return pa.array([value_text(value) for value in values] if is_number(values) else values, pa.string())


def _values(column: pa.ChunkedArray) -> Values:
    type_ = value_type(column.type)
    if pa.types.is_date32(type_):
        return _numbers(column.cast(type_).cast(pa.int32()))
    return _numbers(column) if frames.is_number(type_) else _texts(column)


def _numbers(column: pa.ChunkedArray) -> FloatArray:
    """Numbers; one that is missing is NaN."""
    numbers: FloatArray = column.cast(pa.float64()).to_numpy()
    return numbers


def _texts(column: pa.ChunkedArray) -> NDArray[np.object_]:
    """Texts; one that is missing is empty."""
    held = dictionary_of(column)
    distinct: Any = ["" if value is None else value_text(value) for value in [*held.dictionary.to_pylist(), None]]
    places = held.indices.fill_null(len(distinct) - 1).to_numpy(zero_copy_only=False)
    texts: NDArray[np.object_] = np.array(distinct, dtype=object)[places]
    return texts
