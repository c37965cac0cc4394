"""The command `attack`, and what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from unveil.cli.arguments import Figures
from unveil.cli.terminal import console, print_json, watched

if TYPE_CHECKING:
    from unveil.attacks import Exposure


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
