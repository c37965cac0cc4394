"""The audit: what a data protection officer files about a release, on one private page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unveil.attacks import Exposure
from unveil.release import RefinementManifest, Release
from unveil.reports.page import render

READER = "anyone with the folder"
HOLDER = "anyone with the folder and the owner's public key"
OWNER = "the owner, with the raw table"
NOBODY = "nobody, from these files"


@dataclass(frozen=True)
class Paper:
    """A file behind a release."""

    name: str
    sha256: str
    text: str | None = None
    """What it says, for a spec or a taxonomy."""


@dataclass(frozen=True)
class Audit:
    """What was collected about a release."""

    release: Release
    day: str
    files: Sequence[Paper]
    """The files of the release."""
    papers: Sequence[Paper]
    """What the owner declared: the spec and the files that it names."""
    versions: Mapping[str, str]
    checks: Sequence[tuple[str, str]]
    """The commands that were run, and what they found."""
    notes: Sequence[str]
    """What a reader must judge."""
    exposure: Exposure
    spent: Sequence[tuple[str, str]]
    """The entries of the owner's ledger: a spec and its ε."""
    key: str | None
    """The name of the key that signed the release."""


def audit_page(audit: Audit) -> str:
    """The page."""
    manifest = audit.release.manifest
    private = not isinstance(manifest, RefinementManifest)
    facts: dict[str, Any] = {
        "audit": audit,
        "manifest": manifest,
        "about": manifest.about,
        "charges": [] if isinstance(manifest, RefinementManifest) else manifest.ledger,
        "duties": _duties(private=private, signed=audit.key is not None),
    }
    return render("audit.html", facts)


def _duties(*, private: bool, signed: bool) -> list[tuple[str, str, str]]:
    """Who can check what, and how."""
    shown = "the arithmetic of the ledger, the cut and the plan" if private else "every requirement, in every group"
    behind = "that the noise follows its law" if private else "that the rows are true, and none was lost or moved"
    return [
        (f"{shown}, the sentence of the guarantee, the files", READER, "unveil verify DIR"),
        *(
            [("that the owner released it and nobody changed it", HOLDER, "unveil verify DIR --key FILE")]
            if signed
            else []
        ),
        (behind, OWNER, "unveil verify DIR --raw SPEC"),
        ("what attacks gain", OWNER, "unveil attack DIR --raw SPEC"),
        ("that the raw table is true, and that the spec names what strangers may know", NOBODY, "judgement"),
    ]
