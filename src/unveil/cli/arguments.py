"""Arguments and options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SpecArgument = Annotated[Path, typer.Argument(metavar="SPEC", help="The spec: a TOML file.")]
ReleaseArgument = Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.")]
KeepFormulas = Annotated[
    bool, typer.Option("--keep-formulas", help="In a csv file, leave text that spreadsheets read as a formula.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the facts as JSON.")]
Figures = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]
