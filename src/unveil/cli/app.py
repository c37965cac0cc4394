"""The command line: one command per verb. Only the verb that is run is imported and built."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperGroup

from unveil.cli.endings import crash, end, fail, foreseen, open_streams
from unveil.cli.terminal import console
from unveil.interruption import leave_on_interrupt
from unveil.version import __version__

HOMES = {
    "publish": "publication.publish",
    "init": "verbs.init",
    "check": "verbs.check",
    "verify": "verbs.verify",
    "apply": "verbs.apply",
    "demo": "verbs.demo",
    "attack": "attack.attack",
    "evaluate": "evaluation.evaluate",
    "compare": "evaluation.compare",
    "report": "verbs.report",
    "explain": "evaluation.explain",
    "taxonomy": "taxonomy.commands",
    "studio": "studio.studio",
}
"""Where each command is, below `unveil.cli`: a function, or an app with commands of its own."""
ALONE = "alone"
"""What the installed command tells its commands: the process has no other use."""


class Verbs(Mapping[str, Any]):
    """The commands by name, each built when it is asked for."""

    def __init__(self) -> None:
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            module, verb = HOMES[name].split(".")
            self._built[name] = _built(getattr(import_module(f"unveil.cli.{module}"), verb))
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(HOMES)

    def __len__(self) -> int:
        return len(HOMES)


def _built(verb: Any) -> Any:
    if isinstance(verb, typer.Typer):
        return typer.main.get_command(verb)
    single = typer.Typer(add_completion=False)
    single.command()(verb)
    return typer.main.get_command(single)


class Commands(TyperGroup):
    """Makes all commands fail the same way: one sentence, and an exit code that says what kind of error it was."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = cast("MutableMapping[str, Any]", Verbs())

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


def main(process: object = None) -> None:
    """Runs the command line.

    Args:
        process: `ALONE` if this process runs nothing else.
    """
    app(prog_name="unveil", obj=process)


def script() -> NoReturn:
    """The installed command: runs the command line and then ends the process at once."""
    leave_on_interrupt()
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
