"""What the raw table would give away: inferences above a confidence, and groups below a size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unveil.arrays import FloatArray, IntArray, grouped, packed_keys
from unveil.schema import value_text
from unveil.tables import Table

THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The confidences that PDA counts inferences above, in its Table 3."""


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
    """How many records are in groups below k."""


def raw_groups(table: Table, names: Sequence[str], sensitive: str | None = None) -> tuple[IntArray, IntArray]:
    """Groups of the raw table: the row number of a member, and counts (one row per group).

    Args:
        table: The table.
        names: The attributes to group by.
        sensitive: Count per value of this attribute; all records together if it is not given.
    """
    place = {attribute.name: column for column, attribute in enumerate(table.attributes)}
    held = [table.columns[place[name]] for name in names]
    keys = packed_keys([column.codes for column in held], [len(column) for column in held])
    order, starts, group = grouped(keys)
    weight = np.ones(table.rows, dtype=np.int64) if table.weight is None else table.weight
    secret = None if sensitive is None else table.columns[place[sensitive]]
    width = 1 if secret is None else len(secret)
    cells = group if secret is None else group * width + secret.codes[order]
    counts = np.bincount(cells, weights=weight[order], minlength=len(starts) * width)
    return order[starts], counts.astype(np.int64).reshape(len(starts), width)


def inference_risk(
    table: Table, channel: Sequence[str], sensitive: str, values: Sequence[str], limit: float, worst: int = 3
) -> InferenceRisk:
    """Counts the inferences that the raw table allows, and finds the worst: the surest about the most people."""
    place = {attribute.name: column for column, attribute in enumerate(table.attributes)}
    domain = [str(value) for value in table.columns[place[sensitive]].values]
    members, counts = raw_groups(table, channel, sensitive)
    codes = [domain.index(value) for value in values]
    held = counts[:, codes]
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
    _, counts = raw_groups(table, quasi_identifier)
    sizes = counts[:, 0]
    return GroupRisk(
        quasi_identifier=tuple(quasi_identifier),
        k=k,
        groups=len(sizes),
        small=int((sizes < k).sum()),
        unique=int((sizes == 1).sum()),
        people=int(sizes[sizes < k].sum()),
    )


def _values(table: Table, names: Sequence[str], row: int) -> dict[str, str]:
    place = {attribute.name: column for column, attribute in enumerate(table.attributes)}
    columns = [table.columns[place[name]] for name in names]
    return {column.name: value_text(column.array[int(column.codes[row])].as_py()) for column in columns}
