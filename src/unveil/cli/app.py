"""The commands: one per verb, no logic of their own."""

from __future__ import annotations

import atexit
import json
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast

import typer
from rich.console import Console
from typer.core import TyperGroup

from unveil.cli import evaluation, explanation, report, taxonomy
from unveil.cli.interrupt import stop_on_interrupt
from unveil.errors import SpecError, UnveilError
from unveil.version import __version__

if TYPE_CHECKING:
    from unveil.masking import Intervals

INTERRUPTED = 130


class Commands(TyperGroup):
    """All commands end the same way: an error a user can act on is one sentence and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        """Runs a command."""
        try:
            return super().invoke(ctx)
        except UnveilError as error:
            if ctx.params["debug"]:
                traceback.print_exc()
            fail(f"unveil: {error}", 2)
        except KeyboardInterrupt:
            fail("unveil: interrupted; nothing was written.", INTERRUPTED)


def fail(message: str, code: int) -> NoReturn:
    """Ends with a message on stderr."""
    Console(stderr=True, highlight=False, soft_wrap=True, markup=False).print(message)
    sys.exit(code)


app = typer.Typer(
    cls=Commands,
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Publish person-level tables that are safe to hand out and still train good classifiers.",
)
console = Console(highlight=False, soft_wrap=True, markup=False)

SpecArgument = Annotated[Path, typer.Argument(metavar="SPEC", help="The spec: a TOML file.")]
ReleaseArgument = Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.")]


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Options of all commands; `--debug` is read where errors arrive."""
    if version:
        console.print(f"unveil {__version__}")
        raise typer.Exit


@app.command()
def publish(
    spec: SpecArgument,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Where the release goes; must not exist.")],
    trace: Annotated[Path | None, typer.Option(help="Write the private trace of the steps here, as JSON.")] = None,
    steps: Annotated[int | None, typer.Option(min=0, help="Stop after so many refinements.")] = None,
    csv: Annotated[str, typer.Option("--format", metavar="FORMAT", help="parquet, or csv for both.")] = "parquet",
    keep: Annotated[
        bool, typer.Option("--keep-on-interrupt", help="On Ctrl-C publish the valid table reached so far.")
    ] = False,
) -> None:
    """Make a release from a spec."""
    from unveil import workflow
    from unveil.cli import screens
    from unveil.release import FORMATS, check_absent
    from unveil.schema import load_spec

    if csv not in FORMATS:
        raise typer.BadParameter(f"{csv!r} is not one of {', '.join(FORMATS)}.", param_hint="--format")
    check_absent(to, "output folder")
    if trace is not None:
        check_trace(trace, to)
    checked = load_spec(spec)
    if checked.plan is not None and (trace is not None or steps is not None):
        option = "--steps" if trace is None else "--trace"
        raise SpecError(
            f"{checked.origin}: {option} is for refinement; a private release is drawn once and keeps no trace."
        )
    with stop_on_interrupt(keep and checked.plan is None) as stop:
        release = workflow.publish(checked, steps=steps, stop=stop)
    release.write(to, ("parquet", "csv") if csv == "csv" else ("parquet",))
    if trace is not None:
        release.write_trace(trace)
    screens.show_release(console, release)
    console.print(f"Written to {to}.")
    if trace is not None:
        console.print(f"The trace in {trace} is private: keep it.")


@app.command()
def init(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A table: csv or parquet.")],
    to: Annotated[
        Path | None, typer.Option("--to", metavar="SPEC", help="Write the spec here instead of printing it.")
    ] = None,
) -> None:
    """Draft a spec from a table, with every guess marked."""
    from unveil.workflow.init import draft_spec
    from unveil.workflow.init import init as write

    if to is None:
        print(draft_spec(table), end="")
        return
    doubt = write(table, to)
    console.print(f"A first spec is in {to}. Read it, correct the guesses, then: unveil check {to}")
    if doubt:
        console.print(f"But {doubt}.", style="yellow")


