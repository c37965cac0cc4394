"""The commands that are short: one per verb, no logic."""

from __future__ import annotations

import os
import sys
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unveil.characters import visible
from unveil.choices import FileIntervals, Unseen
from unveil.cli.terminal import (
    Figures,
    Json,
    KeepFormulas,
    ReleaseArgument,
    SpecArgument,
    Terminal,
    console,
    print_json,
    print_text,
    watched,
)
from unveil.errors import TableError, UnveilError, UnverifiedError, rows_text

if TYPE_CHECKING:
    from rich.console import Console

    from unveil.attacks import Exposure


def init(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A table: csv or parquet, or a DuckDB database.")],
    to: Annotated[
        Path | None, typer.Option("--to", metavar="SPEC", help="Write the spec here instead of printing it.")
    ] = None,
    query: Annotated[str | None, typer.Option(metavar="SQL", help="The rows of a database: one SELECT.")] = None,
    as_json: Json = False,
) -> None:
    """Draft a spec from a table, with every guess marked."""
    from unveil.cli import screens
    from unveil.drafts import guess_table, spec_text
    from unveil.release import check_absent, write_text
    from unveil.schema import source_of

    if to is not None:
        check_absent(to, "spec")
    with watched() as progress:
        progress(f"reading {table.name}", 0, None)
        guess, origin = guess_table(source_of(table, query))
    text = spec_text(guess, origin, table, to, query)
    if to is not None:
        write_text(to, text, "spec")
    if as_json:
        print_json(screens.guess_facts(guess, origin, to))
        return
    if to is None:
        print_text(text)
    else:
        console.print(f"A first spec is in {to}. Read it, correct the guesses, then: unveil check {to}")
    for warning in guess.warnings:
        (Terminal(stderr=True) if to is None else console).print(f"- {warning}", style="yellow")


def check(spec: SpecArgument, as_json: Json = False) -> None:
    """Say whether a spec fits its table and whether its requirements can hold."""
    from unveil.cli import screens
    from unveil.workflow.check import check as run

    with watched() as progress:
        fit = run(spec, progress=progress)
    if as_json:
        print_json(screens.fit_facts(fit))
    else:
        screens.show_fit(console, fit)


