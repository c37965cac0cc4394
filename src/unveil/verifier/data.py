"""The rows of a release as columns of codes, on which every check is arithmetic with small whole numbers.

They are read in batches, and kept as distinct rows with their counts.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import DTypeLike, NDArray

from unveil.errors import listed
from unveil.strangers import COUNT, RECORDS
from unveil.verifier.claims import PARQUET, Finding, broken
from unveil.verifier.manifests import Claims, RefinementManifest
from unveil.verifier.values import is_number, is_text, plain, text

if TYPE_CHECKING:
    from unveil.verifier.files import DataFiles

MERGED = 1 << 18
"""At least this many rows wait before they are merged with the distinct ones."""
ALONE = 1 << 16
"""So many rows are grouped by one thread before several could be faster."""
LARGEST = 1 << 63
"""A number of 64 bits stays below this."""
Codes = NDArray[np.int32]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Column:
    """A column as its distinct values and, for every row, the position of its value."""

    name: str
    values: pa.Array
    """The distinct values in ascending order, a missing value last. Text is ordered by its UTF-8 bytes, so that
    comparing codes compares released values as a release orders them."""
    codes: Codes
    """For every row, the position of its value in `values`."""

    def text(self, code: int) -> str:
        """The value of a code as it reads in a finding."""
        return f"{self.name}={self.values[code].as_py()!r}"

    def texts(self) -> list[str | None]:
        """The distinct values as specs and manifests name them; None for a missing one."""
        return [text(value) for value in plain(self.values)]

    def mapped(self, make: Callable[[Any], Any], kind: DTypeLike) -> NDArray[Any]:
        """What is made of the value of every row."""
        return np.array([make(value) for value in plain(self.values)], dtype=kind)[self.codes]

    def rows_with(self, words: Container[str | None]) -> NDArray[np.bool_]:
        """The rows whose value is one of these."""
        return self.mapped(lambda value: text(value) in words, np.bool_)

    def missing(self) -> NDArray[np.bool_]:
        """The rows without a value: it is null, or not a number."""
        found: NDArray[np.bool_] = pc.is_null(self.values, nan_is_null=True).to_numpy(zero_copy_only=False)
        return found[self.codes]

    def where(self, chosen: NDArray[np.bool_]) -> Column:
        """The chosen rows."""
        return Column(self.name, self.values, self.codes[chosen])

    def named(self) -> list[str]:
        """The distinct values that are neither missing nor empty, as specs and manifests name them."""
        return [word for word in self.texts() if word]


@dataclass(frozen=True)
class Groups:
    """The groups of equal rows over some columns."""

    columns: Sequence[Column]
    keys: Sequence[Codes]
    """One array per column: the code that each group holds there."""
    sizes: Counts
    """The sum of the weights of each group."""

    def chosen(self, groups: NDArray[np.bool_]) -> Groups:
        """Some of the groups."""
        return Groups(self.columns, [key[groups] for key in self.keys], self.sizes[groups])

    def text(self, group: int) -> str:
        """The values that a group shares, as they read in a finding."""
        pairs = zip(self.columns, self.keys, strict=True)
        return "(" + ", ".join(column.text(int(key[group])) for column, key in pairs) + ")"


def encode(name: str, values: pa.ChunkedArray) -> Column:
    """Turns a column of text, numbers, truth values or times into codes; Arrow refuses any other."""
    if pa.types.is_dictionary(values.type) and is_text(values.type):
        return _encode_stored(name, values)
    if is_text(values.type) or pa.types.is_null(values.type):
        values = pc.cast(values, pa.string())
    elif not (is_number(values.type) or pa.types.is_boolean(values.type) or pa.types.is_temporal(values.type)):
        raise pa.ArrowInvalid(f"values of type {values.type} cannot be compared")
    if pa.types.is_float16(values.type):
        values = pc.cast(values, pa.float32())
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # -0.0 becomes 0.0: one number, one value
    encoded = pc.dictionary_encode(values.combine_chunks(), null_encoding="encode")
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return Column(name, encoded.dictionary.take(pa.array(order)), ranks[encoded.indices.to_numpy()])


def _encode_stored(name: str, values: pa.ChunkedArray) -> Column:
    """Text that comes with a dictionary, which may list a value twice, or one that no row holds."""
    stored = values.unify_dictionaries().combine_chunks()
    words = pa.concat_arrays([pc.cast(stored.dictionary, pa.string()), pa.nulls(1, pa.string())])
    ranked = encode(name, pa.chunked_array([words]))
    codes = ranked.codes[stored.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)]
    held = np.bincount(codes, minlength=len(ranked.values)) > 0
    places = np.cumsum(held, dtype=np.int32) - 1
    return Column(name, ranked.values.filter(pa.array(held)), places[codes])


def group(columns: Sequence[Column], weights: Counts) -> Groups:
    """Counts the groups of equal rows with a plain group-by."""
    return Groups(columns, *summed([column.codes for column in columns], weights))


def summed(keys: Sequence[Codes], amounts: Counts) -> tuple[list[Codes], Counts]:
    """The distinct rows of some columns of codes, and the sum of the amounts over the equal ones."""
    words = packed(keys)
    names = [str(position) for position in range(len(words))]
    table = pa.table([*words, amounts, np.arange(len(amounts))], names=[*names, "amount", "row"])
    sums = table.group_by(names, use_threads=len(amounts) > ALONE).aggregate([("amount", "sum"), ("row", "min")])
    rows = sums["row_min"].to_numpy()
    return [key[rows] for key in keys], sums["amount_sum"].to_numpy()


def runs_of(keys: Sequence[Codes], amounts: Counts) -> tuple[list[Codes], Counts]:
    """The runs of equal rows, one after another, and the sum of the amounts in each."""
    begins = fresh(keys)
    if begins.all():
        return list(keys), amounts
    starts = np.flatnonzero(begins)
    return [key[starts] for key in keys], np.add.reduceat(amounts, starts)


def fresh(keys: Sequence[NDArray[Any]]) -> NDArray[np.bool_]:
    """Which rows differ from the one before them, as the first one does."""
    found = np.ones(len(keys[0]), dtype=np.bool_)
    found[1:] = False
    for key in keys:
        found[1:] |= key[1:] != key[:-1]
    return found


def sums_at(places: NDArray[Any], amounts: Counts, size: int) -> Counts:
    """The sum of the amounts at each place, in whole numbers, which `bincount` would turn into floats."""
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, places, amounts)
    return sums


def joined(parts: Sequence[tuple[Sequence[Codes], Counts]]) -> tuple[list[Codes], Counts]:
    """Rows of codes one after another, with their amounts."""
    columns = zip(*(keys for keys, _ in parts), strict=True)
    return [np.concatenate(pieces) for pieces in columns], np.concatenate([sums for _, sums in parts])


def packed(keys: Sequence[Codes]) -> list[Counts]:
    """Columns as few numbers with the same order and equality: fewer are grouped in a third of the time."""
    words: list[Counts] = []
    room = LARGEST
    for key in keys:
        low = int(key.min(initial=0))
        size = int(key.max(initial=0)) - low + 1
        if room * size < LARGEST:
            words[-1] *= size
            words[-1] += key
            words[-1] -= low
            room *= size
        else:
            words.append(key.astype(np.int64))
            room = size
    return words


def by_row(keys: Sequence[Codes], amounts: NDArray[Any]) -> dict[tuple[int, ...], Any]:
    """The amount of each row of codes; of equal rows, that of the last."""
    return dict(zip(zip(*(key.tolist() for key in keys), strict=True), amounts.tolist(), strict=True))


class Vocabulary:
    """The distinct values of a column that is read in batches, numbered in the order of their first row.

    Next to them the texts that the dictionaries of the files list, whether or not a row holds them.
    """

    def __init__(self, empty: Column) -> None:
        """Starts with the values of a column without rows, which have their type."""
        self.name = empty.name
        self._values = empty.values
        self._stored = self._latest = pa.array([], pa.string())

    def numbers(self, values: pa.Array) -> Codes:
        """The number of each value; a new one gets the next."""
        before = len(self._values)
        encoded = pc.dictionary_encode(pa.concat_arrays([self._values, values]), null_encoding="encode")
        self._values = encoded.dictionary
        numbers: Codes = encoded.indices.to_numpy()[before:]
        return numbers

    def column(self, numbers: Codes) -> Column:
        """A column of such numbers, with codes in the order of its values."""
        ranked = encode(self.name, pa.chunked_array([self._values]))
        return Column(self.name, ranked.values, ranked.codes[numbers])

    def store(self, column: pa.ChunkedArray) -> None:
        """Takes the dictionaries of some rows; a row group has one, which is read once."""
        for chunk in column.chunks if pa.types.is_dictionary(column.type) else ():
            if not chunk.dictionary.equals(self._latest):
                self._latest = chunk.dictionary
                words = pc.cast(chunk.dictionary, pa.string())
                self._stored = pc.unique(pa.concat_arrays([self._stored, words]))

    def unused(self) -> list[str]:
        """The texts that a dictionary lists and no row holds: they may disclose what was masked."""
        if not len(self._stored):
            return []
        held = pc.is_in(self._stored, value_set=pc.cast(self._values, pa.string()))
        return [str(value) for value in self._stored.filter(pc.invert(held)).to_pylist()]


class Tally:
    """Distinct rows of codes, each with the sum of its amounts. Memory grows with the distinct rows alone."""

    def __init__(self) -> None:
        self._parts: list[tuple[list[Codes], Counts]] = []

    def add(self, keys: Sequence[Codes], amounts: Counts) -> None:
        """Counts more rows with a plain group-by; merges them with the first part once there are enough."""
        self._parts.append(summed(keys, amounts))
        held, *waiting = (len(sums) for _, sums in self._parts)
        if sum(waiting) > max(held, MERGED):
            self.result()

    def result(self) -> tuple[list[Codes], Counts]:
        """The distinct rows as one array per column, and their sums."""
        if not self._parts:
            raise ValueError("nothing was counted, not even an empty batch")
        if len(self._parts) > 1:
            self._parts = [summed(*joined(self._parts))]
        return self._parts[0]


@dataclass(frozen=True)
class Data:
    """The rows of a release, equal ones counted."""

    columns: dict[str, Column]
    """All columns, in order; their codes are those of the distinct rows."""
    counts: Counts
    """How often each distinct row appears in the release."""
    weights: Counts
    """How many records these rows represent together: their count if there is no weight column."""
    disorder: Finding | None
    """The first place where the rows are not sorted, if there is one."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.counts.sum())

    def rows_of(self, chosen: NDArray[np.bool_]) -> int:
        """How many rows the chosen distinct rows represent."""
        return int(self.counts[chosen].sum())

    def gaps(self, name: str) -> int:
        """How many rows have no value in a column."""
        return self.rows_of(self.columns[name].missing())


