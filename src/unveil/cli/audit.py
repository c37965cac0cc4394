"""The commands `audit` and `key`: what the owner files about a release, and the key that signs it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unveil.cli.terminal import Json, ReleaseArgument, console, print_json, watched
from unveil.errors import UnverifiedError


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
