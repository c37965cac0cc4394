"""Lets the oracle count every table again that a test publishes."""

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from oracles.recount import Published, broken
from unveil.release import Release
from unveil.tables import Outline, Table


def recounting(publish: Callable[..., Release]) -> Callable[..., Release]:
    """The same publisher of masked rows, whose releases fail the test if a promise of theirs does not hold."""

    def published(table: Outline, *rest: Any) -> Release:
        release = publish(table, *rest)
        found = broken(seen(release, table))
        assert not found, "\n".join(found)
        return release

    return published


def seen(release: Release, table: Outline) -> Published:
    """A release as the oracle sees it."""
    rows, counts = release.rows.counted()
    raw = {
        column.name: dict(zip(column.plain(), histogram.sum(axis=1).tolist(), strict=True))
        for column, histogram in zip(table.columns, table.histograms, strict=True)
    }
    manifest = release.manifest.model_dump(mode="json", by_alias=True)
    columns = {name: plain(rows[name]) for name in rows.column_names}
    return Published(manifest, columns, counts.tolist(), raw, list(raw_rows(table)))


def plain(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column; a label is read once, however many rows have it."""
    if not pa.types.is_dictionary(column.type):
        return column.to_pylist()
    found: list[Any] = []
    for chunk in column.chunks:
        labels = chunk.dictionary.to_pylist()
        found += [None if code is None else labels[code] for code in chunk.indices.to_pylist()]
    return found


def raw_rows(table: Outline) -> Iterator[tuple[dict[str, Any], int]]:
    """The raw rows and whose each is, if the table says so and is held in memory."""
    if isinstance(table, Table) and table.person is not None:
        held = [column.array.take(pa.array(column.codes)).to_pylist() for column in table.columns]
        names = [column.name for column in table.columns]
        for *values, person in zip(*held, table.person.tolist(), strict=True):
            yield dict(zip(names, values, strict=True)), person
