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
from unveil.arrays import Array, FloatArray, IntArray
from unveil.frames import value_type
from unveil.masking import Masking, Vocabulary, dictionary_of
from unveil.schema import value_text

Labels = NDArray[np.str_]
Values = NDArray[np.object_] | FloatArray
"""The values of a column: texts as objects, or numbers."""
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
    vocabularies: Mapping[str, Vocabulary] = field(default_factory=dict)
    """For columns whose labels overlap, what each label covers."""

    @classmethod
    def of(cls, table: pa.Table, class_: str, weight: str | None = None, masking: Masking | None = None) -> Examples:
        """The rows of a table, raw or released, to predict a column from the others.

        A weight says how many records a row represents (`count` in a DiffGen release); rows of weight 0 are left out.
        The masking of released rows says which of their labels overlap.
        """
        if weight is not None:
            table = table.filter(pc.greater(table[weight], 0))
        names = [name for name in table.column_names if name not in (class_, weight)]
        return cls(
            columns={name: _values(table[name]) for name in names},
            labels=_texts(table[class_]).astype(np.str_),
            weights=None if weight is None else _numbers(table[weight]),
            vocabularies={} if masking is None else masking.vocabularies,
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
        """This many records drawn at random, if there are more."""
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


def encoded_ends(train: Examples, test: Examples) -> Iterator[Coded | Numbers]:
    """The same, but a label that overlaps others in an order is two numbers, the ends of what it covers."""
    for name, column in zip(train.columns, encoded(train, test), strict=True):
        words = train.vocabularies.get(name)
        if words is None or words.kind == "suppression":
            yield column
        else:
            yield from _numbers_of(words, words.ends, name, train, test)


def encoded_nested(train: Examples, test: Examples) -> Iterator[Coded | Numbers]:
    """The labels, and next to labels that overlap what they share: the ends of intervals, and coarser labels above."""
    for name, column in zip(train.columns, encoded(train, test), strict=True):
        yield column
        words = train.vocabularies.get(name)
        if words is not None and words.kind == "discretization":
            yield from _numbers_of(words, words.ends, name, train, test)
        elif words is not None and len(words.coarse):
            yield from _numbers_of(words, words.above[:, words.coarse], name, train, test, unknown=0)


def encoded_words(train: Examples, test: Examples) -> Iterator[tuple[Coded | Numbers, Vocabulary | None]]:
    """The columns, of those with labels that overlap the number of each label, with their vocabularies."""
    for name, column in zip(train.columns, encoded(train, test), strict=True):
        words = train.vocabularies.get(name)
        if words is None:
            yield column, None
        else:
            learned, tested = (_labelled(words, part.columns[name]) for part in (train, test))
            yield Coded(learned, tested, len(words.labels)), words


def _numbers_of(
    words: Vocabulary, numbers: Array, name: str, train: Examples, test: Examples, unknown: float = np.nan
) -> Iterator[Numbers]:
    """Columns of numbers that labels have; a text that is not a label has the one for what is unknown."""
    known = np.vstack([numbers, np.full((1, numbers.shape[1]), unknown)]).astype(np.float64)
    held = [known[_labelled(words, part.columns[name])] for part in (train, test)]
    yield from (Numbers(*(part[:, column] for part in held)) for column in range(numbers.shape[1]))


def _labelled(words: Vocabulary, labels: Values) -> IntArray:
    held = _text_array(labels).dictionary_encode()
    numbers: IntArray = words.numbers(held.dictionary.to_pylist())[held.indices.to_numpy()]
    return numbers


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
