"""The command `explain`, and what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from unveil.cli.bars import watched
from unveil.cli.evaluation import SEEDS, Classifiers, Json, Seeds
from unveil.cli.terminal import print_json
from unveil.errors import count_text

if TYPE_CHECKING:
    from unveil.reasons import Explanation


def register(app: typer.Typer, console: Console) -> None:
    """Adds the command to the command line."""

    @app.command()
    def explain(
        spec: Annotated[Path, typer.Argument(metavar="SPEC", help="The spec: a TOML file.")],
        shadow: Annotated[
            bool, typer.Option("--shadow/--no-shadow", help="Run it again with each requirement a little relaxed.")
        ] = True,
        classifiers: Classifiers = None,
        seeds: Seeds = SEEDS,
        every: Annotated[bool, typer.Option("--all", help="Tell of every block, not only of every attribute.")] = False,
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
    if found.steps is None:
        _show_spending(console, found)
    else:
        _show_cuts(console, found, found.steps, every=every)
    if found.prices:
        console.print()
        console.print("What relaxing one number would buy", style="bold")
        for price in found.prices:
            console.print(f"  {price.sentence()}")
        console.print(f"Accuracy on the same test rows, {found.protocol}; intervals of 95%.")
    for line in found.unpriced:
        console.print(f"Not priced: {line}")
    console.print()
    for note in found.notes:
        console.print(note, style="yellow")


def _show_cuts(console: Console, found: Explanation, steps: int, *, every: bool) -> None:
    from unveil.reasons import reason, summary

    console.print(f"{found.spec.origin}: the search ends after {count_text(steps, 'refinement')}.")
    for number, sentence in enumerate(found.requirements, start=1):
        console.print(f"Requirement {number}: {sentence}")
    console.print()
    console.print("Why no attribute is finer", style="bold")
    for cut in found.cuts:
        console.print(f"  {summary(cut)}")
        for stop in cut.stops if every else ():
            console.print(f"    {reason(stop)}")


def _show_spending(console: Console, found: Explanation) -> None:
    if found.spending is None:
        return
    of = f"{found.spending.draws} draws from seeds" if found.spending.seeded else "the release"
    console.print(f"{found.spec.origin}: where the budget of ε = {float(found.spending.epsilon):g} goes, by {of}.")
    for sentence in found.spending.sentences():
        console.print(f"  {sentence}")
