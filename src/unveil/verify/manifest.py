"""Reading a manifest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from unveil.errors import ReleaseError
from unveil.verify.findings import BrokenClaimError, Finding
from unveil.verify.parts import MANIFEST
from unveil.verify.private import DiffGenManifest
from unveil.verify.refinement import RefinementManifest

SCHEMA_VERSION = 1

Manifest = RefinementManifest | DiffGenManifest

METHODS: dict[str, type[Manifest]] = {"refinement": RefinementManifest, "diffgen": DiffGenManifest}
"""The claims of each method."""


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
    model = METHODS.get(method) if isinstance(method, str) else None
    if model is None:
        known = ", ".join(repr(name) for name in METHODS)
        raise ReleaseError(f"{folder / MANIFEST}: method is {method!r}; this version of unveil verifies {known}.")
    try:
        return model.model_validate(content)
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
