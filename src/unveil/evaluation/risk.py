"""What the raw table would give away, and what in it may undo the promise of its release. For the owner alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.arrays import FloatArray, IntArray, group_numbers, grouped, packed_keys
from unveil.errors import listed, rows_text
from unveil.schema import AlphaKAnonymity, Confidence, Spec, value_text
from unveil.tables import Column, Table, open_source

THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The confidences that PDA counts inferences above, in its Table 3."""
LOOKED_AT = 100_000
"""This many rows are enough to see whether one column determines another."""
PERSONAL = 0.1
"""An identifier with fewer values than this share of its rows does not seem to name persons."""
OWN = 0.1
"""A column nearly identifies where this share of the rows holds a unique value."""
TELLS = 0.95
"""A column determines another one where it gives its value for this share of the rows,"""
BETTER = 0.1
"""and leaves this share at most of what one would get wrong without it."""


@dataclass(frozen=True)
class Inference:
    """`ic → π`: who the raw values of the channel point at, and how sure one can be of the sensitive value."""

    channel: dict[str, str]
    value: str
    held: int
    size: int

    @property
    def confidence(self) -> float:
        """s(ic, π) / s(ic)."""
        return self.held / self.size


@dataclass(frozen=True)
class InferenceRisk:
    """All inferences from a channel to some sensitive values that the raw table allows."""

    channel: tuple[str, ...]
    sensitive: str
    limit: float
    above: dict[float, int]
    """How many inferences lie above each confidence; the limit is among them."""
    people: int
    """How many records hold a sensitive value that can be inferred above the limit."""
    worst: tuple[Inference, ...]


@dataclass(frozen=True)
class GroupRisk:
    """Groups of the raw table on a quasi-identifier that are smaller than k."""

    quasi_identifier: tuple[str, ...]
    k: int
    groups: int
    small: int
    unique: int
    people: int
    """How many records are in groups below k; how many persons, each counted once per group, if the table says whose
    row each is."""


def _raw_groups(table: Table, names: Sequence[str], sensitive: Column) -> tuple[IntArray, IntArray]:
    """Groups of the raw table: the row number of a member, and the records per sensitive value, one row per group."""
    held = [table.column(name) for name in names]
    order, starts, group = grouped(packed_keys([column.codes for column in held], [len(column) for column in held]))
    cells = group * len(sensitive) + sensitive.codes[order]
    counts = np.bincount(cells, weights=table.row_records[order], minlength=len(starts) * len(sensitive))
    return order[starts], counts.astype(np.int64).reshape(len(starts), len(sensitive))


def inference_risk(
    table: Table, channel: Sequence[str], sensitive: str, values: Sequence[str], limit: float, worst: int = 3
) -> InferenceRisk:
    """Counts the inferences that the raw table allows, and finds the worst: the surest about the most people."""
    column = table.column(sensitive)
    members, counts = _raw_groups(table, channel, column)
    held = counts[:, [column.texts.index(value) for value in values]]
    sizes = counts.sum(axis=1)
    shares: FloatArray = held / sizes[:, None]
    ranked = np.lexsort((-held.ravel(), -shares.ravel()))[:worst]
    return InferenceRisk(
        channel=tuple(channel),
        sensitive=sensitive,
        limit=limit,
        above={share: int((shares > share).sum()) for share in sorted({*THRESHOLDS, limit})},
        people=int(held[shares > limit].sum()),
        worst=tuple(
            Inference(
                _values(table, channel, members[group]), values[number], int(held[group, number]), int(sizes[group])
            )
            for group, number in zip(*np.unravel_index(ranked, shares.shape), strict=True)
            if shares[group, number] > limit
        ),
    )


