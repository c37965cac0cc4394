"""A query to a database, used in place of a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from unveil.errors import SpecError

DATABASES = frozenset({".duckdb", ".ddb"})
"""Endings of a database file."""


@dataclass(frozen=True)
class Query:
    """The rows that a query selects from a database file."""

    path: Path
    text: str
    by_row: bool = False
    """Whether it may only select columns and rows, looking at one row at a time, as differential privacy requires."""


def source_of(path: Path, query: str | None, *, by_row: bool = False) -> Path | Query:
    """The file or folder itself, or a query to it."""
    return path if query is None else Query(path, query, by_row)


def check_query(source: str | None, query: str | None, origin: str) -> None:
    """A query needs a database, and a database needs a query.

    Raises:
        SpecError: One is given without the other.
    """
    if query is not None and source is None:
        raise SpecError(f"{origin}: [table] has a query but no source, the database file to run it on.")
    if query is None and source is not None and Path(source).suffix in DATABASES:
        raise SpecError(f"{origin}: [table] source is the database {source!r}, so a query must select the rows.")
    if query is not None and not query.strip():
        raise SpecError(f"{origin}: [table] query is empty.")
