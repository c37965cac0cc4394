"""Verify: recount every claim of a release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from unveil import html
from unveil.errors import ReleaseError, SpecError
from unveil.progress import Watcher, unwatched
from unveil.verifier import Finding, Verdict, judge_release

if TYPE_CHECKING:
    from unveil.release import Release
    from unveil.schema import Spec, SpecLike


class Findings(list[Finding]):
    """The broken claims of a release; empty when every claim holds, which a notebook shows.

    Attributes:
        notes: If every claim holds, what only a reader can judge.
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


def verify(
    release: str | Path | Release,
    raw: SpecLike | None = None,
    *,
    table: Any = None,
    key: str | Path | None = None,
    after: Sequence[str | Path] = (),
    progress: Watcher = unwatched,
) -> Findings:
    """Recounts the claims of a release from its files and returns one finding per broken claim.

    The `notes` of the result list what only a reader can judge.

    Args:
        release: The release folder, or a release that is not written yet.
        raw: The owner's spec. With it, the release is also checked against the raw table.
        table: The raw table, where the spec does not name it: a path, or a pandas, polars or pyarrow table.
        key: The owner's public key. With it, the release must be signed by that key.
        after: Folders of earlier releases, which are checked too, and together with this one as far as a reader can.
        progress: Called as the work is done.
    """
    if raw is None and table is not None:
        raise SpecError("verify compares a release with a raw table by the owner's spec; give it as raw.")
    with release_folder(release) as folder:
        progress("recounting the claims", 0, None)
        verdicts = [judge_release(folder, None if key is None else Path(key))]
        if after:
            from unveil.verifier.succession import judge_earlier

            earlier = [Path(place) for place in after]
            verdicts += [Verdict(judge_release(place).findings) for place in earlier]
            if not any(verdict.findings for verdict in verdicts):
                verdicts.append(Verdict(list(judge_earlier(folder, earlier))))
        if raw is not None:
            from unveil.schema import load_spec
            from unveil.verifier.raw.comparison import judge_against_raw

            progress("comparing with the raw table", 0, None)
            with _raw_on_disk(load_spec(raw), table) as spec:
                verdicts.append(judge_against_raw(folder, spec, verdicts[0].rows))
    return Findings(*verdicts)


@contextmanager
def release_folder(release: str | Path | Release) -> Iterator[Path]:
    """The folder of a release; one that is not written yet is written into a temporary folder."""
    if isinstance(release, str | Path):
        yield Path(release)
        return
    from unveil.release import Release, StoredRows

    if not isinstance(release, Release):
        raise ReleaseError(f"a release is a folder or a Release, not a {type(release).__name__}.")
    if isinstance(release.rows, StoredRows):
        yield release.rows.folder
        return
    with TemporaryDirectory(prefix="unveil-") as place:
        release.write(Path(place) / "release")
        try:
            yield Path(place) / "release"
        finally:
            release.withdraw()


@contextmanager
def _raw_on_disk(spec: Spec, table: Any) -> Iterator[Spec]:
    """The spec with the given table as its source. The verifier has its own reader, which reads files."""
    if table is None:
        yield spec
    elif isinstance(table, str | Path):
        yield replace(spec, table=replace(spec.table, source=str(Path(table).absolute()), query=None))
    else:
        from pyarrow import parquet

        from unveil.frames import arrow_table

        with TemporaryDirectory(prefix="unveil-") as place:
            source = Path(place) / "table.parquet"
            parquet.write_table(arrow_table(table), source)
            yield replace(spec, table=replace(spec.table, source=str(source), query=None))
