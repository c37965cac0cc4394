"""The released columns as codes, so that every check is arithmetic on small whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]


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
    """Turns a column into codes.

    Raises:
        pyarrow.ArrowException: The column holds neither text nor numbers, truth values or times.
    """
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
