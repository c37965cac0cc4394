"""Verify: recount every claim of a release."""

from __future__ import annotations

from pathlib import Path

from unveil.schema import load_spec
from unveil.verify import Finding, verify_against_raw, verify_release
from unveil.workflow.publish import SpecLike


def verify(release: str | Path, raw: SpecLike | None = None) -> list[Finding]:
    """Recounts the claims of a release from its files; gives one finding per broken claim, none if all hold.

    Args:
        release: The release folder.
        raw: The owner's spec. With it, the release is also checked against the raw table.
    """
    findings = verify_release(Path(release))
    if raw is not None:
        findings += verify_against_raw(Path(release), load_spec(raw))
    return findings
