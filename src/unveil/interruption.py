"""Ctrl-C in the command, or another end from outside: drafts are removed, one sentence is said, and the process ends.

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
from types import FrameType, TracebackType

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Ctrl-C, what `kill` and schedulers send, and a terminal that is closed."""
UNFORESEEN = 3
"""The exit code of an error that nobody foresaw."""

_drafts: set[Path] = set()
_written: list[Path] = []
_closing: list[Callable[[], None]] = []
_settling = False
_asked: int | None = None


@contextmanager
def unfinished(draft: Path) -> Iterator[None]:
    """A file or folder that is being written next to its place. It is removed unless it comes to its place.

    It is known from before it exists, so that there is no moment at which it could be left behind.
    """
    _drafts.add(draft)
    try:
        yield
    finally:
        remove(draft)
        _drafts.discard(draft)


@contextmanager
def provisional(path: Path) -> Iterator[None]:
    """A file in its place that goes again unless the block is completed."""
    _drafts.add(path)
    try:
        yield
    except BaseException:
        remove(path)
        raise
    finally:
        _drafts.discard(path)


def settle(draft: Path, place: Path, *, over: bool = False) -> None:
    """Moves a draft to its place. An interrupt comes before or after, and what it says is true.

    Args:
        draft: The finished draft.
        place: Where it goes. If another process has been faster, an `OSError` says so, unless it may be replaced.
        over: Whether it replaces a file that is there.
    """
    global _settling
    _settling = True
    try:
        if over or draft.is_dir():  # a folder replaces none that holds anything
            draft.replace(place)
        else:
            _link(draft, place)
        _written.append(place)
    finally:
        _settling = False
    if _asked is not None:
        leave(_asked, None)


def _link(draft: Path, place: Path) -> None:
    """Gives a draft its name, if nobody has it: where there are no links, by taking the name first."""
    try:
        os.link(draft, place)
    except FileExistsError:
        raise
    except OSError:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL, 0o600))
        try:
            draft.replace(place)
        except OSError:
            remove(place)
            raise


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
    """Makes these signals end this process. One that was started to ignore a signal goes on ignoring it."""
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, leave)


def leave_on_crash() -> None:
    """Makes an error while modules are imported one sentence; once they are, the command line sees to it."""
    sys.excepthook = _crash


def _crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if "--debug" in sys.argv:
        sys.__excepthook__(kind, error, trace)
    said = " ".join(f"{kind.__name__}: {error}".split())
    say(f"it does not start: {said[:300]}; run it with 'unveil --debug' to see where.")
    os._exit(UNFORESEEN)


def leave(number: int, frame: FrameType | None) -> None:
    """The handler."""
    global _asked
    if _settling:
        _asked = number
        return
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    for close in _closing:
        with suppress(Exception):
            close()
    for draft in list(_drafts):
        remove(draft)
    say(f"interrupted{written_text() or '; nothing was written'}.")
    os._exit(128 + number)


def written_text() -> str:
    """What a sentence about the end of this process adds: what was complete by then, or nothing."""
    # What came to its place within a folder that is unfinished itself is gone with it.
    left = [str(path) for path in _written if path.exists()]
    return f"; written before that: {', '.join(left)}" if left else ""


def say(sentence: str) -> None:
    """Writes past `sys.stderr`, which may be in the middle of a write itself, or not be there yet."""
    with suppress(OSError):
        os.write(2, f"unveil: {sentence}\n".encode(errors="backslashreplace"))


def is_command() -> bool:
    """Whether this process is the command `unveil`, or `python -m unveil`, and not somebody's program."""
    if sys.argv[:1] == ["-m"]:
        return "unveil" in sys.orig_argv
    return bool(sys.argv) and Path(sys.argv[0]).stem == "unveil"
