"""Writes outputs whole or not at all, and reads release folders.

Outputs are drafts while they are written, next to their final place under a hidden name. A draft is locked while its
process runs. So the next run with the same target can distinguish a draft that is being written from one that a killed
process left behind, and remove the latter.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from unveil.choices import FORMATS
from unveil.errors import ReleaseError
from unveil.interruption import remove, settle, unfinished
from unveil.progress import Watcher, unwatched
from unveil.release.manifest import File, Manifest, RefinementManifest, read_manifest_text
from unveil.release.rows import Formulas, ReleasedRows
from unveil.strangers import COLUMNS, LEAF_LABELS, MANIFEST_BYTES, NAME, read_bytes

try:
    import fcntl
except ImportError:  # without file locks, old drafts cannot be recognized
    fcntl = None  # type: ignore[assignment]

MANIFEST = "manifest.json"


@contextmanager
def drafted(path: Path, *, folder: bool = False) -> Iterator[tuple[Path, int]]:
    """A new, empty draft of an output, and its final mode. It is removed unless it is moved to its place."""
    _remove_stale(path)
    while True:
        draft = _beside(path)
        with unfinished(draft):
            draft.mkdir() if folder else draft.touch(exist_ok=False)
            with _locked(draft) as held:
                if held and draft.exists():
                    yield draft, _withheld(draft, 0o700 if folder else 0o600)
                    return
        # Another run removed it as stale in the moment before it was locked.


def _withheld(draft: Path, mode: int) -> int:
    """Makes a draft unreadable for others while it is written; returns the mode that the umask had given it.

    The umask can only be read by changing it, which affects every thread of the process.
    """
    given = stat.S_IMODE(draft.stat().st_mode)
    draft.chmod(mode)
    return given


def _beside(path: Path) -> Path:
    """A hidden name next to the place of an output, with the same extension."""
    return path.absolute().with_name(f".{path.stem}-{secrets.token_hex(4)}.draft{path.suffix}")


def _remove_stale(path: Path) -> None:
    """Removes what killed runs with the same target left behind."""
    if fcntl is None:
        return
    name = re.compile(rf"\.{re.escape(path.stem)}-[0-9a-f]{{8}}\.draft{re.escape(path.suffix)}")
    with suppress(OSError):
        for found in os.scandir(path.absolute().parent):
            if name.fullmatch(found.name) and not found.is_symlink():
                with _locked(Path(found.path)) as held:
                    if held:
                        remove(Path(found.path))


@contextmanager
def _locked(draft: Path) -> Iterator[bool]:
    """Locks a draft; False if another process holds it."""
    if fcntl is None:
        yield True
        return
    try:
        handle = os.open(draft, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        yield False
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def check_absent(path: Path, what: str) -> None:
    """Refuses to overwrite anything."""
    try:
        str(path).encode()
        found = path.exists() or path.is_symlink()
        has_folder = path.absolute().parent.is_dir()
    except UnicodeEncodeError as error:
        raise ReleaseError(f"{path}: the {what} cannot be written: its name is not UTF-8 text.") from error
    except OSError as error:
        raise ReleaseError(f"{path}: the {what} cannot be written: {error.strerror or error}.") from error
    if found:
        raise ReleaseError(f"{path}: the {what} exists already; nothing was written.")
    if not has_folder:
        raise ReleaseError(f"{path}: there is no folder {path.absolute().parent.name!r} to write the {what} into.")


def write_release(
    folder: Path,
    rows: ReleasedRows,
    manifest: Manifest,
    formats: Sequence[str],
    progress: Watcher = unwatched,
    formulas: Formulas = "guarded",
    enter: Callable[[Manifest], None] = lambda manifest: None,
) -> Manifest:
    """Writes a release folder, whole or not at all, and gives the manifest with the hashes of the data files.

    The rows are always written as parquet, which `verify` reads. `enter` is called when all is written, before the
    folder comes to its place.
    """
    if strange := [format_ for format_ in formats if format_ not in FORMATS]:
        raise ReleaseError(
            f"{folder}: {strange[0]!r} is not a format of a release; the formats are {', '.join(FORMATS)}."
        )
    check_limits(manifest, folder)
    complete = manifest

    def write(draft: Path) -> None:
        nonlocal complete
        for format_ in FORMATS:
            if format_ in ("parquet", *formats):
                progress(f"writing data.{format_}", 0, rows.num_rows)
                rows.write(draft / f"data.{format_}", progress, formulas)
        progress("hashing the files", 0, None)
        files = {
            path.relative_to(draft).as_posix(): File(
                sha256=_sha256(path), formulas=formulas if path.suffix == ".csv" else None
            )
            for path in _files(draft)
        }
        complete = manifest.model_copy(update={"files": files})
        (draft / MANIFEST).write_text(complete.to_json(), encoding="utf-8")
        enter(complete)

    write_folder(folder, write, "release")
    return complete


def write_folder(folder: Path, write: Callable[[Path], None], what: str) -> None:
    """Writes a folder next to its final place and moves it there when it is complete.

    A crash, a full disk or Ctrl-C before the move leaves nothing behind, and an existing folder is never touched.
    """
    check_absent(folder, "output folder")
    with _reported(folder, what), drafted(folder, folder=True) as (draft, mode):
        write(draft)
        draft.chmod(mode)
        _settle(draft, folder)


def write_whole(path: Path, write: Callable[[Path], None], what: str, *, private: bool = False) -> None:
    """Writes a single file next to its final place and moves it there when it is complete.

    A private file can be read by its owner alone, at any time.
    """
    check_absent(path, what)
    with _reported(path, what), drafted(path) as (draft, mode):
        write(draft)
        if not private:
            draft.chmod(mode)
        _sync(draft)
        settle(draft, path)
        _sync_after(path)


def write_text(path: Path, text: str, what: str) -> None:
    """Writes a text file, whole or not at all."""

    def write(draft: Path) -> None:
        draft.write_text(text, encoding="utf-8")

    write_whole(path, write, what)


def replace_text(path: Path, text: str, what: str) -> None:
    """Replaces a text file and keeps its mode and, if possible, its owner; at any time, one of the two files exists.

    When it returns, the text is on disk and survives a crash of the machine.
    """
    with _reported(path, what), drafted(path) as (draft, _):
        draft.write_text(text, encoding="utf-8")
        if path.exists():
            older = path.stat()
            with suppress(PermissionError):  # only some processes may give a file away
                os.chown(draft, older.st_uid, older.st_gid)
            draft.chmod(stat.S_IMODE(older.st_mode))
        _sync(draft)
        settle(draft, path, over=True)
        _sync(path.absolute().parent)


@contextmanager
def _reported(path: Path, what: str) -> Iterator[None]:
    """Turns an error that prevents an output into one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY):  # it appeared after the first check
            raise ReleaseError(f"{path}: the {what} exists already; nothing was written.") from error
        raise ReleaseError(f"{path}: the {what} cannot be written: {error.strerror or error}.") from error


