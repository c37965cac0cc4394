"""The owner's ledger: what all differentially private releases of a table have cost so far.

It has an entry for every release, which says what was read: a file, a table of a database, or rows that the spec gives
a name. A release is entered before anything is drawn, so that a crash can only make the ledger too high, never too low.
ε for one record and ε for one person do not add up, so a budget is in one of them.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from unveil.errors import BudgetError, UnchargedWarning, listed
from unveil.release import replace_text
from unveil.schema import Query, Spec, decimal_text
from unveil.schema.files import read_text
from unveil.tables import table_read

try:
    import fcntl
except ImportError:  # where files cannot be locked, releases must be made one after the other
    fcntl = None  # type: ignore[assignment]

LEDGER = "unveil-ledger.json"
AMOUNT = re.compile(r"[0-9]{1,300}([/.][0-9]{1,300})?")
"""An ε as the ledger writes it, or as a person might: never so long that reading it takes a while."""


@dataclass(frozen=True)
class Identity:
    """What the ledger knows rows by. Where it knows nothing of them, they may be those of any table."""

    path: Path | None = None
    """The real place of the file, the folder or the database."""
    table: str | None = None
    """Of a database, the table that is read, if it is one only."""
    name: str | None = None
    """What the spec calls the rows."""

    def called(self) -> str:
        """What a sentence calls them."""
        if self.path is None:
            return repr(self.name)
        return self.path.name if self.table is None else f"{self.table} in {self.path.name}"

    def entry(self, folder: Path) -> dict[str, str]:
        """What an entry of a ledger in this folder says of them."""
        source = None if self.path is None else os.path.relpath(self.path, folder)
        return {
            key: value
            for key, value in (("source", source), ("table", self.table), ("name", self.name))
            if value is not None
        }

    def may_share(self, other: Identity) -> bool:
        """Whether a person can be in both: a folder holds the people of its files, a database those of its tables."""
        if not (self.path or self.name) or not (other.path or other.name):
            return True
        if self.name is not None and self.name == other.name:
            return True
        if self.path is None or other.path is None:
            return False
        apart = self.table is not None and other.table is not None and self.table != other.table
        return not apart and (self.path.is_relative_to(other.path) or other.path.is_relative_to(self.path))


def rows_of(spec: Spec, source: Any) -> Identity:
    """What is read, whatever the spec names as its source."""
    if isinstance(source, Query):
        return Identity(source.path.resolve(), table_read(source), spec.table.name)
    path = Path(source).resolve() if isinstance(source, str | Path) else None
    return Identity(path, None, spec.table.name)


def ledger_of(spec: Spec, rows: Identity) -> Path | None:
    """Where releases of these rows by this spec are entered; None if there is no place for it.

    Next to the spec, if it is a file. Otherwise next to what is read; and rows in memory that have a name are entered
    in the working folder.
    """
    if spec.is_file:
        return spec.folder / LEDGER
    if rows.path is not None:
        return rows.path.parent / LEDGER
    return Path(LEDGER) if rows.name is not None else None


def enter(spec: Spec, source: Any) -> None:
    """Enters a private release of what is read into the ledger; refused where the table's budget does not allow it."""
    if spec.plan is None:
        return
    rows = rows_of(spec, source)
    if spec.table.budget is not None and rows.path is None and rows.name is None:
        raise BudgetError(
            f"{spec.origin}: [table] budget is about a table, but these rows came without a path; give them a name "
            "([table] name)."
        )
    ledger = ledger_of(spec, rows)
    if ledger is None:
        warnings.warn(
            f"This release costs ε = {decimal_text(spec.plan.epsilon)} and is not entered in a ledger, since its rows "
            "came without a path and the spec is not a file; give the rows a name ([table] name) to have it counted.",
            UnchargedWarning,
            stacklevel=3,
        )
        return
    _charge(ledger, rows, spec.plan.epsilon, spec)


