"""Verify: recount every claim of a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unveil import html
from unveil.progress import Watcher, unwatched
from unveil.verifier import Finding, Verdict, judge_release

if TYPE_CHECKING:
    from unveil.schema import SpecLike


class Findings(list[Finding]):
    """What a verification found: a list that is empty when every claim holds, and says so in a notebook.

    Attributes:
        notes: Where every claim holds: what no verification can decide, and a reader must judge.
    """

    def __init__(self, *verdicts: Verdict) -> None:
        super().__init__(finding for verdict in verdicts for finding in verdict.findings)
        self.notes: tuple[str, ...] = () if self else tuple(note for verdict in verdicts for note in verdict.notes)

    def _repr_html_(self) -> str:
        """The broken claims, or that there is none and what is left to judge, for notebooks."""
        if not self:
            return html.page_part(
                html.paragraph("Every claim holds. For you to judge:", stripe=html.GOOD),
                *map(html.paragraph, self.notes),
            )
        return html.page_part(
            html.paragraph("Broken claims: do not use this release.", stripe=html.BAD),
            html.table(("claim", "what is wrong"), ((finding.claim, finding.message) for finding in self)),
        )


def verify(release: str | Path, raw: SpecLike | None = None, *, progress: Watcher = unwatched) -> Findings:
    """Recounts the claims of a release from its files; gives one finding per broken claim, none if all hold.

    What it cannot decide, and a reader must judge, is in `notes` of what it gives.

    Args:
        release: The release folder.
        raw: The owner's spec. With it, the release is also checked against the raw table.
        progress: Told of the work as it is done.
    """
    progress("recounting the claims", 0, None)
    verdicts = [judge_release(Path(release))]
    if raw is not None:
        from unveil.schema import load_spec
        from unveil.verifier.comparison import judge_against_raw

        progress("comparing with the raw table", 0, None)
        verdicts.append(judge_against_raw(Path(release), load_spec(raw)))
    return Findings(*verdicts)