def _sync(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_after(path: Path) -> None:
    """The same for the name of an output that is already in its place, when it is too late to fail."""
    with suppress(OSError):
        _sync(path.absolute().parent)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a release folder."""
    path = folder / MANIFEST
    try:
        return read_manifest_text(read_bytes(folder, MANIFEST, MANIFEST_BYTES).decode(), str(path))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ReleaseError(f"{folder}: this is not a release; it has no {MANIFEST}.") from error
    except OSError as error:
        raise ReleaseError(f"{path}: the manifest cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ReleaseError(f"{path}: the manifest is not UTF-8 text (byte {error.start}).") from error


def _settle(draft: Path, folder: Path) -> None:
    for path in [*_files(draft), draft]:
        _sync(path)
    settle(draft, folder)
    _sync_after(folder)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_limits(manifest: Manifest, folder: Path) -> None:
    """Refuses a release that is too large to be verified."""
    content = manifest.model_dump(mode="json", by_alias=True, exclude={"guarantee"})
    if len(manifest.columns) > COLUMNS:
        raise ReleaseError(f"{folder}: {len(manifest.columns):,} columns cannot be released, only {COLUMNS:,}.")
    if long := next((text for text in _texts(content) if len(text) > NAME), None):
        raise ReleaseError(f"{folder}: {long[:40] + '…'!r} has {len(long):,} characters; a label has {NAME:,} at most.")
    for tree in manifest.boxes if isinstance(manifest, RefinementManifest) else ():
        if (count := len(tree.order) * len(tree.attributes)) > LEAF_LABELS:
            raise ReleaseError(
                f"{folder}: a tree of boxes would have {count:,} labels; it has {LEAF_LABELS:,} at most."
            )
    if (size := len(manifest.to_json().encode())) > MANIFEST_BYTES:
        raise ReleaseError(f"{folder}: the manifest would have {size:,} bytes; it has {MANIFEST_BYTES:,} at most.")


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        yield from content
    for part in content.values() if isinstance(content, dict) else content if isinstance(content, list) else ():
        yield from _texts(part)
