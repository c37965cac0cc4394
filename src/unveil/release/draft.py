"""Drafts: outputs while they are written, next to their place and under a hidden name.

A draft is locked as long as its process lives. So the next run of the same target can tell a draft that is being
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
except ImportError:  # where files cannot be locked, nobody can tell which drafts are old
    fcntl = None  # type: ignore[assignment]


@contextmanager
def drafted(path: Path, *, folder: bool = False) -> Iterator[tuple[Path, int]]:
    """A new and empty draft of an output, and the mode to give it in the end. It goes unless it comes to its place."""
    _remove_stale(path)
    while True:
        draft = _beside(path)
        with unfinished(draft):
            draft.mkdir() if folder else draft.touch(exist_ok=False)
            with _locked(draft) as held:
                if held and draft.exists():
                    yield draft, _withheld(draft, 0o700 if folder else 0o600)
                    return
        # Another run took it for stale, in the moment before it was locked.


def _withheld(draft: Path, mode: int) -> int:
    """Keeps an empty draft from everybody else while it is written; gives the mode that its owner's umask gave it.

    The umask itself can only be read by changing it, and then for every thread of the process.
    """
    given = stat.S_IMODE(draft.stat().st_mode)
    draft.chmod(mode)
    return given


def _beside(path: Path) -> Path:
    """A hidden name next to the place of an output, with its ending."""
    return path.absolute().with_name(f".{path.stem}-{secrets.token_hex(4)}.draft{path.suffix}")


def _remove_stale(path: Path) -> None:
    """Removes what killed runs of the same target left behind."""
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
    """Whether a draft is this process's alone; no other can have it meanwhile."""
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
