"""Columns as codes, so that every check is arithmetic on small whole numbers; rows of codes, counted; dates as days."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

MERGED = 1 << 18
"""At least this many rows wait before they are merged with the distinct ones."""


START = date(1970, 1, 1)
WRITTEN = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d.*)?", re.ASCII)


def day_number(value: Any) -> int | None:
    """How many days after 1970-01-01 a date, a time stamp or the text of one lies; None for anything else.

    A time stamp lies on the day that it shows, in whatever zone it is written.
    """
    if isinstance(value, datetime):
        value = value.date()
    if isinstance(value, str):
        value = _read_day(value)
    return (value - START).days if isinstance(value, date) else None


def day_text(number: int) -> str:
    """The day as ISO 8601 writes it."""
    return (START + timedelta(days=number)).isoformat()


def _read_day(text: str) -> date | None:
    found = WRITTEN.fullmatch(text)
    try:
        return datetime.strptime(found[1], "%Y-%m-%d").date() if found else None
    except ValueError:
        return None


Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
COARSER = {pa.time64("ns"): pa.time64("us"), pa.duration("ns"): pa.duration("us")}
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Column:
    """A column as its distinct values and, for every row, the position of its value.

    Attributes:
        name: The name of the column.
        values: The distinct values in ascending order, a missing value last. Text is ordered by its
            UTF-8 bytes, so that comparing codes compares released values as a release orders them.
        codes: For every row, the position of its value in `values`.
    """

    name: str
    values: pa.Array
    codes: Codes

    def text(self, code: int) -> str:
        """The value of a code as it reads in a finding."""
        return f"{self.name}={self.values[code].as_py()!r}"

    def texts(self) -> list[str | None]:
        """The distinct values as specs and manifests name them; None for a missing one."""
        return [text(value) for value in plain(self.values)]

    def named(self) -> list[str]:
        """The distinct values that are neither missing nor empty, as specs and manifests name them."""
        return [word for word in self.texts() if word]


@dataclass(frozen=True)
class Groups:
    """The groups of equal rows over some columns.

    Attributes:
        columns: The columns that were grouped by.
        keys: One array per column: the code that each group holds there.
        sizes: The sum of the weights of each group.
    """

    columns: Sequence[Column]
    keys: Sequence[Codes]
    sizes: Counts

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
    names = [str(position) for position in range(len(keys))]
    table = pa.table([*keys, amounts], names=[*names, "amount"])
    sums = table.group_by(names).aggregate([("amount", "sum")])
    return [sums[name].to_numpy() for name in names], sums["amount_sum"].to_numpy()


def missing(values: pa.Array) -> NDArray[np.bool_]:
    """Which values are missing: null, or not a number."""
    found: NDArray[np.bool_] = pc.is_null(values, nan_is_null=True).to_numpy(zero_copy_only=False)
    return found


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    if pa.types.is_dictionary(kind):
        return is_text(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type holds numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def plain(values: pa.Array) -> list[Any]:
    """Arrow values as Python values; as text if Python has no such value, as for a time exact to the nanosecond."""
    kind = values.type
    coarse = pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) else COARSER.get(kind, kind)
    try:
        return list(pc.cast(values, coarse).to_pylist())
    except pa.ArrowException:
        return list(pc.cast(values, pa.string()).to_pylist())


def text(value: Any) -> str | None:
    """A raw value as text; None if it is missing."""
    if value is None or value != value:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def number(value: Any) -> int | float | None:
    """A raw value as a finite number; None for anything else."""
    if isinstance(value, str):
        value = value.strip()
        if not NUMBER.fullmatch(value):
            return None
        value = int(value) if value.lstrip("+-").isdigit() else float(value)
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return value


class Vocabulary:
    """The distinct values of a column that is read in batches, numbered in the order of their first row."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._values: pa.Array | None = None

    @property
    def values(self) -> pa.Array:
        """The values by their numbers."""
        return pa.nulls(0) if self._values is None else self._values

    def numbers(self, values: pa.Array) -> Codes:
        """The number of each value; a new one gets the next."""
        known = values if self._values is None else pa.concat_arrays([self._values, values])
        encoded = pc.dictionary_encode(known, null_encoding="encode")
        self._values = encoded.dictionary
        numbers: Codes = encoded.indices.to_numpy()[len(known) - len(values) :]
        return numbers

    def column(self, numbers: Codes) -> Column:
        """A column of such numbers, with codes in the order of its values."""
        ranked = encode(self.name, pa.chunked_array([self.values]))
        return Column(self.name, ranked.values, ranked.codes[numbers])


class Tally:
    """Distinct rows of codes, each with the sum of its amounts. Memory grows with the distinct rows alone."""

    def __init__(self) -> None:
        self._held: tuple[list[Codes], Counts] | None = None
        self._waiting: list[tuple[list[Codes], Counts]] = []

    def add(self, keys: Sequence[Codes], amounts: Counts) -> None:
        """Counts more rows with a plain group-by; merges the waiting ones once there are enough."""
        self._waiting.append(summed(keys, amounts))
        held = 0 if self._held is None else len(self._held[1])
        if sum(len(sums) for _, sums in self._waiting) > max(held, MERGED):
            self._merge()

    def result(self) -> tuple[list[Codes], Counts]:
        """The distinct rows as one array per column, and their sums."""
        self._merge()
        if self._held is None:
            raise ValueError("nothing was counted, not even an empty batch")
        return self._held

    def _merge(self) -> None:
        parts = [*([] if self._held is None else [self._held]), *self._waiting]
        if len(parts) > 1:
            columns = zip(*(keys for keys, _ in parts), strict=True)
            keys = [np.concatenate(pieces) for pieces in columns]
            self._held = summed(keys, np.concatenate([sums for _, sums in parts]))
        elif parts:
            [self._held] = parts
        self._waiting = []
