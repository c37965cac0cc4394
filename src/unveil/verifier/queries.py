"""The rows of a query to a database, read apart from the code that publishes them, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from unveil.errors import TableError
from unveil.verifier import batches
from unveil.verifier.findings import first_line

APART = (("enable_external_access", "false"), ("python_enable_replacements", "false"))
"""A query sees its database alone."""


@dataclass(frozen=True)
class RawQuery:
    """What a database gives for a query. It is opened to be read, and only a single SELECT is put to it.

    Attributes:
        path: The database file.
        query: The query.
        schema: The columns that it gives.
    """

    path: Path
    query: str
    schema: pa.Schema

    def batches(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, some rows at a time; first without a row, so that the columns are known.

        Raises:
            TableError: The query cannot be answered.
        """
        yield pa.schema([self.schema.field(name) for name in names]).empty_table()
        with _answer(self.path, self.query) as answer:
            for batch in answer:
                yield pa.Table.from_batches([batch]).select(names).replace_schema_metadata(None)


def open_query(path: Path, query: str) -> RawQuery:
    """Finds out what the columns of a query hold.

    Raises:
        TableError: The query cannot be answered.
    """
    with _answer(path, query) as answer:
        return RawQuery(path, query, answer.schema.remove_metadata())


@contextmanager
def _answer(path: Path, query: str) -> Iterator[Any]:
    try:
        import duckdb
    except ImportError as error:
        raise TableError(f"{path}: a query can only be put to a database where DuckDB is installed.") from error
    if not path.is_file():
        raise TableError(f"{path}: there is no such database file.")
    try:
        if [statement.type.name for statement in duckdb.extract_statements(query)] != ["SELECT"]:
            raise TableError(f"{path}: the query is not a single SELECT.")
        with duckdb.connect(str(path), read_only=True, config=dict(APART)) as database:
            database.execute("set TimeZone = 'UTC'")
            yield database.sql(query).to_arrow_reader(batches.BATCH)
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise TableError(f"{path}: the query cannot be answered: {first_line(error)}.") from error