def _check_unit(ledger: Path, entries: Sequence[dict[str, Any]], rows: Identity, person: Sequence[str]) -> None:
    """Refuses a budget for one unit where another was charged: of a person with several rows, none bounds the other."""
    for entry in entries:
        if _rows(entry, ledger.parent).may_share(rows) and (charged := entry.get("person", [])) != list(person):
            before, now = (f"one person by {listed(names)}" if names else "one record" for names in (charged, person))
            raise BudgetError(
                f"{ledger}: releases of {rows.called()} were charged ε for {before}, which does not add up with ε for "
                f"{now}; a [table] budget needs the same [table] person in all of them."
            )


def _charge(ledger: Path, rows: Identity, epsilon: Fraction, spec: Spec) -> None:
    path = _real(ledger)
    with _locked(path.parent):
        entries = read_ledger(path)
        spent = spent_on(entries, rows, path.parent)
        budget = spec.table.budget
        if budget is not None:
            _check_unit(path, entries, rows, spec.table.person)
        if budget is not None and spent + epsilon > budget:
            raise BudgetError(
                f"{ledger}: releases of {rows.called()} have cost ε = {decimal_text(spent)} of the budget "
                f"{decimal_text(budget)}; {decimal_text(budget - spent)} is left, and this one asks for "
                f"{decimal_text(epsilon)}."
            )
        whose = {"person": list(spec.table.person)} if spec.table.person else {}
        entry = {**rows.entry(path.parent), "spec": spec.origin, "epsilon": str(epsilon), **whose}
        replace_text(path, json.dumps([*entries, entry], ensure_ascii=False, indent=1) + "\n", "ledger")


def read_ledger(path: Path) -> list[dict[str, Any]]:
    """The entries of a ledger; one that cannot be read is refused, since nobody knows what it said."""
    if not path.exists():
        return []
    text = read_text(path, "ledger", BudgetError)
    try:
        entries = json.loads(text)
        if not isinstance(entries, list):
            raise TypeError
        for entry in entries:
            if not AMOUNT.fullmatch(entry["epsilon"]) or Fraction(entry["epsilon"]) <= 0:
                raise ValueError(entry)
            if not all(isinstance(entry[key], str) for key in ("source", "table", "name") if key in entry):
                raise TypeError(entry)
            if not all(isinstance(name, str) for name in entry.get("person", [])):
                raise TypeError(entry)
    except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError) as error:
        raise BudgetError(f"{path}: the ledger is damaged, so what is left of the budget is unknown.") from error
    return entries


def spent_on(entries: Sequence[dict[str, Any]], rows: Identity, folder: Path) -> Fraction:
    """What the releases of these rows have cost, by the entries of a ledger in this folder."""
    return sum((Fraction(entry["epsilon"]) for entry in entries if _rows(entry, folder).may_share(rows)), Fraction(0))


def _rows(entry: dict[str, Any], folder: Path) -> Identity:
    source = entry.get("source")
    path = None if source is None else Path(os.path.normpath(folder / source))
    return Identity(path, entry.get("table"), entry.get("name"))


def _real(ledger: Path) -> Path:
    """The file behind a ledger, which folders may share by a link; the link stays one.

    Refuses a file that has other names: these would keep what it said before.
    """
    try:
        real = ledger.resolve()
        if ledger.is_symlink() and not real.is_file():
            raise BudgetError(f"{ledger}: the ledger is a broken link, so what was spent is unknown.")
        if real.is_file() and real.stat().st_nlink > 1:
            raise BudgetError(f"{ledger}: the ledger has other names (hard links); share it by a symbolic link.")
    except (OSError, RuntimeError) as error:
        raise BudgetError(f"{ledger}: the ledger cannot be read: {getattr(error, 'strerror', error)}.") from error
    return real


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Only one release at a time reads and writes the ledger of a folder."""
    if fcntl is None:
        yield
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise BudgetError(f"{folder / LEDGER}: the ledger cannot be written: {error.strerror}.") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
