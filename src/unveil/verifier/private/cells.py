"""The rows of a differentially private release: one count for each cell, of all cells or of those above a threshold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from unveil.errors import rows_text
from unveil.verifier.columns import Column, Groups, group
from unveil.verifier.data import Data
from unveil.verifier.findings import Finding
from unveil.verifier.parts import PARQUET
from unveil.verifier.private.claims import COUNT, DiffGenManifest, exact_text
from unveil.verifier.private.promise import cell_total
from unveil.verifier.raw import plain, text
from unveil.verifier.rows import twice_findings


def check_cells(manifest: DiffGenManifest, data: Data) -> Iterator[Finding]:
    """No cell stands twice, no count is none, and what must be listed is.

    A cell that is left out because nobody is in it tells that nobody is in it. So all cells are listed, or those
    whose noisy count reaches a threshold: work follows the rows and not the cells, of which there may be 10^12.
    """
    columns = [data.columns[name] for name in manifest.labels]
    listed = group(columns, data.counts)
    yield from twice_findings(listed)
    yield from _count_findings(data, manifest.threshold or 0, columns)
    if manifest.threshold is None:
        yield from _coverage_findings(manifest, listed)


def _count_findings(data: Data, least: int, columns: list[Column]) -> Iterator[Finding]:
    counts = data.columns[COUNT]
    if counts.values.null_count:
        lacking = rows_text(data.rows_of(counts.codes == len(counts.values) - 1))
        yield Finding("count", f"{PARQUET}: the column {COUNT!r} has no value in {lacking}.")
    too_low = pc.fill_null(pc.less(counts.values, least), False).to_numpy(zero_copy_only=False)
    low = too_low[counts.codes]
    if low.any():
        row = int(np.argmax(low))
        place = ", ".join(column.text(int(column.codes[row])) for column in columns)
        count = counts.values[int(counts.codes[row])].as_py()
        claim, what = ("threshold", f"the threshold is {least:,}") if least else ("count", "no count is below 0")
        message = f"({place}) has the count {count:,}, but {what} (too low in {rows_text(data.rows_of(low))})"
        yield Finding(claim, f"{PARQUET}: {message}.")


def _coverage_findings(manifest: DiffGenManifest, listed: Groups) -> Iterator[Finding]:
    labels = manifest.labels
    pairs = zip(listed.columns, listed.keys, strict=True)
    places = [_places(column, labels[column.name])[key] for column, key in pairs]
    known = np.all([place >= 0 for place in places], axis=0)
    total, found = cell_total(manifest), int(known.sum())
    if found < total:
        missing = _first_missing([place[known] for place in places], [len(names) for names in labels.values()])
        cell = ", ".join(f"{name}={labels[name][place]!r}" for name, place in zip(labels, missing, strict=True))
        message = f"{PARQUET} lists {found:,} of the {exact_text(total)} cells, but without a threshold all are listed"
        yield Finding("coverage", f"{message}: ({cell}) is not.")


def _places(column: Column, names: list[str]) -> NDArray[np.int64]:
    """For each code of a column the place of its label in the cut; -1 where it is none."""
    place_of = {name: place for place, name in enumerate(names)}
    return np.array([place_of.get(text(value) or "", -1) for value in plain(column.values)], dtype=np.int64)


def _first_missing(places: list[NDArray[np.int64]], sizes: list[int]) -> list[int]:
    """The first cell that is not listed.

    Of all cells numbered in order, one of the first so many plus one is missing if so many are listed. Numbers above
    that are all the same here, so that none grows with the number of cells.
    """
    end = len(places[0])
    numbers = np.zeros(end, dtype=np.int64)
    for place, size in zip(places, sizes, strict=True):
        numbers = np.minimum(numbers * size + place, end + 1)
    seen = np.zeros(end + 2, dtype=np.bool_)
    seen[numbers] = True
    number = int(np.argmin(seen[: end + 1]))
    cell: list[int] = []
    for size in reversed(sizes):
        cell.append(number % size)
        number //= size
    return cell[::-1]
