"""The files of a release: which there are, their hashes, and that parts stand in order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from unveil.errors import listed
from unveil.regular import opened
from unveil.verifier.findings import Finding
from unveil.verifier.parts import CSV, MANIFEST, PARQUET, Claims


def check_files(folder: Path, manifest: Claims) -> Iterator[Finding]:
    """The folder holds the listed files with the listed hashes, and nothing else."""
    yield from _listing_findings(manifest)
    known = {MANIFEST, *manifest.files, *([PARQUET] if manifest.part_names else [])}
    if extra := {path.relative_to(folder).as_posix() for path in folder.rglob("*")} - known:
        yield Finding("files", f"the folder holds {listed(sorted(extra))}, which {MANIFEST} does not list.")
    for name, claim in manifest.files.items():
        try:
            with opened(folder, name) as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            reason = error.strerror or "it cannot be opened"
            yield Finding("files", f"{MANIFEST} lists {name}, but it cannot be read: {reason}.")
            continue
        if digest != claim.sha256:
            message = f"the sha256 of {name} is {digest}, but {MANIFEST} says {claim.sha256}."
            yield Finding("file-hash", message)


def _listing_findings(manifest: Claims) -> Iterator[Finding]:
    """The rows stand in one file or in parts, and the parts in the order of their names."""
    parts = manifest.part_names
    if PARQUET not in manifest.files and not parts:
        yield Finding("files", f"{MANIFEST} does not list {PARQUET}.")
    if PARQUET in manifest.files and parts:
        yield Finding("parts", f"{MANIFEST} lists {PARQUET} both as a file and as a folder with {listed(parts)}.")
    for name in manifest.files:
        if name != CSV and manifest.files[name].formulas is not None:
            yield Finding("files", f"{MANIFEST} says of {name} what becomes of formulas, which only a csv file has.")
    for before, after in pairwise(parts):
        if after < before:
            yield Finding("parts", f"{MANIFEST} lists {after} after {before}, but parts stand in the order of names.")
