"""The rows of a release: how many, none incomplete, in an order of their own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unveil.errors import rows_text
from unveil.verify.columns import Groups, group, missing
from unveil.verify.data import PARQUET, Data
from unveil.verify.findings import Finding
from unveil.verify.parts import MANIFEST, Claims
from unveil.verify.refinement import RefinementManifest


def check_rows(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """All claims about the rows of a refinement that are not about privacy."""
    yield from _count_findings(manifest, data)
    yield from check_order(manifest, data)
    if manifest.weight is not None:
        columns = [column for name, column in data.columns.items() if name != manifest.weight]
        yield from twice_findings(group(columns, np.ones(data.rows, dtype=np.int64)))


def check_order(manifest: Claims, data: Data) -> Iterator[Finding]:
    """The rows of any release: none lacks a label or its class, and they are sorted."""
    yield from _missing_findings(manifest, data)
    yield from _order_findings(data)


def twice_findings(groups: Groups) -> Iterator[Finding]:
    """Where a column says how many records a row stands for, no two rows are equal.

    Args:
        groups: The groups of equal rows, each with the number of its rows.
    """
    if (groups.sizes > 1).any():
        worst = int(np.argmax(groups.sizes))
        yield Finding(
            "equal-rows",
            f"{PARQUET}: {groups.text(worst)} stands in {rows_text(int(groups.sizes[worst]))}, "
            "but equal rows are one row with one count.",
        )


def _count_findings(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    rows, records = manifest.rows, int(data.weights.sum())
    if data.rows == 0:
        yield Finding("rows", f"{PARQUET} holds no rows.")
    if rows.released != data.rows:
        yield Finding("rows", f"{PARQUET} has {data.rows:,} rows, but rows.released is {rows.released:,}.")
    if manifest.records != records:
        yield Finding("records", f"{PARQUET} stands for {records:,} records, but records is {manifest.records:,}.")
    kept = rows.read - rows.dropped
    # With weights, rows that are equal after masking are one row.
    if rows.released > kept or (manifest.weight is None and rows.released != kept):
        yield Finding(
            "rows",
            f"{MANIFEST} says that {rows.read:,} rows were read, {rows.dropped:,} dropped "
            f"and {rows.released:,} released, which does not add up.",
        )


def _missing_findings(manifest: Claims, data: Data) -> Iterator[Finding]:
    for name in [*manifest.masked, manifest.class_]:
        column = data.columns[name]
        count = int(missing(column.values)[column.codes].sum())
        if count:
            yield Finding("missing", f"{PARQUET}: the column {name!r} has no value in {rows_text(count)}.")


def _order_findings(data: Data) -> Iterator[Finding]:
    """Each row is at least as large as the one before it, column after column from the left.

    Any other order may follow the order of the input, which can tell who is who.
    """
    undecided = np.ones(max(data.rows - 1, 0), dtype=np.bool_)
    for column in data.columns.values():
        before, after = column.codes[:-1], column.codes[1:]
        wrong = undecided & (after < before)
        if wrong.any():
            row = int(np.argmax(wrong)) + 1
            yield Finding(
                "order",
                f"{PARQUET}: row {row + 1:,} has {column.text(column.codes[row])} after "
                f"{column.text(column.codes[row - 1])}, so the rows are not sorted by their released values.",
            )
            return
        undecided &= after == before
