"""Verify: recount every claim of a release."""

from __future__ import annotations

from pathlib import Path

from unveil import html
from unveil.progress import Watcher, unwatched
from unveil.schema import load_spec
from unveil.verify import Finding, verify_against_raw, verify_release
from unveil.workflow.publish import SpecLike


class Findings(list[Finding]):
    """What a verification found: a list that is empty when every claim holds, and says so in a notebook."""

    def _repr_html_(self) -> str:
        """The broken claims, or that there is none, for notebooks."""
        if not self:
            return html.paragraph("Every claim holds.", stripe=html.GOOD)
        return html.page_part(
            html.paragraph("Broken claims: do not use this release.", stripe=html.BAD),
            html.table(("claim", "what is wrong"), ((finding.claim, finding.message) for finding in self)),
        )


def verify(release: str | Path, raw: SpecLike | None = None, *, progress: Watcher = unwatched) -> Findings:
    """Recounts the claims of a release from its files; gives one finding per broken claim, none if all hold.

    Args:
        release: The release folder.
        raw: The owner's spec. With it, the release is also checked against the raw table.
        progress: Told of the work as it is done.
    """
    progress("recounting the claims", 0, None)
    findings = Findings(verify_release(Path(release)))
    if raw is not None:
        progress("comparing with the raw table", 0, None)
        findings += verify_against_raw(Path(release), load_spec(raw))
    return findings
