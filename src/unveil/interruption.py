"""What the command does on Ctrl-C and other signals: remove drafts, print one sentence, and exit.

An exception would not work: libraries swallow it in destructors and callbacks, a second Ctrl-C interrupts the clean-up
of the first, and nothing catches it while modules are imported. A signal handler runs between two instructions of the
main thread, and nothing runs after it. Python programs that use the package get the usual `KeyboardInterrupt`.

This module is the first that the command loads, so loading it loads nothing but the standard library.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, TracebackType

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Ctrl-C, what `kill` and schedulers send, and a closed terminal."""
UNFORESEEN = 3
"""The exit code of an unexpected error."""

_drafts: set[Path] = set()
_written: list[Path] = []
_closing: list[Callable[[], None]] = []
_moving = threading.RLock()
_settling = False
_asked: int | None = None


@contextmanager
def unfinished(draft: Path) -> Iterator[None]:
    """A file or folder that is written next to its final place. It is removed unless it gets there.

    It is registered before it exists, so that it cannot be left behind at any moment.
    """
    _drafts.add(draft)
    try:
        yield
    finally:
        remove(draft)
        _drafts.discard(draft)


@contextmanager
def provisional(path: Path) -> Iterator[None]:
    """A file in its final place that is removed again unless the block completes."""
    _drafts.add(path)
    try:
        yield
    except BaseException:
        remove(path)
        raise
    finally:
        _drafts.discard(path)


def settle(draft: Path, place: Path, *, over: bool = False) -> None:
    """Moves a finished draft to its place. An interrupt takes effect before or after, so that its message is true.

    The handler runs in the main thread: it waits for a move in another thread, and is put off by one in its own.
    If another process was faster, this raises `OSError`, unless it may go `over` an existing file.
    """
    global _settling
    main = threading.current_thread() is threading.main_thread()
    with _moving:
        _settling = main
        try:
            if over or draft.is_dir():  # a folder can only replace an empty one
                draft.replace(place)
            else:
                _link(draft, place)
            _written.append(place)
        finally:
            _settling = False
    if main and _asked is not None:
        leave(_asked, None)


def _link(draft: Path, place: Path) -> None:
    """Gives a draft its final name if that is free; without hard links, by creating an empty file there first."""
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
    """A file or folder that is removed when the process ends, however it ends."""
    _drafts.add(path)
    atexit.register(remove, path)
    return path


@contextmanager
def closing(close: Callable[[], None]) -> Iterator[None]:
    """Calls `close` if the process is interrupted within the block."""
    _closing.append(close)
    try:
        yield
    finally:
        _closing.remove(close)


def remove(path: Path) -> None:
    """Removes a file or folder if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        path.unlink()


def leave_on_interrupt() -> None:
    """Makes these signals end this process. A signal that the process was started to ignore stays ignored."""
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, leave)


def keep_signals() -> None:
    """Keeps Arrow from trapping signals while it reads a csv file: it lost those that came near the end of a read."""
    import pyarrow

    pyarrow.enable_signal_handlers(False)


def leave_on_crash() -> None:
    """Prints an error during import as one sentence; later errors are handled by the command line."""
    sys.excepthook = _crash


def _crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if "--debug" in sys.argv:
        sys.__excepthook__(kind, error, trace)
    said = " ".join(f"{kind.__name__}: {error}".split())
    say(f"cannot start: {said[:300]}; run it with 'unveil --debug' to see where.")
    os._exit(UNFORESEEN)


def leave(number: int, frame: FrameType | None) -> None:
    """The handler."""
    global _asked
    if _settling:
        _asked = number
        return
    _moving.acquire()  # for good: nothing is moved to its place after the drafts are gone
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
    """The end of the last message: what had been written completely, if anything."""
    # A file that was finished within an unfinished folder is removed with the folder.
    left = [str(path) for path in _written if path.exists()]
    return f"; written before that: {', '.join(left)}" if left else ""


def say(sentence: str) -> None:
    """Writes to file descriptor 2: `sys.stderr` may be in the middle of a write, or not exist yet."""
    with suppress(OSError):
        os.write(2, f"unveil: {sentence}\n".encode(errors="backslashreplace"))


def is_command() -> bool:
    """Whether this process is the command `unveil`, or `python -m unveil`, not another program."""
    if sys.argv[:1] == ["-m"]:  # while the package is imported
        return "unveil" in sys.orig_argv
    program = Path(sys.argv[0]) if sys.argv else Path()
    return program.stem == "unveil" or program.parts[-2:] == ("unveil", "__main__.py")
