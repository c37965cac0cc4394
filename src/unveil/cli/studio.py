"""The command `studio`: the page in a browser."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from unveil.cli.terminal import console
from unveil.errors import TableError, UnveilError


def studio(
    file: Annotated[
        Path | None, typer.Argument(metavar="[TABLE|SPEC]", help="A table or a spec; without it, choose in the page.")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """See and steer a release in the browser, on this machine only."""
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
