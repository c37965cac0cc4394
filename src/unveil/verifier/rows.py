"""The rows of a release: how many, none incomplete, in an order of their own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unveil.errors import count_text, rows_text
from unveil.verifier.columns import Groups, group, missing
from unveil.verifier.data import Data
from unveil.verifier.findings import Finding
from unveil.verifier.parts import MANIFEST, PARQUET, Claims
from unveil.verifier.refinement import RefinementManifest


def check_rows(manifest: RefinementManifest, data: Data) -> Iterator[Finding]:
    """All claims about the rows of a refinement that are not about privacy."""
    yield from _count_findings(manifest, data)
    yield from check_order(manifest, data)
    if manifest.weight is not None:
        columns = [column for name, column in data.columns.items() if name != manifest.weight]
        yield from twice_findings(group(columns, data.counts))


def check_order(manifest: Claims, data: Data) -> Iterator[Finding]:
    """The rows of any release: none lacks a label or its class, and they are sorted."""
    yield from _missing_findings(manifest, data)
    if data.disorder is not None:
        yield data.disorder


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
        yield Finding("rows", f"{PARQUET} has {rows_text(data.rows)}, but rows.released is {rows.released:,}.")
    if manifest.records != records:
        found = count_text(records, "record")
        yield Finding("records", f"{PARQUET} stands for {found}, but records is {manifest.records:,}.")
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
        count = data.rows_of(missing(column.values)[column.codes])
        if count:
            yield Finding("missing", f"{PARQUET}: the column {name!r} has no value in {rows_text(count)}.")
