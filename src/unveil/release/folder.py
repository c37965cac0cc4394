"""Writing outputs whole or not at all, and reading release folders."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from unveil.errors import ReleaseError
from unveil.interruption import settle, unfinished
from unveil.progress import Watcher, unwatched
from unveil.release.manifest import File, Manifest, read_manifest_text
from unveil.release.rows import ReleasedRows

MANIFEST = "manifest.json"
FORMATS = ("parquet", "csv")


def check_absent(path: Path, what: str) -> None:
    """Refuses to write over something that is there."""
    if path.exists() or path.is_symlink():
        raise ReleaseError(f"{path}: the {what} exists already; nothing was written.")
    if not path.absolute().parent.is_dir():
        raise ReleaseError(f"{path}: there is no folder {path.absolute().parent.name!r} to write the {what} into.")


def write_release(
    folder: Path, rows: ReleasedRows, manifest: Manifest, formats: Sequence[str], progress: Watcher = unwatched
) -> Manifest:
    """Writes a release folder, whole or not at all.

    Returns:
        The manifest with the hashes of the data files.
    """
    complete = manifest

    def write(draft: Path) -> None:
        nonlocal complete
        for format_ in formats:
            progress(f"writing data.{format_}", 0, rows.num_rows)
            rows.write(draft / f"data.{format_}", progress)
        progress("hashing the files", 0, None)
        files = {path.relative_to(draft).as_posix(): File(sha256=_sha256(path)) for path in _files(draft)}
        complete = manifest.model_copy(update={"files": files})
        (draft / MANIFEST).write_text(complete.to_json(), encoding="utf-8")

    write_folder(folder, write, "release")
    return complete


def write_folder(folder: Path, write: Callable[[Path], None], what: str) -> None:
    """Writes a folder beside its place and moves it there when it is complete.

    A crash, a full disk or Ctrl-C before the move leaves nothing, and an older folder is never touched.
    """
    check_absent(folder, "output folder")
    draft = _beside(folder)
    try:
        with unfinished(draft):
            draft.mkdir()
            mode = _withheld(draft, 0o700)
            write(draft)
            draft.chmod(mode)
            _settle(draft, folder)
    except OSError as error:
        raise ReleaseError(f"{folder}: the {what} cannot be written: {error.strerror or error}.") from error


def write_whole(path: Path, write: Callable[[Path], None], what: str) -> None:
    """Writes a single file beside its place and moves it there when it is complete."""
    check_absent(path, what)
    draft = _beside(path)
    try:
        with unfinished(draft):
            draft.touch(exist_ok=False)
            mode = _withheld(draft, 0o600)
            write(draft)
            draft.chmod(mode)
            settle(draft, path)
    except OSError as error:
        raise ReleaseError(f"{path}: the {what} cannot be written: {error.strerror or error}.") from error


def write_text(path: Path, text: str, what: str) -> None:
    """Writes a text file, whole or not at all."""

    def write(draft: Path) -> None:
        draft.write_text(text, encoding="utf-8")

    write_whole(path, write, what)


def replace_text(path: Path, text: str, what: str) -> None:
    """Writes a text file in place of an older one, so that one of the two is there at any time."""
    draft = _beside(path)
    try:
        with unfinished(draft):
            draft.touch(mode=0o600, exist_ok=False)
            with draft.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            settle(draft, path)
    except OSError as error:
        raise ReleaseError(f"{path}: the {what} cannot be written: {error.strerror or error}.") from error


def _beside(path: Path) -> Path:
    """A hidden name beside the place of an output, with its ending."""
    return path.absolute().with_name(f".{path.stem}-{secrets.token_hex(4)}{path.suffix}")


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a release folder."""
    path = folder / MANIFEST
    if not path.is_file():
        raise ReleaseError(f"{folder}: this is not a release; it has no {MANIFEST}.")
    try:
        return read_manifest_text(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise ReleaseError(f"{path}: the manifest is not UTF-8 text (byte {error.start}).") from error


def _settle(draft: Path, folder: Path) -> None:
    """Makes a finished draft the release."""
    for path in _files(draft):
        with path.open("rb") as file:
            os.fsync(file.fileno())
    settle(draft, folder)


def _files(folder: Path) -> list[Path]:
    """The files of a folder, those of its folders too."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _withheld(draft: Path, mode: int) -> int:
    """Keeps an empty draft from everybody else while it is written; gives the mode that its owner's umask gave it.

    The umask itself can only be read by changing it, and then for every thread of the process.
    """
    given = stat.S_IMODE(draft.stat().st_mode)
    draft.chmod(mode)
    return given


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
