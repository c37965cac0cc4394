"""Reading a manifest."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from reprlib import Repr
from typing import Any

from pydantic import ValidationError

from unveil.errors import ReleaseError
from unveil.limits import MANIFEST_BYTES
from unveil.regular import read_bytes
from unveil.verifier.findings import BrokenClaimError, Finding, first_difference
from unveil.verifier.parts import MANIFEST
from unveil.verifier.private import DiffGenManifest
from unveil.verifier.refinement import RefinementManifest

SCHEMA_VERSION = 1
SHORT = Repr()
SHORT.maxstring = SHORT.maxother = SHORT.maxlong = 70
"""Values as findings show them. A stranger's may be too long to be written out even once."""
MOST = 20
"""How many problems with the shape of a manifest are told one by one."""

Manifest = RefinementManifest | DiffGenManifest

METHODS: dict[str, type[Manifest]] = {"refinement": RefinementManifest, "diffgen": DiffGenManifest}
"""The claims of each method."""


def read_manifest(folder: Path) -> Manifest:
    """Reads the manifest of a release.

    Raises:
        ReleaseError: The folder is no release, or one of a kind that this version cannot read.
        BrokenClaimError: It is a release whose manifest has the wrong shape.
    """
    content, _ = _read_json(folder)
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


def check_spelling(folder: Path) -> Iterator[Finding]:
    """The same content is always the same bytes: nothing hides in spaces, escapes or the spelling of numbers."""
    content, written = _read_json(folder)
    spelled = f"{json.dumps(content, ensure_ascii=False, indent=2)}\n".encode()
    if written != spelled:
        place = first_difference(written, spelled)
        yield Finding("form", f"{MANIFEST} is not spelled as a manifest is: it differs from byte {place + 1:,} on.")


def describe_errors(error: ValidationError) -> list[str]:
    """One clause per error: where, what, and the value that stands there."""
    problems = error.errors(include_url=False, include_context=False)
    clauses = [
        f"{_shortened('.'.join(str(step) for step in problem['loc']))}: {problem['msg']} "
        f"(it is {_shortened(SHORT.repr(problem['input']))})"
        for problem in problems[:MOST]
    ]
    return clauses if len(problems) <= MOST else [*clauses, f"and {len(problems) - MOST:,} problems more"]


def _shape_findings(error: ValidationError) -> list[Finding]:
    return [Finding("manifest", f"{MANIFEST}: {clause}.") for clause in describe_errors(error)]


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _read_json(folder: Path) -> tuple[dict[str, Any], bytes]:
    """The content of a manifest, and its bytes."""
    path = folder / MANIFEST
    if not folder.is_dir():
        raise ReleaseError(f"{folder}: it is not a release: there is no such folder.")
    try:
        written = read_bytes(folder, MANIFEST, MANIFEST_BYTES)
        content = json.loads(written.decode("utf-8"), object_pairs_hook=_no_key_twice, parse_constant=_no_constant)
        # An escaped half of a surrogate pair passes as JSON but is no text.
        json.dumps(content, ensure_ascii=False).encode("utf-8")
    except FileNotFoundError as error:
        raise ReleaseError(f"{folder}: it is not a release: it has no {MANIFEST}.") from error
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
        raise ReleaseError(f"{path}: the manifest cannot be read: {reason}.") from error
    except (ValueError, RecursionError) as error:
        raise ReleaseError(f"{path}: the manifest is not JSON in UTF-8: {error}.") from error
    if not isinstance(content, dict):
        raise ReleaseError(f"{path}: the manifest is not a JSON object.")
    return content, written


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Readers differ in which of two equal keys they take, so a claim could read two ways."""
    content = dict(pairs)
    if len(content) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return content


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")
