"""Ctrl-C in the command: at whatever moment it comes, drafts are removed, one sentence is said, and the process ends.

An exception would not do: libraries swallow it in destructors and callbacks, a second Ctrl-C interrupts the clean-up of
the first, and while modules are imported nobody is there to catch it. A handler runs between two instructions of the
main thread, and nothing runs after it. Whoever uses the package from Python gets the usual `KeyboardInterrupt`.

This module imports nothing but the standard library, because it is the first that the command loads.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

INTERRUPTED = 130
"""The exit code."""

_drafts: set[Path] = set()
_written: list[Path] = []
_closing: list[Callable[[], None]] = []
_settling = False
_asked = False


@contextmanager
def unfinished(draft: Path) -> Iterator[None]:
    """A file or folder that is being written beside its place. It is removed unless it comes to its place.

    It is known from before it exists, so that there is no moment at which it could be left behind.
    """
    _drafts.add(draft)
    try:
        yield
    finally:
        remove(draft)
        _drafts.discard(draft)


def settle(draft: Path, place: Path) -> None:
    """Moves a draft to its place. An interrupt comes before or after, and what it says is true."""
    global _settling
    _settling = True
    try:
        draft.replace(place)
        _written.append(place)
    finally:
        _settling = False
    if _asked:
        leave(signal.SIGINT, None)


def temporary(path: Path) -> Path:
    """A file or folder that goes when the process ends, however it ends."""
    _drafts.add(path)
    atexit.register(remove, path)
    return path


@contextmanager
def closing(close: Callable[[], None]) -> Iterator[None]:
    """Has something closed if the process leaves within the block."""
    _closing.append(close)
    try:
        yield
    finally:
        _closing.remove(close)


def remove(path: Path) -> None:
    """Removes a file or folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        path.unlink()


def leave_on_interrupt() -> None:
    """Makes Ctrl-C end this process. One that was started to ignore it goes on ignoring it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)


def leave(number: int, frame: FrameType | None) -> None:
    """The handler. It writes past `sys.stderr`, which may be in the middle of a write itself."""
    global _asked
    if _settling:
        _asked = True
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for close in _closing:
        with suppress(Exception):
            close()
    for draft in list(_drafts):
        remove(draft)
    with suppress(OSError):
        os.write(2, f"unveil: {_sentence()}\n".encode(errors="replace"))
    os._exit(INTERRUPTED)


def _sentence() -> str:
    # What came to its place within a folder that is unfinished itself is gone with it.
    left = [str(path) for path in _written if path.exists()]
    return f"interrupted; written before that: {', '.join(left)}." if left else "interrupted; nothing was written."


def is_command() -> bool:
    """Whether this process is the command `unveil`, or `python -m unveil`, and not somebody's program."""
    if sys.argv[:1] == ["-m"]:
        return "unveil" in sys.orig_argv
    return bool(sys.argv) and Path(sys.argv[0]).stem == "unveil"
