"""The command line: one command per verb. Only the verb that is run is imported and built.

A command that fails ends with one sentence on stderr, and an exit code that says why:

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
from functools import cache
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperGroup

from unveil.characters import visible
from unveil.cli.terminal import Terminal, console
from unveil.errors import UnveilError
from unveil.interruption import UNFORESEEN, keep_signals, leave_on_interrupt, written_text
from unveil.version import __version__

BAD = 2
MOST = 300
"""How many characters of an unexpected error are printed."""
UNREAD = 128 + 13
"""The exit code that shells give a command that SIGPIPE ended."""
NUMBERED = "unveil.numbered"
"""The error handler for characters that a stream cannot encode."""
HOMES = {
    "publish": "publication.publish",
    "init": "verbs.init",
    "check": "verbs.check",
    "verify": "verbs.verify",
    "apply": "verbs.apply",
    "demo": "verbs.demo",
    "attack": "verbs.attack",
    "audit": "publication.audit",
    "key": "publication.key",
    "evaluate": "evaluation.evaluate",
    "compare": "evaluation.compare",
    "report": "verbs.report",
    "explain": "evaluation.explain",
    "taxonomy": "taxonomy.commands",
    "studio": "verbs.studio",
}
"""Where each command is, below `unveil.cli`: a function, or an app with its own commands."""
ENVIRONMENT = {"PYDANTIC_DISABLE_PLUGINS": "__all__", "OPENBLAS_NUM_THREADS": "1"}
"""What a command asks of libraries, unless the user asks for something else.

Pydantic looks through all installed packages for plugins, which would take part in reading specs and releases. NumPy
starts threads to multiply matrices, of which a command has only small ones.
"""
ALONE = "alone"
"""What the installed command passes to its commands: the process has no other use."""
UNPRINTED = frozenset({errno.ENOSPC, errno.EIO, errno.EBADF})
"""Errors of a stream, which has no name, such as a full disk."""


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


@cache
def _built(home: str) -> Any:
    module, name = home.split(".")
    verb = getattr(import_module(f"unveil.cli.{module}"), name)
    if isinstance(verb, typer.Typer):
        return typer.main.get_command(verb)
    single = typer.Typer(add_completion=False)
    single.command()(verb)
    return typer.main.get_command(single)


class Commands(TyperGroup):
    """Makes all commands fail the same way: one sentence, and an exit code that says what kind of error it was."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: dict[str, Any] = dict.fromkeys(HOMES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, built when it is asked for; None if there is none."""
        return _built(HOMES[cmd_name]) if cmd_name in HOMES else None

    def invoke(self, ctx: Any) -> Any:
        """Runs a command."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except Exception as error:
            ending = foreseen(error)
            if ending is None:
                raise
            fail(*ending, debug=ctx.params["debug"])
        return result


app = typer.Typer(
    cls=Commands,
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Publish person-level tables that are safe to share and still train good classifiers.",
)


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")] = False,
) -> None:
    """Options of all commands; `Commands.invoke` reads `--debug`."""
    if version:
        console.print(f"unveil {__version__}")
        raise typer.Exit
    if context.obj is ALONE:
        from unveil.absence import keep_pandas_out

        keep_pandas_out()
        keep_signals()


def main(process: object = None) -> None:
    """Runs the command line; `process` is `ALONE` if this process runs nothing else."""
    app(prog_name="unveil", obj=process)


def script() -> NoReturn:
    """The installed command: runs the command line and then ends the process at once."""
    leave_on_interrupt()
    os.environ.update({**ENVIRONMENT, **os.environ})
    code: int | str | None = 0
    try:
        open_streams()
        _run()
    except SystemExit as stop:
        code = stop.code
    end(code if isinstance(code, int) else int(code is not None))


def _run() -> None:
    try:
        main(ALONE)
        sys.stdout.flush()
    except Exception as error:
        crash(error)
