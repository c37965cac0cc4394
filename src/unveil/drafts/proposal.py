"""Drafts of taxonomies: the way that fits the values, or the one that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from unveil.drafts.places import LISTS_MISSING, by_places, has_lists
from unveil.drafts.values import Proposal, UnfitError, Values, column_values, tree_of
from unveil.drafts.ways import by_dates, by_frequency, by_numbers, by_prefix
from unveil.errors import TableError, TaxonomyError, did_you_mean
from unveil.schema import Taxonomy, printable


class Way(Protocol):
    """A way to draft; raises `UnfitError` where it does not fit. What was asked for need fit less well than a guess."""

    def __call__(self, values: Values, *, asked: bool) -> Proposal:
        """The paths of the values and why the way fits."""
        ...


WAYS: dict[str, Way] = {
    "dates": by_dates,
    "countries": by_places,
    "prefix": by_prefix,
    "numbers": by_numbers,
    "frequency": by_frequency,
}
"""All ways, in the order in which they are tried; the last fits always."""


@dataclass(frozen=True)
class Draft:
    """A proposed taxonomy, and what was guessed about the column."""

    values: Values
    by: str
    reason: str
    taxonomy: Taxonomy


def draft(table: Any, attribute: str, by: str | None = None, missing: Sequence[str] | None = None) -> Draft:
    """Proposes a taxonomy whose leaves are the values of a column.

    Args:
        table: A path to a table, or a pandas, polars or pyarrow table.
        attribute: The column.
        by: The way, one of `WAYS`; without, the first that fits.
        missing: Texts that mean that a value is missing; without, the usual ones.
    """
    if by is not None and by not in WAYS:
        hint = did_you_mean(by, WAYS) or f"; the ways are {', '.join(WAYS)}."
        raise TaxonomyError(f"a taxonomy cannot be drafted by {by!r}{hint}")
    values = column_values(table, attribute, missing)
    chosen, proposal = _guessed(values) if by is None else (by, _asked(values, by))
    mark = (
        f"drafted by {chosen} from the values of {attribute!r} in {printable(values.origin)}; "
        "not public until a person removes this mark"
    )
    branch = tree_of(f"Any {attribute}", proposal.paths)
    return Draft(values, chosen, proposal.reason, Taxonomy(branch, values.place, mark))


def _asked(values: Values, by: str) -> Proposal:
    try:
        return WAYS[by](values, asked=True)
    except UnfitError as error:
        raise TableError(f"{values.place}: a taxonomy cannot be drafted by {by}: {error}.") from error


def _guessed(values: Values) -> tuple[str, Proposal]:
    for by, way in WAYS.items():
        try:
            proposal = way(values, asked=False)
        except UnfitError:
            continue
        if by == "frequency":
            doubt = "" if has_lists() else f"; {LISTS_MISSING}"
            return by, Proposal(proposal.paths, f"{proposal.reason}, since no other way fits{doubt}")
        return by, proposal
    raise AssertionError("a draft by frequency fits any values")
