"""The owner's ledger: what all differentially private releases of a table have cost so far.

It is a file beside the spec, shared by all specs in that folder, with an entry for every release of a table. A release
is entered before anything is drawn, so that a crash can only make the ledger too high, never too low.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from unveil.errors import BudgetError
from unveil.release import replace_text
from unveil.schema import Spec, decimal_text

try:
    import fcntl
except ImportError:  # where files cannot be locked, releases must be made one after the other
    fcntl = None  # type: ignore[assignment]

LEDGER = "unveil-ledger.json"


def enter(spec: Spec) -> None:
    """Enters a release into the ledger, or refuses it where the table's budget does not allow it.

    A spec that is no file has no place beside it; its releases are the caller's to count.
    """
    if spec.plan is None or spec.table.source is None or not spec.is_file:
        return
    path = spec.folder / LEDGER
    with _locked(spec.folder):
        entries = read_ledger(path)
        source = table_name(spec.folder, spec.table.source)
        spent = spent_on(entries, source)
        budget = spec.table.budget
        if budget is not None and spent + spec.plan.epsilon > budget:
            raise BudgetError(
                f"{path}: releases of {spec.table.source} have cost ε = {decimal_text(spent)} of the budget "
                f"{decimal_text(budget)}; {decimal_text(budget - spent)} is left, and this one asks for "
                f"{decimal_text(spec.plan.epsilon)}."
            )
        entry = {"source": source, "spec": spec.origin, "epsilon": str(spec.plan.epsilon)}
        replace_text(path, json.dumps([*entries, entry], ensure_ascii=False, indent=1) + "\n", "ledger")


def read_ledger(path: Path) -> list[dict[str, Any]]:
    """The entries of a ledger; one that cannot be read is refused, since nobody knows what it said."""
    if not path.exists():
        return []
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(entries, list):
            raise TypeError
        for entry in entries:
            if not isinstance(entry["epsilon"], str) or Fraction(entry["epsilon"]) <= 0:
                raise ValueError(entry)
            if not isinstance(entry["source"], str):
                raise TypeError(entry)
    except OSError as error:
        raise BudgetError(f"{path}: the ledger cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError) as error:
        raise BudgetError(f"{path}: the ledger is damaged, so what is left of the budget is not known.") from error
    return entries


def spent_on(entries: list[dict[str, Any]], source: str) -> Fraction:
    """What the releases of a table have cost."""
    return sum((Fraction(entry["epsilon"]) for entry in entries if entry["source"] == source), Fraction(0))


def table_name(folder: Path, source: str) -> str:
    """What the ledger calls a table: its real place, so that two ways of writing it are one table."""
    return os.path.relpath((folder / source).resolve(), folder.resolve())


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
