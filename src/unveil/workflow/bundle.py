"""Bundle: a release with both pages about it, verified, and the spec that is saved for it."""

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


def save(texts: Mapping[Path, str], before: Mapping[Path, str | None], folder: Path) -> None:
    """Writes a spec and its taxonomies, for a bundle in a new folder.

    Each file must still say what it did before; None means that there must be no file.
    """
    check_absent(folder, "output folder")
    for path in texts:
        if (read_text(path, "file", SpecError) if path.exists() else None) != before[path]:
            raise ReleaseError(f"{path}: the file has changed since it was opened here; nothing was written.")
    for path, text in texts.items():
        replace_text(path, text, "file")


def publish_bundle(spec: Path, folder: Path, *, progress: Watcher = unwatched) -> Bundle:
    """Makes the release of a spec, verifies it against the raw table and writes both pages.

    The folder appears when everything in it is complete and every claim holds, or not at all.
    """
    check_absent(folder, "output folder")
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
