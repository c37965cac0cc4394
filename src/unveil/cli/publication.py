"""The commands `publish`, which on Ctrl-C can stop at the table reached so far, and `audit` and `key`, which sign."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from unveil.choices import ENGINES, PLACES, Format
from unveil.cli.terminal import Json, KeepFormulas, ReleaseArgument, SpecArgument, console, print_json, watched
from unveil.errors import ReleaseError, SpecError, UnverifiedError
from unveil.interruption import provisional
from unveil.progress import Watcher

if TYPE_CHECKING:
    from unveil.release import Formulas, Release


def publish(
    spec: SpecArgument,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="The folder to write; must not exist.")],
    trace: Annotated[Path | None, typer.Option(help="Write the private trace of the search here, as JSON.")] = None,
    steps: Annotated[int | None, typer.Option(min=0, help="Stop after this many refinements.")] = None,
    format_: Annotated[Format, typer.Option("--format", help="csv writes both formats.")] = "parquet",
    keep: Annotated[
        bool, typer.Option("--keep-on-interrupt", help="On Ctrl-C, publish the valid table reached so far.")
    ] = False,
    engine: Annotated[
        str | None, typer.Option(metavar="ENGINE", help=f"What counts the rows: {alternatives(ENGINES)}.")
    ] = None,
    index: Annotated[
        str | None, typer.Option(metavar="PLACE", help=f"Where Spark searches: {alternatives(PLACES)}.")
    ] = None,
    spark: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A Spark setting; repeatable.")] = None,
    after: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Keep the promise together with this earlier release; repeatable."),
    ] = None,
    keep_formulas: KeepFormulas = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was released as JSON.")] = False,
) -> None:
    """Make a release from a spec."""
    from unveil.counting.engine import check_formats
    from unveil.release import check_absent
    from unveil.schema import load_spec
    from unveil.workflow.publish import publish as run

    formats = ("parquet", "csv") if format_ == "csv" else ("parquet",)
    check_absent(to, "output folder")
    if trace is not None:
        check_trace(trace, to)
    checked = load_spec(spec)
    if checked.plan is not None and (trace is not None or steps is not None):
        option = "--steps" if trace is None else "--trace"
        raise SpecError(
            f"{checked.origin}: {option} is for refinement; a private release is drawn once and has no trace."
        )
    check_formats(engine, checked.source, formats)
    settings = spark_settings(spark or ())
    with watched() as progress:
        with stop_on_interrupt(keep and checked.plan is None) as stop:
            release = run(
                checked,
                steps=steps,
                stop=stop,
                engine=engine,
                index=index,
                spark=settings,
                after=after,
                progress=progress,
            )
        write(release, to, formats, trace, progress, "kept" if keep_formulas else "guarded")
    from unveil.cli import screens

    if as_json:
        print_json(screens.release_facts(release, to))
        return
    screens.show_release(console, release)
    console.print(f"Written to {to}.")
    if trace is not None:
        console.print(f"The trace in {trace} is private: do not share it.")
    if checked.history is not None:
        console.print(f"Entered in {checked.history}, which is private: do not share it.")


def alternatives(words: Sequence[str]) -> str:
    """For example `auto, driver or cluster`."""
    return f"{', '.join(words[:-1])} or {words[-1]}"


def write(
    release: Release, to: Path, formats: Sequence[str], trace: Path | None, progress: Watcher, formulas: Formulas
) -> None:
    """Writes a release and, if asked for, its trace: both or neither."""
    if trace is None:
        release.write(to, formats, progress, formulas)
        return
    release.write_trace(trace)
    with provisional(trace):
        release.write(to, formats, progress, formulas)


def spark_settings(words: Sequence[str]) -> dict[str, str]:
    """Spark settings from words such as `spark.master=local[2]`."""
    settings = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.startswith("spark."):
            raise SpecError(f"--spark {word!r}: a Spark setting has the form spark.KEY=VALUE.")
        settings[key] = value
    return settings


def check_trace(trace: Path, folder: Path) -> None:
    """Refuses a trace inside the release folder: the trace is private, the folder is shared."""
    from unveil.release import check_absent

    if folder.absolute() in trace.absolute().parents:
        raise ReleaseError(f"{trace}: the trace is private and cannot be written into the release {folder}.")
    check_absent(trace, "trace file")


@contextmanager
def stop_on_interrupt(keep: bool) -> Iterator[Callable[[], bool] | None]:
    """With `keep`, gives a function to call between steps: has Ctrl-C been pressed? A second one interrupts."""
    pressed, before = False, signal.getsignal(signal.SIGINT)
    if not keep:
        yield None
        return

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed and callable(before):
            before(number, frame)
        pressed = True

    signal.signal(signal.SIGINT, press)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)


def audit(
    release: ReleaseArgument,
    raw: Annotated[Path, typer.Option("--raw", metavar="SPEC", help="The owner's spec, and by it the raw table.")],
    to: Annotated[Path | None, typer.Option("--to", metavar="FILE", help="Where to write the page: .html.")] = None,
    sign: Annotated[
        Path | None, typer.Option("--sign", metavar="KEY", help="Sign the release and the page with this private key.")
    ] = None,
    earlier: Annotated[
        Path | None, typer.Option(metavar="DIR", help="An earlier release of people in common: attack both together.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", min=2, help="Attack with N rows drawn at random.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the page that a data protection officer files about a release, and sign both."""
    from unveil.workflow.audit import audit_to_file

    target = to or release.resolve().with_name(f"{release.resolve().name}-audit.html")
    if target.suffix not in (".html", ".htm"):
        raise typer.BadParameter(f"{str(target)!r} ends in neither .html nor .htm.", param_hint="--to")
    try:
        with watched() as progress:
            written = audit_to_file(release, target, raw, earlier=earlier, sample=sample, key=sign, progress=progress)
    except UnverifiedError as error:
        if as_json:
            print_json({"audit": None, "broken": str(error)})
        else:
            console.print(str(error))
        raise typer.Exit(1) from error
    if as_json:
        print_json({"audit": str(target), "written": [str(path) for path in written]})
        return
    console.print(f"The audit is in {target}.")
    for path in written[1:]:
        console.print(f"Signed: {path}.")
    console.print("The page is private: it contains attacks on the raw table. Do not share it.", style="yellow")


def key(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write the private key.")],
    as_json: Json = False,
) -> None:
    """Make a key that signs releases. Readers need the public one, FILE.pub."""
    from unveil.release.signature import make_key

    public = make_key(path)
    if as_json:
        print_json({"private": str(path), "public": str(public)})
        return
    console.print(f"Keep {path} to yourself. Give {public} to readers in a way that they trust.")