def group_risk(table: Table, quasi_identifier: Sequence[str], k: int) -> GroupRisk:
    """Counts the groups of the raw table that are smaller than k."""
    numbers, groups = group_numbers([table.column(name).codes for name in quasi_identifier])
    if table.person is None:
        sizes = np.bincount(numbers, weights=table.row_records, minlength=groups)
    else:
        everybody = int(table.person.max()) + 1
        sizes = np.bincount(np.unique(numbers * everybody + table.person) // everybody)
    return GroupRisk(
        quasi_identifier=tuple(quasi_identifier),
        k=k,
        groups=len(sizes),
        small=int((sizes < k).sum()),
        unique=int((sizes == 1).sum()),
        people=int(sizes[sizes < k].sum()),
    )


def _values(table: Table, names: Sequence[str], row: int) -> dict[str, str]:
    columns = [table.column(name) for name in names]
    return {column.name: value_text(column.array[int(column.codes[row])].as_py()) for column in columns}


def table_warnings(spec: Spec, table: Table, as_is: Sequence[str], source: Any = None) -> Iterator[str]:
    """Everything that looks wrong, in sentences; `as_is` are the columns that no requirement protects."""
    if spec.draft:
        yield "this spec is a draft: read it, correct its guesses and remove the line draft = true before you publish"
    yield from _several_rows(spec, table, source)
    yield from _survey_weight(spec, table)
    yield from _unheld(spec, table)
    for name in as_is:
        yield from _gives_away(name, spec, table)


def _several_rows(spec: Spec, table: Table, source: Any) -> Iterator[str]:
    """Identifiers that repeat: records are counted, and somebody in several rows counts several times."""
    names = [name for name, attribute in spec.attributes.items() if attribute.role == "identifier"]
    if not names or spec.table.person:
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


def _survey_weight(spec: Spec, table: Table) -> Iterator[str]:
    """Weights count equal records that were made one row. Those of a survey say how many people a row speaks for."""
    name, weight = spec.table.weight, table.weight
    if name is None or weight is None or not len(weight):
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
    for requirement in spec.requirements:
        if isinstance(requirement, Confidence | AlphaKAnonymity):
            column = table.column(requirement.sensitive)
            texts = column.texts
            held = {texts[code] for code in np.unique(column.codes)}
            if missing := [value for value in requirement.values or () if value not in held]:
                yield f"no row holds {listed(missing)} of {requirement.sensitive!r}, which a requirement limits"


def _gives_away(name: str, spec: Spec, table: Table) -> Iterator[str]:
    """A column that is released as it is and points at people, or at what a masked column hides."""
    codes = _codes(name, table)
    counts = np.bincount(codes)
    own = float(np.mean(counts[codes] == 1)) if len(codes) else 0.0
    if own >= OWN:
        yield f"{name!r} is released as it is, and {own:.0%} of the rows have a unique value in it"
        return
    for attribute, column in zip(table.attributes, table.columns, strict=True):
        if attribute.name in spec.masked and attribute.name != name:
            share = _determined(codes[:LOOKED_AT], column.codes[:LOOKED_AT].astype(np.int64))
            if share is not None:
                yield (
                    f"{name!r} is released as it is, and reveals the raw value of the masked {attribute.name!r} for "
                    f"{share:.0%} of the rows"
                )


def _determined(codes: IntArray, hidden: IntArray) -> float | None:
    """For how many rows one column determines another one; None where that is not much, or no more than a guess."""
    if not len(codes):
        return None
    share = best_guesses(codes, hidden).rows.sum() / len(codes)
    guessed = np.bincount(hidden).max() / len(hidden)
    return float(share) if determines(share, guessed) else None


class Guesses(NamedTuple):
    """For each code of one column the likeliest value of another."""

    value: IntArray
    """-1 for a code that no row holds."""
    rows: IntArray
    """How many rows with the code hold that value."""


def best_guesses(codes: IntArray, hidden: IntArray) -> Guesses:
    """What one column says about another, row by row: the commonest value next to each code."""
    size = int(hidden.max()) + 1
    pairs, counts = np.unique(codes.astype(np.int64) * size + hidden, return_counts=True)
    # The last of the pairs of a code in this order is its commonest; of equals, the lowest value.
    order = np.lexsort((-(pairs % size), counts, pairs // size))
    last = order[np.flatnonzero(np.diff(pairs[order] // size, append=-1))]
    value, rows = np.full(int(codes.max()) + 1, -1, dtype=np.int64), np.zeros(int(codes.max()) + 1, dtype=np.int64)
    value[pairs[last] // size], rows[pairs[last] // size] = pairs[last] % size, counts[last]
    return Guesses(value, rows)


def determines(share: float, guessed: float) -> bool:
    """Whether columns that tell a value for a share of the rows determine it, where another guess is right for one."""
    return bool(share >= TELLS and 1 - share <= BETTER * (1 - guessed) and guessed < 1)


def _codes(name: str, table: Table) -> IntArray:
    if name in table.others.names:
        encoded = pc.dictionary_encode(table.other_columns[name].combine_chunks(), null_encoding="encode")
        others: IntArray = encoded.indices.to_numpy().astype(np.int64)
        return others
    return table.column(name).codes.astype(np.int64)
