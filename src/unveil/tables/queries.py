"""Rows from a query to a database, opened read-only so that nothing can change while it is open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from unveil.errors import TableError
from unveil.frames import check_names
from unveil.schema import Query
from unveil.tables import files
from unveil.tables.projections import foreign_part

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ISOLATED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",
}
"""Settings with which a query can read only the database: no other file, and no variable of this program."""
ZONED_TIME = "TIME WITH TIME ZONE"
"""Arrow has no such type: the zone would be lost, and different values would become equal."""


class QuerySource:
    """The rows of a query.

    DuckDB locks an open database, so no other process can write to it between two passes, and this process opens it
    read-only. Where rows are read again and a query looks at more than one at a time, DuckDB runs it in one thread:
    several would give them in another order each time. A query may still give others, by chance or by the clock; those
    who read them again must notice.
    """

    def __init__(self, query: Query) -> None:
        self.origin = query.path.name
        self._path = query.path
        self._connection = _opened(query.path)
        self._text = query.text
        with self._reported():
            self._check_statement()
            if query.by_row:
                self._check_by_row()
            rows = self._rows()
            self._names = list(rows.columns)
            self._types = [str(type_) for type_ in rows.types]
            schema = rows.to_arrow_reader(1).schema
        check_names(self._names, f"{self.origin}: query")
        self.schema = pa.schema([field.with_name(name) for field, name in zip(schema, self._names, strict=True)])

    def rows(self) -> int:
        """How many rows there are."""
        with self._reported():
            return int(self._rows().aggregate("count(*)").fetchall()[0][0])

    def stamp(self) -> object:
        """Size and time of the database file."""
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns

    def table(self, columns: Sequence[str]) -> pa.Table:
        """These columns of all rows."""
        with self._reported():
            return self._chosen(columns).to_arrow_table().rename_columns(list(columns)).replace_schema_metadata(None)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, some rows at a time, in the same order each time."""
        with self._reported():
            if not self._is_by_row():
                self._connection.execute("set threads = 1")
            for batch in self._chosen(columns).to_arrow_reader(files.BATCH):
                table = pa.Table.from_batches([batch])
                yield table.rename_columns(list(columns)).replace_schema_metadata(None)

    def _chosen(self, columns: Sequence[str]) -> Any:
        """Only these columns, so that DuckDB reads no others; by position, since it takes `a` for `A`."""
        places = [self._names.index(name) for name in columns]
        for place in places:
            if self._types[place] == ZONED_TIME:
                raise TableError(
                    f"{self.origin}: column {self._names[place]!r}: values of type {ZONED_TIME} cannot be used."
                )
        return self._rows().project(", ".join(f"#{place + 1}" for place in places))

    def _rows(self) -> Any:
        """The query, not run yet, on its own connection."""
        return self._session().sql(self._text)

    def _session(self) -> DuckDBPyConnection:
        """Its own connection, in UTC: what an instant shows does not depend on the zone of the machine."""
        cursor = self._connection.cursor()
        cursor.execute("set TimeZone = 'UTC'")
        return cursor

    def _check_statement(self) -> None:
        """A query is one SELECT, and nothing that changes or sets anything."""
        import duckdb

        found = [str(statement.type.name) for statement in duckdb.extract_statements(self._text)]
        if len(found) != 1:
            raise TableError(f"{self.origin}: the query holds {len(found)} statements, but it must be one SELECT.")
        if found != ["SELECT"]:
            raise TableError(f"{self.origin}: the query is of the kind {found[0]}, but only a SELECT is run.")

    def _check_by_row(self) -> None:
        """Under differential privacy, a query must treat each row on its own."""
        if part := foreign_part(self._session(), self._text):
            raise TableError(
                f"{self.origin}: under differential privacy a query may only choose columns and rows of one table, "
                f"each row by itself, but this one has {part}."
            )

    def _is_by_row(self) -> bool:
        """Whether a query treats each row on its own, which gives rows in the order of their table."""
        import duckdb

        try:
            return foreign_part(self._session(), self._text) is None
        except duckdb.Error:
            return False

    @contextmanager
    def _reported(self) -> Iterator[None]:
        import duckdb

        try:
            yield
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            raise TableError(f"{self.origin}: the query cannot be run: {_said(error)}.") from error


def table_read(query: Query) -> str | None:
    """The one table of the database that a query reads, also through a view; None where it reads none or several."""
    connection = _opened(query.path)
    names = {name.casefold() for name in connection.get_table_names(query.text)}
    tables = connection.execute("select schema_name, table_name from duckdb_tables()").fetchall()
    found = [f"{schema}.{table}" for schema, table in tables if {table.casefold()} == names]
    return found[0] if len(found) == 1 else None


def _opened(path: Path) -> DuckDBPyConnection:
    try:
        import duckdb
    except ImportError as error:
        raise TableError(
            f"{path}: a query to a database needs DuckDB, which is not installed: install unveil[duckdb]."
        ) from error
    if not path.is_file():
        raise TableError(f"{path}: there is no such database file.")
    try:
        return duckdb.connect(str(path), read_only=True, config=ISOLATED)
    except duckdb.Error as error:
        raise TableError(f"{path}: {_refusal(_said(error))}.") from error


def _refusal(said: str) -> str:
    """Why a database cannot be opened."""
    if "lock" in said:
        return "the database is being written by another process, so it cannot be read now"
    if "different configuration" in said:
        return "the database is open in this process already, in another way; close that connection first"
    # DuckDB would open a data file, such as csv, next to a database in memory.
    if "not a valid" in said or "in-memory" in said:
        return "the file is not a DuckDB database"
    return f"the database cannot be opened: {said}"


def _said(error: BaseException) -> str:
    """What DuckDB says, without the excerpt of the query, as a clause of a sentence."""
    head = " ".join(str(error).strip().partition("\n\n")[0].split())
    return head.rstrip(".!") or type(error).__name__
