"""Drafts: outputs while they are written, next to their final place under a hidden name.

A draft is locked while its process runs. So the next run with the same target can distinguish a draft that is being
written from one that a killed process left behind, and remove the latter.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from unveil.interruption import remove, unfinished

try:
    import fcntl
except ImportError:  # without file locks, old drafts cannot be recognized
    fcntl = None  # type: ignore[assignment]


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