def verify(
    release: ReleaseArgument,
    raw: Annotated[
        Path | None,
        typer.Option("--raw", metavar="SPEC", help="Also check against the raw table of this spec."),
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--key", metavar="FILE", help="The owner's public key: the release must be signed.")
    ] = None,
    after: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="An earlier release to check together with it; repeatable."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Recount every claim of a release from its files alone."""
    from unveil.workflow.verify import verify as run

    with watched() as progress:
        findings = run(release, raw, key=key, after=after or (), progress=progress)
    if as_json:
        print_json({"findings": [vars(finding) for finding in findings], "notes": findings.notes})
    elif findings:
        for finding in findings:
            console.print(str(finding))
    else:
        console.print(f"{release}: every claim holds. For you to judge:")
        for note in findings.notes:
            console.print(f"- {visible(note)}")
    if findings:
        raise typer.Exit(1)


def apply(
    release: ReleaseArgument,
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="New rows: csv or parquet, a file or a folder.")],
    to: Annotated[
        Path,
        typer.Option("--to", metavar="FILE", help="Where to write the masked rows: .csv or .parquet, or a release."),
    ],
    unseen: Annotated[Unseen, typer.Option(help="What to do with a value that has no block.")] = "refuse",
    intervals: Annotated[
        FileIntervals, typer.Option(help="How to write intervals; bounds need a .parquet file.")
    ] = "text",
    suppressed: Annotated[
        str, typer.Option(metavar="TEXT", help="The text for a suppressed value; an empty one for null.")
    ] = "⊥",
    spec: Annotated[
        Path | None,
        typer.Option("--release", metavar="SPEC", help="Write a release that keeps its promise with the earlier ones."),
    ] = None,
    keep_formulas: KeepFormulas = False,
    as_json: Json = False,
) -> None:
    """Mask new rows with the masking of a release."""
    from unveil.workflow.apply import apply_to_file

    if spec is not None:
        if (unseen, intervals, suppressed) != ("refuse", "text", "⊥"):
            raise typer.BadParameter("--unseen, --intervals and --suppressed are for files, not for a release.")
        _apply_release(release, table, spec, to, keep_formulas=keep_formulas, as_json=as_json)
        return
    if to.suffix not in (".csv", ".parquet"):
        raise typer.BadParameter(f"{str(to)!r} ends in neither .csv nor .parquet.", param_hint="--to")
    with watched() as progress:
        rows = apply_to_file(
            release,
            table,
            to,
            unseen=unseen,
            intervals=intervals,
            suppressed=suppressed or None,
            formulas="kept" if keep_formulas else "guarded",
            progress=progress,
        )
    if as_json:
        print_json({"file": str(to), "rows": rows})
        return
    console.print(f"{rows_text(rows)} masked into {to}.")
    console.print("The guarantee covers the rows of the release, not these.", style="yellow")


def _apply_release(release: Path, table: Path, spec: Path, to: Path, *, keep_formulas: bool, as_json: bool) -> None:
    from unveil.cli import screens
    from unveil.release import check_absent
    from unveil.workflow.succession import apply_release

    check_absent(to, "output folder")
    with watched() as progress:
        made = apply_release(release, table, spec, progress=progress)
        made.write(to, progress=progress, formulas="kept" if keep_formulas else "guarded")
    if as_json:
        print_json(screens.release_facts(made, to))
        return
    screens.show_release(console, made)
    console.print(f"Written to {to}.")


def demo(
    to: Annotated[Path | None, typer.Option("--to", metavar="DIR", help="Where to write the demo releases.")] = None,
    as_json: Json = False,
) -> None:
    """Publish the bundled data set and show the result."""
    from unveil.cli import screens
    from unveil.workflow.demo import demo as run

    with watched() as progress:
        shown = run(to or fresh_folder(Path("demo-release")), progress)
    if as_json:
        print_json(screens.demo_facts(shown))
    else:
        screens.show_demo(console, shown)


def report(
    release: ReleaseArgument,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="Where to write the page; next to the folder if omitted."),
    ] = None,
    owner: Annotated[
        Path | None,
        typer.Option("--owner", metavar="SPEC", help="Write the private page, with exact figures, steps and accuracy."),
    ] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="With --owner: how many hold-outs; 5 if omitted.")] = None,
    sample: Annotated[
        int | None,
        typer.Option("--sample", metavar="N", min=2, help="With --owner: try classifiers on N rows drawn at random."),
    ] = None,
    as_json: Figures = False,
) -> None:
    """Write an HTML page about a release: one to share, or a private one with --owner."""
    from unveil.workflow.report import HOLDOUTS, report_to_file

    if owner is None and (seeds, sample) != (None, None):
        raise typer.BadParameter("--seeds and --sample need --owner.")
    target = to or default_target(release, owner)
    if target.suffix not in (".html", ".htm"):
        raise typer.BadParameter(f"{str(target)!r} ends in neither .html nor .htm.", param_hint="--to")
    try:
        with watched() as progress:
            holdouts = range(HOLDOUTS if seeds is None else seeds)
            report_to_file(release, target, owner, seeds=holdouts, sample=sample, progress=progress)
    except UnverifiedError as error:
        if as_json:
            print_json({"report": None, "broken": str(error)})
        else:
            console.print(str(error))
        raise typer.Exit(1) from error
    if as_json:
        print_json({"report": str(target), "private": owner is not None})
        return
    console.print(f"The report is in {target}.")
    if owner is None:
        console.print("It says no more than the release does and can be shared with it.")
    else:
        console.print("It is private: it contains exact figures from the raw table. Do not share it.", style="yellow")


def default_target(release: Path, owner: Path | None) -> Path:
    """Next to the release folder, named after it."""
    folder = release.resolve()
    return folder.with_name(f"{folder.name}-report{'' if owner is None else '-private'}.html")


def fresh_folder(wish: Path) -> Path:
    """The folder `wish`, or the first numbered one that does not exist."""
    numbered = (wish.with_name(f"{wish.name}-{number}") for number in count(2))
    return next(folder for folder in chain([wish], numbered) if not folder.exists())


def attack(
    target: Annotated[
        Path, typer.Argument(metavar="SPEC|DIR", help="A spec, published in memory only; or a release folder.")
    ],
    raw: Annotated[
        Path | None, typer.Option("--raw", metavar="SPEC", help="For a release: judge attacks by this raw table.")
    ] = None,
    earlier: Annotated[
        Path | None, typer.Option(metavar="DIR", help="An earlier release of people in common: attack both together.")
    ] = None,
    people: Annotated[int, typer.Option(min=2, help="How many people to attack, drawn at random.")] = 1000,
    population: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="How many people the table is a sample of.")
    ] = None,
    tries: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="How many releases to make for attacks that need many.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", min=2, help="Use N rows drawn at random.")
    ] = None,
    as_json: Figures = False,
) -> None:
    """Attack a release before you hand it out, and say what each attack gains."""
    from unveil.workflow.attack import attack as run

    with watched() as progress:
        found = run(
            target,
            raw,
            earlier=earlier,
            people=people,
            population=population,
            tries=tries,
            sample=sample,
            progress=progress,
        )
    if as_json:
        print_json(found.to_dict())
    else:
        show_exposure(console, found)


def show_exposure(console: Console, found: Exposure) -> None:
    """The attacks, worst first: what each gained in words, then all in a table."""
    from rich.table import Table

    console.print(f"{found.summary}.", style="bold red" if found.leaks else None)
    for outcome in found.outcomes:
        console.print()
        console.print(f"{outcome.attack}{': a leak' if outcome.leak else ''}", style="bold")
        console.print(outcome.sentence)
    console.print()
    table = Table("attack", "success", "control", box=None, header_style="bold", pad_edge=False)
    for outcome in found.outcomes:
        table.add_row(*outcome.cells)
    console.print(table)
    for note in found.notes:
        console.print(note, style="yellow")


def studio(
    file: Annotated[
        Path | None, typer.Argument(metavar="[TABLE|SPEC]", help="A table or a spec; without it, choose in the page.")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """See and steer a release in the browser, on this machine only."""
    import webbrowser

    try:
        from unveil.studio.server import Studio
    except ImportError as error:
        raise UnveilError(f"unveil studio needs the extra unveil[studio]: {error}.") from error
    if file is not None and not file.exists():
        raise TableError(f"{file}: there is no such file or folder.")
    folder = Path() if file is None else file.absolute().parent
    served = Studio(folder, None if file is None else file.name)
    console.print(f"The studio is at {served.address}", soft_wrap=True)
    console.print("Whoever has this address can read the table. Nothing leaves this machine. Ctrl-C ends it.")
    if browser:
        webbrowser.open(served.address)
    served.run()
    sys.stdout.flush()
    os._exit(0)  # work that is under way in threads is not waited for; its drafts are removed by the next run