def read_data(files: DataFiles, manifest: Claims) -> tuple[Data, list[Finding]]:
    """The rows of a release, and findings about what the files carry next to them."""
    reading = Reading(files)
    for batch in files.batches():
        reading.add(batch)
    return reading.data(manifest), list(reading.unused())


class Reading:
    """What is kept of the batches read so far: the distinct rows with their counts, and the last row.

    Rows of a release are sorted, so equal ones are adjacent. Only if they are not, all have to be grouped.
    """

    def __init__(self, files: DataFiles) -> None:
        self._runs: list[tuple[list[Codes], Counts]] = []
        self._tally = Tally()
        self._last = files.schema.empty_table()
        self._vocabularies = [Vocabulary(_encoded(name, self._last[name])) for name in files.schema.names]
        self._disorder: Finding | None = None
        self._rows = 0
        self.add(self._last)

    def add(self, batch: pa.Table) -> None:
        """Takes the next rows, with the row before them, which must not be larger than the first."""
        rows = pa.concat_tables([self._last, batch])
        carried = self._last.num_rows
        columns = [_encoded(name, rows[name]) for name in rows.column_names]
        self._disorder = self._disorder or order_finding(columns, self._rows - carried)
        for vocabulary in self._vocabularies:
            vocabulary.store(batch[vocabulary.name])
        pairs = zip(self._vocabularies, columns, strict=True)
        codes = [vocabulary.numbers(column.values)[column.codes[carried:]] for vocabulary, column in pairs]
        self._runs.append(runs_of(codes, np.ones(batch.num_rows, dtype=np.int64)))
        self._rows += batch.num_rows
        self._last = rows.slice(max(rows.num_rows - 1, 0))
        if self._disorder is not None:
            for run in self._runs:
                self._tally.add(*run)
            self._runs = []

    def unused(self) -> Iterator[Finding]:
        """Findings about values that a file lists and no row holds."""
        for name, words in ((item.name, item.unused()) for item in self._vocabularies):
            if words:
                message = f"the dictionary of the column {name!r} lists {listed(words)}, which no row holds"
                yield Finding("dictionary", f"{PARQUET}: {message}.")

    def data(self, manifest: Claims) -> Data:
        """The rows, once all batches were added."""
        keys, counts = runs_of(*joined(self._runs)) if self._disorder is None else self._tally.result()
        columns = {item.name: item.column(key) for item, key in zip(self._vocabularies, keys, strict=True)}
        weights = counts
        for name, holds in manifest.columns:
            if holds == "counts":
                _check_counts(columns[name], counts)
        if isinstance(manifest, RefinementManifest) and manifest.weight is not None:
            weights = _weights(columns[manifest.weight], counts)
        return Data(columns, counts, weights, self._disorder)


