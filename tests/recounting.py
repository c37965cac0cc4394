"""Lets the oracle count every table again that a test publishes."""

from collections.abc import Callable
from typing import Any

from oracles.recount import Published, broken
from unveil.release import Release
from unveil.tables import Outline


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
        column.name: dict(zip(column.array.to_pylist(), histogram.sum(axis=1).tolist(), strict=True))
        for column, histogram in zip(table.columns, table.histograms, strict=True)
    }
    return Published(release.manifest.model_dump(mode="json", by_alias=True), rows.to_pylist(), counts.tolist(), raw)
