"""How a command that fails ends: one sentence on stderr, and an exit code that says why.

| code | |
|---|---|
| 2 | bad input, or too little memory or disk: the user can do something about it |
| 3 | an unexpected error, or output that cannot be printed |
| 141 | the reader of the output left early, as `head` does; nothing is said |

1 is not among them; it means that a claim of a release is broken.
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
from typing import NoReturn, cast

from unveil.characters import visible
from unveil.cli.terminal import Terminal
from unveil.errors import UnveilError
from unveil.interruption import UNFORESEEN, written_text

BAD = 2
MOST = 300
"""How many characters of an unexpected error are printed."""
UNPRINTED = frozenset({errno.ENOSPC, errno.EIO, errno.EBADF})
"""Errors of a stream, which has no name, such as a full disk."""
UNREAD = 128 + 13
"""The exit code that shells give a command that SIGPIPE ended."""
NUMBERED = "unveil.numbered"
"""The error handler for characters that a stream cannot encode."""


def foreseen(error: Exception) -> tuple[str, int] | None:
    """The message and the exit code of an error that any command can raise; None for an unexpected one.

    The message is empty if nothing is to be said.
    """
    match error:
        case UnveilError():
            return str(error), BAD
        case MemoryError():
            return "there is not enough memory for this; the engine 'stream' needs the least.", BAD
        case BrokenPipeError(filename=None):
            return "", UNREAD
        case OSError(filename=None) if error.errno in UNPRINTED:
            return f"the output cannot be printed: {error.strerror}{written_text()}.", UNFORESEEN
        case OSError(filename=str() | bytes() as name):
            return f"{os.fsdecode(name)}: {error.strerror}.", BAD
    return None


def fail(message: str, code: int, *, debug: bool = False) -> NoReturn:
    """Exits with a message on stderr, after the traceback if asked for; if stderr is closed, with the code alone."""
    with suppress(OSError):
        terminal = Terminal(stderr=True)
        if debug:
            terminal.print(traceback.format_exc(), end="")
        if message:
            terminal.print(f"unveil: {visible(message)}")
    sys.exit(code)


def crash(error: Exception) -> NoReturn:
    """Exits after an error outside all commands, or an unexpected one."""
    debug = "--debug" in sys.argv
    said = " ".join(f"{type(error).__name__}: {error}".split())[:MOST]
    hint = "please report it" if debug else "run 'unveil --debug' to see where, and please report it"
    unforeseen = (f"internal error: {said}{written_text()}; {hint}.", UNFORESEEN)
    fail(*(foreseen(error) or unforeseen), debug=debug)


def open_streams() -> None:
    """Makes stdout and stderr accept any text: a character they cannot encode is printed as its code point."""
    closed = sys.stdout is None
    sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))  # noqa: SIM115
    if closed:
        fail("stdout is closed, so no result could be printed; redirect it to a file or to /dev/null.", BAD)
    codecs.register_error(NUMBERED, _numbered)
    for stream in (sys.stdout, sys.stderr):
        cast("TextIOWrapper", stream).reconfigure(errors=NUMBERED)


def end(code: int) -> NoReturn:
    """Ends the process at once.

    Threads of native libraries sometimes abort a process while Python shuts down, after everything is written. So
    this runs the exit handlers, flushes the output, and skips the rest of the shutdown.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _numbered(error: UnicodeError) -> tuple[str, int]:
    r"""Characters as JSON escapes them, `\u03b5`, so that JSON stays JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end
