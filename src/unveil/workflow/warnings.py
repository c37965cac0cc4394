"""What in a table may undo the promise of its release, as far as the table itself shows. For the owner alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import IntArray
from unveil.errors import listed, rows_text
from unveil.schema import AlphaKAnonymity, Confidence, Spec
from unveil.tables import Table, open_source

LOOKED_AT = 100_000
"""So many rows are enough to see whether one column tells another."""
PERSONAL = 0.1
"""An identifier with fewer values than this share of its rows does not seem to name persons."""
OWN = 0.1
"""A column nearly identifies where this share of the rows holds a value of its own."""
TELLS = 0.95
"""A column determines another one where it tells its value for this share of the rows,"""
BETTER = 0.1
"""and leaves this share at most of what one would get wrong without it."""


def table_warnings(spec: Spec, table: Table, as_is: Sequence[str], source: Any = None) -> Iterator[str]:
    """Everything that looks wrong, in sentences.

    Args:
        spec: The spec.
        table: The checked table.
        as_is: The columns that no requirement holds.
        source: The rows as they were given; the spec's own source where they were not.
    """
    yield from _several_rows(spec, table, source)
    if spec.table.weight is not None and table.weight is not None:
        yield from _survey_weight(spec.table.weight, table)
    yield from _unheld(spec, table)
    for name in as_is:
        yield from _gives_away(name, spec, table)


def _several_rows(spec: Spec, table: Table, source: Any) -> Iterator[str]:
    """Identifiers that repeat: records are counted, and somebody in several rows counts several times."""
    names = [name for name, attribute in spec.attributes.items() if attribute.role == "identifier"]
    if not names:
        return  # asked for no column, a csv file is read with all of them
    opened = open_source(spec.source if source is None else source, spec)
    rows = opened.table([name for name in names if name in opened.schema.names]).filter(pa.array(table.kept))
    for name in rows.column_names:
        values = len(rows[name].unify_dictionaries().unique())
        if PERSONAL * rows.num_rows <= values < rows.num_rows:
            yield (
                f"the identifier {name!r} has {values:,} values in {rows_text(rows.num_rows)}: if it says whose row it "
                "is, some people have several rows, and k and ε are about records, not about people"
            )


def _survey_weight(name: str, table: Table) -> Iterator[str]:
    """Weights count equal records that were made one row. Those of a survey say how many people a row speaks for."""
    weight = table.weight
    if weight is None or not len(weight):
        return
    codes = [column.codes for column in (*table.columns, table.classes)]
    equal = table.rows - len(np.unique(np.stack(codes, axis=1), axis=0))
    rarely_one = bool(np.mean(weight == 1) < 0.05)
    if equal or rarely_one:
        why = f"{rows_text(equal)} repeat others" if equal else "hardly any weight is 1"
        yield (
            f"the weight {name!r} looks like that of a survey ({why}): there a row is one person, and a group of k "
            "records may be one respondent; leave [table] weight out"
        )


def _unheld(spec: Spec, table: Table) -> Iterator[str]:
    """Declared values that a requirement limits and no row holds: perhaps they are spelt another way."""
    place = {attribute.name: column for column, attribute in enumerate(table.attributes)}
    for requirement in spec.requirements:
        if isinstance(requirement, Confidence | AlphaKAnonymity):
            column = place[requirement.sensitive]
            counts = table.histograms[column].sum(axis=1)
            held = {str(value) for value, count in zip(table.columns[column].values, counts, strict=True) if count}
            if missing := [value for value in requirement.values or () if value not in held]:
                yield f"no row holds {listed(missing)} of {requirement.sensitive!r}, which a requirement limits"


def _gives_away(name: str, spec: Spec, table: Table) -> Iterator[str]:
    """A column that is released as it is and points at people, or at what a masked column hides."""
    codes = _codes(name, table)
    counts = np.bincount(codes)
    own = float(np.mean(counts[codes] == 1)) if len(codes) else 0.0
    if own >= OWN:
        yield f"{name!r} is released as it is, and {own:.0%} of the rows hold a value of their own in it"
        return
    for attribute, column in zip(table.attributes, table.columns, strict=True):
        if attribute.name in spec.masked and attribute.name != name:
            told = _told(codes[:LOOKED_AT], column.codes[:LOOKED_AT].astype(np.int64))
            if told is not None:
                yield (
                    f"{name!r} is released as it is, and tells the raw value of the masked {attribute.name!r} for "
                    f"{told:.0%} of the rows"
                )


def _told(codes: IntArray, hidden: IntArray) -> float | None:
    """For how many rows one column tells another one; None where that is not much, or no more than a guess."""
    if not len(codes):
        return None
    pairs, counts = np.unique(codes.astype(np.int64) * (int(hidden.max()) + 1) + hidden, return_counts=True)
    best = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    np.maximum.at(best, pairs // (int(hidden.max()) + 1), counts)
    told, guessed = best.sum() / len(codes), np.bincount(hidden).max() / len(hidden)
    return float(told) if told >= TELLS and 1 - told <= BETTER * (1 - guessed) and guessed < 1 else None


def _codes(name: str, table: Table) -> IntArray:
    for column in table.columns:
        if column.name == name:
            codes: IntArray = column.codes.astype(np.int64)
            return codes
    encoded = pc.dictionary_encode(table.other_columns[name].combine_chunks(), null_encoding="encode")
    others: IntArray = encoded.indices.to_numpy().astype(np.int64)
    return others
