"""The manifest as the verifier reads it: strict, and written apart from the code that makes manifests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from unveil.errors import ReleaseError
from unveil.verify.findings import BrokenClaimError, Finding

MANIFEST = "manifest.json"
SCHEMA_VERSION = 1
LARGEST = 10**300  # a JSON whole number has no end, a float has
METHODS = ("refinement",)

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
Entry = Annotated[Masked | Released, Field(discriminator="kind")]


class Rows(Part):
    """Rows of the input and of the data file."""

    read: NonNegativeInt
    dropped: NonNegativeInt
    released: NonNegativeInt


class DataFile(Part):
    """What the manifest says of a data file."""

    sha256: str = Field(pattern=r"\A[0-9a-f]{64}\z")


class Manifest(Part):
    """All claims of a release."""

    schema_version: int
    unveil_version: str = Field(min_length=1)
    method: str
    guarantee: str = Field(min_length=1)
    class_: str = Field(alias="class")
    weight: str | None
    requirements: list[dict[str, Any]] = Field(min_length=1)
    masking: dict[str, Entry]
    rows: Rows
    records: NonNegativeInt
    files: dict[Literal["data.parquet", "data.csv"], DataFile]

    @property
    def columns(self) -> list[str]:
        """The columns of the data files, in order."""
        return [*self.masking, self.class_, *([] if self.weight is None else [self.weight])]

    @property
    def masked(self) -> dict[str, Masked]:
        """The entries of the columns that hold blocks."""
        return {name: entry for name, entry in self.masking.items() if not isinstance(entry, Released)}


def read_manifest(folder: Path) -> Manifest:
    """Reads the manifest of a release.

    Raises:
        ReleaseError: The folder is no release, or one of a kind that this version cannot read.
        BrokenClaimError: It is a release whose manifest has the wrong shape.
    """
    content = _read_json(folder)
    version, method = content.get("schema_version"), content.get("method")
    # True equals 1 in Python and in no manifest.
    if type(version) is not int or version != SCHEMA_VERSION:
        raise ReleaseError(
            f"{folder / MANIFEST}: schema_version is {version!r}; this version of unveil reads {SCHEMA_VERSION}."
        )
    if method not in METHODS:
        known = ", ".join(repr(name) for name in METHODS)
        raise ReleaseError(f"{folder / MANIFEST}: method is {method!r}; this version of unveil verifies {known}.")
    try:
        return Manifest.model_validate(content)
    except ValidationError as error:
        raise BrokenClaimError(_shape_findings(error)) from error


def describe_errors(error: ValidationError) -> list[str]:
    """One clause per error: where, what, and the value that stands there."""
    return [
        f"{'.'.join(str(step) for step in problem['loc'])}: {problem['msg']} (it is {_shortened(problem['input'])})"
        for problem in error.errors(include_url=False, include_context=False)
    ]


def _shape_findings(error: ValidationError) -> list[Finding]:
    return [Finding("manifest", f"{MANIFEST}: {clause}.") for clause in describe_errors(error)]


def _shortened(value: object, most: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}…"


def _read_json(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not folder.is_dir():
        raise ReleaseError(f"{folder}: it is not a release: there is no such folder.")
    if not path.is_file():
        raise ReleaseError(f"{folder}: it is not a release: it has no {MANIFEST}.")
    try:
        content = json.loads(
            path.read_bytes().decode("utf-8"),
            object_pairs_hook=_no_key_twice,
            parse_constant=_no_constant,
        )
        # An escaped half of a surrogate pair passes as JSON but is no text.
        json.dumps(content, ensure_ascii=False).encode("utf-8")
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
        raise ReleaseError(f"{path}: the manifest cannot be read: {reason}.") from error
    except (ValueError, RecursionError) as error:
        raise ReleaseError(f"{path}: the manifest is not JSON in UTF-8: {error}.") from error
    if not isinstance(content, dict):
        raise ReleaseError(f"{path}: the manifest is not a JSON object.")
    return content


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Readers differ in which of two equal keys they take, so a claim could read two ways."""
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return content


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")
