"""The owner's raw table, read apart from the code that publishes it: plain rules, one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.errors import TableError, listed
from unveil.limits import COUNT
from unveil.verifier.columns import Column, Counts, encode, missing
from unveil.verifier.queries import open_query
from unveil.verifier.sources import open_table

if TYPE_CHECKING:
    from unveil.schema import Spec

COARSER = {pa.time64("ns"): pa.time64("us"), pa.duration("ns"): pa.duration("us")}
LARGEST_ALONE = 2**31
"""The largest weight where rows that are not valid are dropped."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Raw:
    """Some of the raw rows that a release must stand for.

    Attributes:
        columns: All columns that a release may show, without the dropped rows.
        weights: How many records each row stands for.
        read: How many rows were read.
        dropped: How many of them lack a value and fall away by the owner's policy.
    """

    columns: dict[str, Column]
    weights: Counts
    read: int
    dropped: int


def read_raw(spec: Spec) -> Iterator[Raw]:
    """Reads the raw table of a spec, some rows at a time, and drops the rows that the spec says to drop.

    Raises:
        TableError: The table cannot be read, or lacks a column that the spec describes.
    """
    path = spec.source_path
    weight = spec.table.weight
    described = [name for name, attribute in spec.attributes.items() if attribute.role != "identifier"]
    needed = [*described, spec.table.class_, *([] if weight is None else [weight])]
    table = (
        open_table(path, by_line=spec.table.drops_invalid)
        if spec.table.query is None
        else open_query(path, spec.table.query)
    )
    if absent := [name for name in needed if name not in table.schema.names]:
        raise TableError(f"{path}: the table has no column {listed(absent)}.")
    names = needed
    if spec.table.others == "release":
        names = [*needed, *(name for name in table.schema.names if name not in {*needed, *spec.attributes})]
    for batch in table.batches(names):
        columns = {name: _encoded(name, batch[name], path) for name in names}
        keep = np.ones(batch.num_rows, dtype=np.bool_)
        if spec.table.missing.rows == "drop":
            for name in needed:
                keep &= ~_without_value(columns[name], spec.table.missing.values)
        if spec.table.drops_invalid and weight is not None:
            valid = [_is_weight(value, LARGEST_ALONE) for value in plain(columns[weight].values)]
            keep &= np.array(valid, dtype=np.bool_)[columns[weight].codes]
        columns = {name: Column(name, column.values, column.codes[keep]) for name, column in columns.items()}
        kept = int(keep.sum())
        weights = np.ones(kept, dtype=np.int64) if weight is None else _weights(columns[weight], path)
        yield Raw(columns, weights, batch.num_rows, batch.num_rows - kept)


def plain(values: pa.Array) -> list[Any]:
    """Arrow values as Python values; as text where Python has no such value: a time exact to the nanosecond."""
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
    """A raw value as a finite number; None if it is none."""
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


def _without_value(column: Column, marks: tuple[str, ...]) -> NDArray[np.bool_]:
    marked = np.array([value in marks for value in plain(column.values)], dtype=np.bool_)
    rows: NDArray[np.bool_] = (marked | missing(column.values))[column.codes]
    return rows


def _weights(column: Column, path: Path) -> Counts:
    weights = np.zeros(len(column.values), dtype=np.int64)
    for code in np.unique(column.codes):
        value = column.values[int(code)].as_py()
        if not _is_weight(value):
            raise TableError(f"{path}: {column.text(int(code))} is a weight, but not a whole number above 0.")
        weights[code] = int(number(value) or 0)
    rows: Counts = weights[column.codes]
    return rows


def _is_weight(value: Any, most: int = COUNT) -> bool:
    records = number(value)
    return records is not None and 1 <= records <= most and records == int(records)


def _encoded(name: str, column: pa.ChunkedArray, path: Path) -> Column:
    try:
        return encode(name, column)
    except pa.ArrowException as error:
        message = f"{path}: the column {name!r} holds {column.type}, which cannot be compared."
        raise TableError(message) from error
