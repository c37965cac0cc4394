"""How the command ends where it does not end well: one sentence on stderr, and an exit code that says why.

| code | |
|---|---|
| 2 | bad input, or a machine without room for the work: the user can do something about it |
| 3 | an error that nobody foresaw, or output that cannot be printed |

1 is not among them: it means that a claim of a release is broken.
"""

from __future__ import annotations

import atexit
import codecs
import errno
import json
import os
import sys
import traceback
from contextlib import suppress
from io import TextIOWrapper
from typing import NoReturn, TextIO, cast

from unveil.characters import visible
from unveil.cli.terminal import Terminal
from unveil.errors import UnveilError
from unveil.interruption import UNFORESEEN, written_text

BAD = 2
MOST = 300
"""How many characters of an unforeseen error are told."""
UNPRINTED = frozenset({errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EBADF})
"""What happens to a stream, which has no name: its reader is gone, or its disk is full."""
NUMBERED = "unveil.numbered"
"""What the streams do with a character that they cannot encode."""


def told(error: Exception) -> tuple[str, int] | None:
    """The sentence and the exit code of an error that can come up in any command; None if nobody foresaw it."""
    match error:
        case UnveilError():
            return str(error), BAD
        case MemoryError():
            return "there is not enough memory for this; the engine 'stream' needs the least.", BAD
        case OSError(filename=None) if error.errno in UNPRINTED:
            return f"the output cannot be printed: {error.strerror}{written_text()}.", UNFORESEEN
        case OSError(filename=str() | bytes() as name):
            return f"{os.fsdecode(name)}: {error.strerror}.", BAD
    return None


def fail(message: str, code: int, *, debug: bool = False) -> NoReturn:
    """Ends with a message on stderr, after the traceback if it is asked for; if nobody listens, with the code alone."""
    with suppress(OSError):
        terminal = Terminal(stderr=True)
        if debug:
            terminal.print(traceback.format_exc(), end="")
        terminal.print(f"unveil: {visible(message)}")
    sys.exit(code)


def crash(error: Exception) -> NoReturn:
    """Ends after an error outside of all commands, or one that nobody foresaw."""
    debug = "--debug" in sys.argv
    said = " ".join(f"{type(error).__name__}: {error}".split())[:MOST]
    hint = "please report it" if debug else "run 'unveil --debug' to see where, and please report it"
    unforeseen = (f"internal error: {said}{written_text()}; {hint}.", UNFORESEEN)
    fail(*(told(error) or unforeseen), debug=debug)


def open_streams() -> None:
    """Makes stdout and stderr take every text: a character that they cannot encode is printed as its number."""
    closed = sys.stdout is None
    sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))  # noqa: SIM115
    if closed:
        fail("stdout is closed, so nothing could be said; send it to a file, or to /dev/null.", BAD)
    codecs.register_error(NUMBERED, _numbered)
    for stream in (sys.stdout, sys.stderr):
        cast("TextIOWrapper", stream).reconfigure(errors=NUMBERED)


def end(code: int) -> NoReturn:
    """Ends the process at once.

    Threads of native libraries now and then abort a process that Python is shutting down, after everything is written.
    So what was registered for the end is run, output is flushed, and nothing is left to shut down.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        _flush(stream)
    os._exit(code)


def _flush(stream: TextIO) -> None:
    with suppress(OSError, ValueError):
        stream.flush()


def _numbered(error: UnicodeError) -> tuple[str, int]:
    r"""Characters as JSON escapes them, `\u03b5`, so that JSON stays JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end
