"""Derived columns as the verifier recomputes them, independently of the code that publishes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from unveil.errors import TableError, listed
from unveil.verifier.claims import MANIFEST, Claims, Derived, Entry, Released, Suppression, counted
from unveil.verifier.columns import Column, encode, number, plain, text
from unveil.verifier.days import day_number
from unveil.verifier.findings import Finding

if TYPE_CHECKING:
    from unveil.verifier.data import Data


def derived_value(way: Derived, value: Any) -> str | None:
    """What is derived from a raw value; None if it is missing.

    Raises:
        ValueError: Nothing can be derived from it.
    """
    word = text(value)
    if word is None:
        return None
    if isinstance(value, str) and value in way.missing:
        return None if way.names is None else value
    if way.names is not None:
        return _label(way.names, value, word)
    no, yes = way.values[0], way.values[-1]
    wanted = way.among if way.equals is None else [way.equals]
    if wanted is not None and isinstance(wanted[0], str):
        return yes if word in wanted else no
    dated = any(isinstance(bound, str) for bound in (*way.limits, *(way.bands or ())))
    held = day_number(value) if dated else number(value)
    if held is None:
        raise ValueError("it is not a date" if dated else "it is not a number")
    if wanted is not None:
        return yes if held in wanted else no
    if way.bands is not None:
        begun = [label for bound, label in zip(way.bands, way.values, strict=True) if counted(bound) <= held]
        if not begun:
            raise ValueError("it lies below the first band")
        return begun[-1]
    return yes if _within(way, held) else no


def _label(names: Mapping[str, str], value: Any, code: str) -> str:
    """The label of a code; a whole number may be stored with a fraction of zero."""
    if isinstance(value, float) and value.is_integer():
        code = str(int(value))
    if code not in names and code not in names.values():
        raise ValueError("it has no label")
    return names.get(code, code)


def _within(way: Derived, held: float) -> bool:
    at_least, above, at_most, below = (None if limit is None else counted(limit) for limit in way.limits)
    return not (
        (at_least is not None and held < at_least)
        or (above is not None and held <= above)
        or (at_most is not None and held > at_most)
        or (below is not None and held >= below)
    )


def check_derived(manifest: Claims) -> Iterator[Finding]:
    """What is derived is released, from a column of the raw table, and its cut discloses nothing else."""
    for name, derived in manifest.derived.items():
        if name not in manifest.names:
            yield Finding("derived", f"{MANIFEST} says how {name!r} is derived, but it is not released.")
        if derived.source in manifest.derived and manifest.derived[derived.source].names is None:
            yield Finding("derived", f"{MANIFEST} derives {name!r} from {derived.source!r}, which is derived itself.")
        entry = manifest.masking.get(name)
        if isinstance(entry, Suppression) and entry.domain != "declared":
            yield Finding("derived", f"{MANIFEST}: {name!r} is derived, so its domain is declared, not observed.")
        if isinstance(entry, Suppression) and (odd := sorted(set(entry.disclosed) - _given(derived, entry))):
            yield Finding("derived", f"{MANIFEST}: {name!r} discloses {listed(odd)}, which its derivation never gives.")


def _given(derived: Derived, entry: Entry | None) -> set[str]:
    """What a column can hold: what its derivation gives, and the kinds of missing values that are kept."""
    return {*derived.values, *(() if entry is None else entry.missing)}


def check_derived_values(manifest: Claims, data: Data) -> Iterator[Finding]:
    """A derived column that is released as it is holds what its derivation gives, and nothing else."""
    for name, derived in manifest.derived.items():
        entry = manifest.masking.get(name)
        shown = name in data.columns and isinstance(entry, Released | None)
        if shown and (odd := sorted(set(data.columns[name].named()) - _given(derived, entry))):
            yield Finding("derived", f"the column {name!r} holds {listed(odd)}, which its derivation never gives.")


def derived_columns(derived: Mapping[str, Derived], batch: pa.Table, place: str, *, drops: bool) -> dict[str, Column]:
    """The derived columns of some raw rows. What cannot be derived is missing if such rows are dropped.

    Raises:
        TableError: Nothing can be derived from a value, and the spec does not say to drop its row.
    """
    columns = {}
    for name, way in derived.items():
        raw = encode(way.source, batch[way.source])
        found: list[str | None] = []
        for value in plain(raw.values):
            try:
                found.append(derived_value(way, value))
            except ValueError as error:
                if not drops:
                    raise TableError(f"{place}: {name!r} cannot be derived from {value!r}: {error}.") from error
                found.append(None)
        words = pc.take(pa.array(found, pa.string()), pa.array(raw.codes))
        columns[name] = encode(name, pa.chunked_array([words]))
    return columns
