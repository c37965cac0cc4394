"""The claims of a release of masked rows."""

from __future__ import annotations

from typing import Any

from pydantic import Field, NonNegativeInt

from unveil.verify.parts import Claims, Entry, Holds, Part, Released


class Rows(Part):
    """Rows of the input and of the data file."""

    read: NonNegativeInt
    dropped: NonNegativeInt
    released: NonNegativeInt


class RefinementManifest(Claims):
    """All claims of a release by refinement."""

    weight: str | None
    requirements: list[dict[str, Any]] = Field(min_length=1)
    rows: Rows
    records: NonNegativeInt

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
