"""The manifest: what a release claims, in one JSON file (`docs/release.md`)."""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import Field, ValidationError

from unveil.errors import ReleaseError
from unveil.masking import ColumnMasking, Entry, Masking


class Rows(Entry):
    """Rows of the input, and what became of them."""

    read: int
    dropped: int
    released: int


class File(Entry):
    """A data file of the release."""

    sha256: str


class Manifest(Entry):
    """What a release claims about itself."""

    schema_version: Literal[1] = 1
    unveil_version: str
    method: Literal["refinement"] = "refinement"
    guarantee: str
    class_: str = Field(alias="class")
    weight: str | None
    requirements: tuple[dict[str, Any], ...]
    columns: dict[str, ColumnMasking] = Field(alias="masking")
    rows: Rows
    records: int
    files: dict[str, File] = Field(default_factory=dict)

    @property
    def masking(self) -> Masking:
        """How the columns are masked, for rows that arrive later."""
        return Masking(self.columns)

    def to_json(self) -> str:
        """The text of `manifest.json`."""
        content = self.model_dump(mode="json", by_alias=True)
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str, origin: str) -> Manifest:
        """Reads the text of a manifest."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            problem = error.errors()[0]
            place = ".".join(str(part) for part in problem["loc"]) or "the file"
            raise ReleaseError(f"{origin}: the manifest is not one of a release: {place}: {problem['msg']}.") from None
