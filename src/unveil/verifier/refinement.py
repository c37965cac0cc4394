"""The claims of a release of masked rows."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from unveil.limits import COLUMNS
from unveil.verifier.parts import Claims, Entry, Holds, Name, Part, RecordCount, Released, RowCount


class Rows(Part):
    """Rows of the input and of the data file."""

    read: RowCount
    dropped: RowCount
    released: RowCount


class RefinementManifest(Claims):
    """All claims of a release by refinement."""

    weight: Name | None
    requirements: list[dict[str, Any]] = Field(min_length=1, max_length=COLUMNS)
    rows: Rows
    records: RecordCount

    @property
    def columns(self) -> list[tuple[str, Holds]]:
        """The attributes, the class, and the weight if there is one."""
        columns: list[tuple[str, Holds]] = [(name, _holds(entry)) for name, entry in self.masking.items()]
        columns.append((self.class_, self.class_holds))
        if self.weight is not None:
            columns.append((self.weight, "anything"))
        return columns


def _holds(entry: Entry) -> Holds:
    if not isinstance(entry, Released):
        return "labels"
    held: dict[str, Holds] = {"number": "numbers", "date": "dates"}
    return held.get(entry.type, "anything")