def order_finding(columns: Sequence[Column], before: int) -> Finding | None:
    """The first row that is smaller than the one before it, column after column from the left.

    Any other order may be that of the input, which can identify people.
    """
    first, where = len(columns[0].codes), None
    undecided = np.ones(max(first - 1, 0), dtype=np.bool_)
    for column in columns:
        above, below = column.codes[:-1], column.codes[1:]
        wrong = np.flatnonzero(undecided & (below < above))
        if len(wrong) and wrong[0] + 1 < first:
            first, where = int(wrong[0]) + 1, column
        undecided &= below == above
    if where is None:
        return None
    return Finding(
        "order",
        f"{PARQUET}: row {before + first + 1:,} has {where.text(where.codes[first])} after "
        f"{where.text(where.codes[first - 1])}, so the rows are not sorted by their released values.",
    )


def _encoded(name: str, column: pa.ChunkedArray) -> Column:
    try:
        return encode(name, column)
    except pa.ArrowException as error:
        message = f"{PARQUET}: the column {name!r} holds {column.type}, which cannot be compared."
        raise broken("columns", message) from error


def _check_counts(column: Column, counts: Counts) -> None:
    """Every reader can add up noisy counts exactly. `check_cells` checks the rest."""
    largest = pc.max(column.values).as_py() or 0
    if largest > COUNT:
        raise broken("count", f"the column {column.name!r} holds {largest:,}; a count is at most {COUNT:,}.")
    _check_sum(column, column.values.fill_null(0).to_numpy()[column.codes], counts, "count")


def _check_sum(column: Column, amounts: Counts, counts: Counts, claim: str) -> None:
    """Sums are 64-bit whole numbers, and would overflow."""
    if (amounts.astype(np.float64) * counts).sum() > RECORDS:
        raise broken(claim, f"the column {column.name!r} adds up to more than {RECORDS:,}, which cannot be counted.")


def _weights(column: Column, counts: Counts) -> Counts:
    if not is_number(column.values.type):
        raise broken("weight", f"the weight column {column.name!r} holds {column.values.type}, not numbers.")
    for value in column.values.to_pylist():
        if value is None or not 1 <= value <= COUNT or value != int(value):
            message = f"the weight column {column.name!r} holds {value!r}, which is not a whole number above 0."
            raise broken("weight", message)
    weights: Counts = pc.cast(column.values, pa.int64()).to_numpy()[column.codes]
    _check_sum(column, weights, counts, "weight")
    return weights * counts
