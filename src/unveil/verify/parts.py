"""The parts of a manifest as the verifier reads them: strict, and written apart from the code that makes manifests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MANIFEST = "manifest.json"
LARGEST = 10**300  # a JSON whole number has no end, a float has

Holds = Literal["labels", "numbers", "counts", "anything"]
"""What a column of the data files holds."""

Number = Annotated[int, Field(ge=-LARGEST, le=LARGEST)] | Annotated[float, Field(allow_inf_nan=False)]
Domain = Literal["declared", "observed"]


class Part(BaseModel):
    """A part of the manifest. A key that nobody knows may carry anything, so it is refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Interval(Part):
    """A block of numbers, `[lo, hi)`."""

    label: str
    lo: Number = Field(alias="from")
    hi: Number = Field(alias="to")


class Node(Part):
    """A block of raw values under one taxonomy label."""

    label: str
    values: list[str] = Field(min_length=1)


class Discretization(Part):
    """The cut of a number."""

    kind: Literal["discretization"]
    domain: Domain
    whole: bool
    blocks: list[Interval] = Field(min_length=1)


class Generalization(Part):
    """The cut through a taxonomy."""

    kind: Literal["generalization"]
    domain: Domain
    blocks: list[Node] = Field(min_length=1)


class Suppression(Part):
    """The values that are disclosed; all others are written as the marker."""

    kind: Literal["suppression"]
    domain: Domain
    disclosed: list[str]
    marker: str = Field(min_length=1)


class Released(Part):
    """A column that is released as it is."""

    kind: Literal["released"]
    domain: Domain
    type: Literal["number", "category"]


Masked = Discretization | Generalization | Suppression
MaskedEntry = Annotated[Masked, Field(discriminator="kind")]
Entry = Annotated[Masked | Released, Field(discriminator="kind")]


class DataFile(Part):
    """What the manifest says of a data file."""

    sha256: str = Field(pattern=r"\A[0-9a-f]{64}\z")


class Claims(Part):
    """What every release claims, whatever its method."""

    schema_version: int
    unveil_version: str = Field(min_length=1)
    method: str
    guarantee: str = Field(min_length=1)
    class_: str = Field(alias="class")
    masking: Mapping[str, Entry]
    files: dict[Literal["data.parquet", "data.csv"], DataFile]

    @property
    def columns(self) -> list[tuple[str, Holds]]:
        """The columns of the data files, in order."""
        raise TypeError("only a manifest with a method has columns")

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return [name for name, _ in self.columns]

    @property
    def masked(self) -> dict[str, Masked]:
        """The entries of the columns that hold blocks."""
        return {name: entry for name, entry in self.masking.items() if not isinstance(entry, Released)}