@app.command()
def check(spec: SpecArgument) -> None:
    """Say whether a spec fits its table and whether its requirements can hold."""
    from unveil import workflow
    from unveil.cli import screens

    screens.show_fit(console, workflow.check(spec))


@app.command()
def verify(
    release: ReleaseArgument,
    raw: Annotated[
        Path | None, typer.Option("--raw", metavar="SPEC", help="Also check it against the raw table of this spec.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Recount every claim of a release from its files alone."""
    from unveil import workflow

    findings = workflow.verify(release, raw)
    if as_json:
        print(json.dumps([vars(finding) for finding in findings], ensure_ascii=False))
    elif findings:
        for finding in findings:
            console.print(str(finding))
    else:
        console.print(f"{release}: every claim holds.")
    if findings:
        raise typer.Exit(1)


@app.command()
def apply(
    release: ReleaseArgument,
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="New rows: csv or parquet.")],
    to: Annotated[Path, typer.Option("--to", metavar="FILE", help="Where the masked rows go: .csv or .parquet.")],
    unseen: Annotated[
        str, typer.Option(metavar="RULE", help="A value without a block: refuse it, or suppress it.")
    ] = "refuse",
    intervals: Annotated[
        str, typer.Option(metavar="FORM", help="Intervals as text, as midpoint, or (parquet alone) as bounds.")
    ] = "text",
    suppressed: Annotated[
        str, typer.Option(metavar="TEXT", help="What stands for a suppressed value; an empty text for null.")
    ] = "⊥",
) -> None:
    """Mask new rows with the masking of a release."""
    from unveil import workflow
    from unveil.errors import rows_text

    if unseen not in ("refuse", "suppress"):
        raise typer.BadParameter(f"{unseen!r} is neither 'refuse' nor 'suppress'.", param_hint="--unseen")
    if to.suffix not in (".csv", ".parquet"):
        raise typer.BadParameter(f"{str(to)!r} ends in neither .csv nor .parquet.", param_hint="--to")
    if intervals not in ("text", "midpoint", "bounds"):
        raise typer.BadParameter(f"{intervals!r} is not one of text, midpoint, bounds.", param_hint="--intervals")
    rows = workflow.apply_to_file(
        release,
        table,
        to,
        unseen="suppress" if unseen == "suppress" else "refuse",
        intervals=cast("Intervals", intervals),
        suppressed=suppressed or None,
    )
    console.print(f"{rows_text(rows)} masked into {to}.")
    console.print("The guarantee is about the rows of the release; it says nothing about these.", style="yellow")


@app.command()
def demo(
    to: Annotated[Path | None, typer.Option("--to", metavar="DIR", help="Where the demo release goes.")] = None,
) -> None:
    """Publish the bundled data set and show what came out."""
    from unveil.cli import screens
    from unveil.workflow.demo import demo as run

    screens.show_demo(console, run(to or fresh_folder(Path("demo-release"))))


for part in (evaluation, report, taxonomy, explanation):
    part.register(app, console)


def check_trace(trace: Path, folder: Path) -> None:
    """The trace is private, so it must not land in what is handed out."""
    from unveil.errors import ReleaseError
    from unveil.release import check_absent

    if folder.absolute() in trace.absolute().parents:
        raise ReleaseError(f"{trace}: the trace is private and cannot be written into the release {folder}.")
    check_absent(trace, "trace file")


def fresh_folder(wish: Path) -> Path:
    """The wished folder, or the first numbered one that does not exist."""
    number = 2
    folder = wish
    while folder.exists():
        folder = wish.with_name(f"{wish.name}-{number}")
        number += 1
    return folder


def main() -> None:
    """Runs the command line."""
    try:
        app(prog_name="unveil")
    except KeyboardInterrupt:  # pressed while an error was being told
        sys.exit(INTERRUPTED)


def script() -> NoReturn:
    """The installed command: the command line, and then the process ends at once.

    Threads of native libraries now and then abort a process that Python is shutting down, after everything is written.
    So what was registered for the end is run, output is flushed, and nothing is left to shut down.
    """
    code: int | str | None = 0
    try:
        main()
    except SystemExit as stop:
        code = stop.code
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))
