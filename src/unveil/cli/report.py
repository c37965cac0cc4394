"""The command `report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unveil.cli.bars import watched
from unveil.cli.evaluation import Json
from unveil.cli.terminal import console, print_json
from unveil.errors import UnverifiedError


def report(
    release: Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.")],
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="Where to write the page; next to the folder if omitted."),
    ] = None,
    owner: Annotated[
        Path | None,
        typer.Option("--owner", metavar="SPEC", help="Write the private page, with exact figures, steps and accuracy."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write an HTML page about a release: one to share, or a private one with --owner."""
    from unveil.workflow.report import report_to_file

    target = to or default_target(release, owner)
    if target.suffix not in (".html", ".htm"):
        raise typer.BadParameter(f"{str(target)!r} ends in neither .html nor .htm.", param_hint="--to")
    try:
        with watched() as progress:
            report_to_file(release, target, owner, progress=progress)
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
