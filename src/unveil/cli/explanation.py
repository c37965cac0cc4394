"""The command `explain`, and what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from unveil.cli.bars import watched
from unveil.cli.evaluation import SEEDS, Classifiers, Json, Seeds
from unveil.cli.terminal import console, print_json

if TYPE_CHECKING:
    from unveil.reasons import Explanation


def explain(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="The spec: a TOML file.")],
    shadow: Annotated[
        bool, typer.Option("--shadow/--no-shadow", help="Also run with each requirement slightly relaxed.")
    ] = True,
    classifiers: Classifiers = None,
    seeds: Seeds = SEEDS,
    every: Annotated[bool, typer.Option("--all", help="Explain every block, not only every attribute.")] = False,
    release: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A differentially private release to explain.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say why a release is as coarse as it is, and what relaxing its requirements would buy."""
    from unveil.evaluation import Holdout
    from unveil.workflow.explain import explain as run

    with watched() as progress:
        found = run(
            spec,
            shadow=shadow,
            classifiers=classifiers or ("tree",),
            protocol=Holdout(seeds=range(seeds)),
            release=release,
            progress=progress,
        )
    if as_json:
        print_json(found.to_dict())
    else:
        show_explanation(console, found, every=every)


def show_explanation(console: Console, found: Explanation, *, every: bool) -> None:
    """The result of `explain`."""
    for number, part in enumerate(found.passages(every=every)):
        if number:
            console.print()
        if part.heading:
            console.print(part.heading, style="bold")
        for line in part.lines:
            console.print(line)
    console.print()
    for note in found.notes:
        console.print(note, style="yellow")
