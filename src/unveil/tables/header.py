"""The first line of a csv file: the names of the columns, or a row already."""

from __future__ import annotations

from collections.abc import Sequence

from unveil.errors import listed
from unveil.schema import parse_number

SHOWN = 3


def header_doubt(names: Sequence[str]) -> str:
    """A clause that doubts that a line holds names; nothing if no name is a number.

    Numbers can be names, as in a table with a column per year. So this is told and decides nothing.
    """
    numbers = [name for name in dict.fromkeys(names) if parse_number(name) is not None]
    if not numbers:
        return ""
    return (
        f"the first line looks like values and not like names of columns ({listed(numbers, SHOWN)}): if it is a row, "
        "put a line of names before it"
    )
