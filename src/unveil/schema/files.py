"""The owner's files: specs, taxonomies and tables, and queries to a database used in place of a table.

They must be regular files, since a pipe or a device may never end.
"""

from __future__ import annotations

import re
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unveil.errors import SpecError, UnveilError

PARTS = 100
"""How many parts a key of a spec may have: parsing takes quadratic time."""
DOTTED = re.compile(rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{PARTS}}}""")
DATABASES = frozenset({".duckdb", ".ddb"})
"""Endings of a database file."""


def check_regular(path: Path, what: str, error: type[UnveilError]) -> None:
    """Refuses what is not a regular file."""
    try:
        str(path).encode()
        mode = path.stat().st_mode
    except (OSError, ValueError) as cause:
        raise error(f"{path}: the {what} cannot be read: {_reason(cause)}.") from cause
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise error(f"{path}: the {what} cannot be read: it is {kind}.")


def _reason(cause: OSError | ValueError) -> str:
    if isinstance(cause, OSError):
        return cause.strerror or "it cannot be opened"
    return "its name is not UTF-8 text" if isinstance(cause, UnicodeEncodeError) else str(cause)


def read_text(path: Path, what: str, error: type[UnveilError]) -> str:
    """The text of a UTF-8 file; a file that cannot be read is an error of the given kind."""
    check_regular(path, what, error)
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as cause:
        raise error(f"{path}: the {what} cannot be read: {_reason(cause)}.") from cause
    except UnicodeDecodeError as cause:
        raise error(f"{path}: the {what} is not UTF-8 text (byte {cause.start}).") from cause


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a spec file."""
    return toml_of(read_text(path, "spec", SpecError), path)


def toml_of(text: str, path: Path) -> dict[str, Any]:
    """The content of a text that is, or may become, the spec file at this path."""
    if long := DOTTED.search(text):
        line = text.count("\n", 0, long.start()) + 1
        raise SpecError(f"{path}: line {line}: a key has more than {PARTS} parts.")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise SpecError(f"{path}: the spec is nested too deeply.") from error
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{path}: the spec is not TOML: {error}.") from error
    except ValueError as error:  # a number of thousands of digits
        raise SpecError(f"{path}: the spec cannot be read: {str(error).partition(';')[0]}.") from error


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
    """Refuses a query without a database, and a database without a query."""
    if query is not None and source is None:
        raise SpecError(f"{origin}: [table] has a query but no source, the database file to run it on.")
    if query is None and source is not None and Path(source).suffix in DATABASES:
        raise SpecError(f"{origin}: [table] source is the database {source!r}, so a query must select the rows.")
    if query is not None and not query.strip():
        raise SpecError(f"{origin}: [table] query is empty.")
