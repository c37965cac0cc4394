"""Bundle: a release with both pages about it, verified, from a spec that is written first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from unveil.errors import ReleaseError, SpecError, UnverifiedError
from unveil.progress import Watcher, unwatched
from unveil.release import check_absent, replace_text, write_folder
from unveil.schema import load_spec
from unveil.schema.files import read_text
from unveil.workflow.publish import check_read, publish
from unveil.workflow.report import report_to_file
from unveil.workflow.verify import verify

RELEASE, PAGE, PRIVATE_PAGE = "release", "report.html", "report-private.html"
"""What is in a bundle: the folder and the page to hand out, and the owner's page."""


@dataclass(frozen=True)
class Bundle:
    """What was published."""

    folder: Path
    guarantee: str
    notes: tuple[str, ...]
    """What only a reader of the release can judge."""

    @property
    def files(self) -> list[str]:
        """Everything in the folder, by path."""
        return sorted(str(file.relative_to(self.folder)) for file in self.folder.rglob("*") if file.is_file())


def publish_bundle(
    spec: Path, texts: Mapping[Path, str], folder: Path, *, expected: str | None = None, progress: Watcher = unwatched
) -> Bundle:
    """Writes a spec and its taxonomies, makes the release, verifies it against the raw table and writes both pages.

    The folder appears when everything in it is complete, or not at all. The spec stays: it is the owner's work.

    Args:
        spec: Where the spec goes.
        texts: The files to write first, the spec among them; those that exist are replaced.
        folder: The new folder.
        expected: What the spec file must still say; None if there must be none. Another text is somebody else's work.
        progress: Called as the work is done.

    Raises:
        UnverifiedError: A claim of the release does not hold; there is no folder then.
    """
    check_absent(folder, "output folder")
    if (read_text(spec, "spec", SpecError) if spec.exists() else None) != expected:
        raise ReleaseError(f"{spec}: the spec has changed since it was opened here; nothing was written.")
    for path, text in texts.items():
        replace_text(path, text, "spec" if path == spec else "taxonomy")
    checked = load_spec(spec)
    check_read(checked)
    found: list[Bundle] = []

    def write(draft: Path) -> None:
        release = publish(checked, progress=progress)
        release.write(draft / RELEASE, progress=progress)
        try:
            findings = verify(draft / RELEASE, checked, progress=progress)
            if findings:
                raise UnverifiedError(f"{folder}: {findings[0]}")
            report_to_file(draft / RELEASE, draft / PAGE, progress=progress)
            report_to_file(draft / RELEASE, draft / PRIVATE_PAGE, checked, progress=progress)
        except BaseException:
            release.withdraw()
            raise
        found.append(Bundle(folder, release.manifest.guarantee, findings.notes))

    write_folder(folder, write, "release")
    return found[0]
