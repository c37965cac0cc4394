"""The table that a search works on: checked against the spec, missing rows dealt with, every column in codes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.arrays import BoolArray, FloatArray, IntArray
from unveil.errors import TableError, did_you_mean, listed, rows_text
from unveil.masking import days
from unveil.schema import Attribute, Spec, widened_days
from unveil.tables.columns import Column, RawColumn, class_column, number_column, raw_column, text_column, weights
from unveil.tables.sources import read_table
from unveil.tables.types import other_columns


@dataclass(frozen=True)
class Table:
    """A checked table. Columns and attributes stand in the order of the spec, identifiers left out."""

    attributes: tuple[Attribute, ...]
    columns: tuple[Column, ...]
    classes: Column
    weight: IntArray | None
    others: pa.Table
    """Columns that the spec does not describe and releases as they are."""
    read: int
    dropped: int
    origin: str

    @property
    def rows(self) -> int:
        """How many rows are left after the missing-value policy."""
        return len(self.classes.codes)

    @property
    def records(self) -> int:
        """How many records the rows stand for."""
        return self.rows if self.weight is None else int(self.weight.sum())

    def bounds(self, place: int) -> tuple[float, float]:
        """The range of a number: declared, or observed and widened to round numbers."""
        attribute = self.attributes[place]
        if attribute.range is not None:
            return attribute.range
        values = np.asarray(self.columns[place].values, dtype=np.float64)
        if attribute.unit == "date":
            return widened_days(values.min(), values.max())
        return widened(values, whole=attribute.whole)


def load_table(spec: Spec, source: Any = None) -> Table:
    """Reads the table and checks it against the spec.

    Args:
        spec: What the owner says about the table.
        source: A path or a frame in memory; the spec's own source where it is not given.
    """
    raw, origin = read_table(spec.source_path if source is None else source)
    described = [attribute.name for attribute in spec.released]
    _check_columns(spec, raw.column_names, origin)
    if raw.num_rows == 0 and spec.plan is None:
        raise TableError(f"{origin}: the table has no rows.")
    names = [*described, spec.table.class_, *([spec.table.weight] if spec.table.weight else [])]
    dates = {attribute.name for attribute in spec.released if attribute.unit == "date"}
    columns = {
        name: raw_column(name, days(raw[name]) if name in dates else raw[name], spec.table.missing.values, origin)
        for name in names
    }
    kept = _kept_rows(list(columns.values()), spec, origin)
    columns = {name: column.keep(kept) for name, column in columns.items()}
    return Table(
        attributes=spec.released,
        columns=tuple(
            number_column(columns[attribute.name], attribute, origin, snap=spec.plan is not None)
            if attribute.ordered
            else text_column(columns[attribute.name], attribute, origin)
            for attribute in spec.released
        ),
        classes=_class_column(columns[spec.table.class_], spec, origin),
        weight=weights(columns[spec.table.weight], origin) if spec.table.weight else None,
        others=_others(spec, raw, kept, origin),
        read=raw.num_rows,
        dropped=raw.num_rows - int(kept.sum()),
        origin=origin,
    )


def _check_columns(spec: Spec, names: Sequence[str], origin: str) -> None:
    described = [*spec.attributes, spec.table.class_, *([spec.table.weight] if spec.table.weight else [])]
    for name in described:
        if name not in names:
            hint = did_you_mean(name, names) or f"; it has {listed(names)}."
            raise TableError(f"{origin}: the column {name!r} that {spec.origin} describes is not in the table{hint}")
    unknown = [name for name in names if name not in described]
    if unknown and spec.table.others == "refuse":
        raise TableError(
            f"{origin}: {spec.origin} does not describe the columns {listed(unknown, 30)}; describe them, "
            "or set [table] others to 'drop' or 'release'."
        )


def _kept_rows(columns: Sequence[RawColumn], spec: Spec, origin: str) -> BoolArray:
    missing = np.zeros(len(columns[0].indices), dtype=np.bool_)
    for column in columns:
        if spec.table.missing.rows == "refuse" and column.missing.any():
            rows = rows_text(int(column.missing.sum()))
            raise TableError(
                f"{origin}: the column {column.name!r} has missing values ({rows}), and the policy of "
                f"{spec.origin} is to refuse them; set missing.rows to 'drop' to leave such rows out."
            )
        if column.missing.all() and spec.plan is None:
            raise TableError(f"{origin}: the column {column.name!r} is missing in every row, so none is left.")
        missing |= column.missing
    if missing.all() and spec.plan is None:
        raise TableError(f"{origin}: every row has a missing value, so none is left.")
    return ~missing


def _class_column(raw: RawColumn, spec: Spec, origin: str) -> Column:
    column = class_column(raw, spec.table.class_values, origin, private=spec.plan is not None)
    # Whether a private table is empty or of one class must not show, so such tables are published like any other.
    if len(raw.distinct) < 2 and spec.plan is None:
        label = column.values[int(column.codes[0])]
        raise TableError(
            f"{origin}: the class {raw.name!r} has one label only, {label!r}, so there is nothing to learn."
        )
    return column


def _others(spec: Spec, raw: pa.Table, kept: BoolArray, origin: str) -> pa.Table:
    described = {*spec.attributes, spec.table.class_, spec.table.weight}
    names = [name for name in raw.column_names if name not in described]
    if spec.table.others != "release" or not names:
        return pa.table({})
    return other_columns(raw.select(names), origin).filter(pa.array(kept))


def widened(numbers: FloatArray, *, whole: bool) -> tuple[float, float]:
    """Round numbers below and above what was observed, so that no release prints the exact extremes.

    Whole numbers are rounded to tens at least. Zero stays: it is where amounts begin, not a value that points at
    somebody.
    """
    lo, hi = float(numbers.min()), float(numbers.max())
    exponent = max(math.floor(math.log10((hi - lo) or abs(hi) or 1.0)), 1 if whole else -300)
    grid = 10.0**exponent
    below = math.floor(lo / grid) - (1 if lo != 0 and math.floor(lo / grid) * grid == lo else 0)
    above = math.floor(hi / grid) + 1
    return round(below * grid, -exponent), round(above * grid, -exponent)
