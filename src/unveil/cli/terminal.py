"""What all commands share: arguments, and a terminal that text from a file cannot control.

Everything that a command prints passes through here.
"""

from __future__ import annotations

import gc
import json
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from unveil.characters import is_hidden, visible
from unveil.interruption import closing
from unveil.progress import Watcher, unwatched

PATIENCE = 2.0
"""How many seconds pass before a bar appears."""


class Terminal(Console):
    """A console that prints hidden characters as their code points, in strings, tables and styled text alike."""

    def __init__(self, *, stderr: bool = False, soft_wrap: bool = True) -> None:
        """Opens stdout or stderr. Without `soft_wrap`, rich cuts long lines, as a line that is redrawn needs."""
        super().__init__(stderr=stderr, highlight=False, soft_wrap=soft_wrap, markup=False)

    def on_broken_pipe(self) -> None:
        """Raises the error again: rich would exit with code 1, which means that a claim is broken."""
        raise

    def render_str(self, text: str, **options: Any) -> Text:
        """Escapes strings before rich measures them, so that table columns are wide enough for the escaped text."""
        return super().render_str(visible_lines(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Escapes all other text, but not the control codes that rich adds to move the cursor and to colour."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(visible_lines(text), style)


def visible_lines(text: str) -> str:
    """The text with its line breaks, and every other hidden character as its code point."""
    return "\n".join(visible(line) for line in text.split("\n"))


console = Terminal()
"""Standard output."""


def print_json(facts: Any) -> None:
    """Prints facts as one line of JSON, with hidden characters escaped as in JSON."""

    def escaped(found: re.Match[str]) -> str:
        return json.dumps(found[0])[1:-1] if is_hidden(found[0]) else found[0]

    print(re.sub(r"[^\x20-\x7e]", escaped, json.dumps(facts, ensure_ascii=False)))


def print_text(text: str) -> None:
    """Prints a file, such as a drafted spec: unchanged into a pipe or a file, escaped on a terminal."""
    sys.stdout.write(visible_lines(text) if sys.stdout.isatty() else text)


@contextmanager
def watched() -> Iterator[Watcher]:
    """Gives a watcher whose bar disappears when the work is done, or a silent one if stderr is not a terminal."""
    gc.freeze()  # the modules are loaded and stay; only what the work makes can become garbage
    gc.enable()
    if not sys.stderr.isatty():
        yield unwatched
        return
    from unveil.cli.bar import Bar

    bar = Bar(Terminal(stderr=True, soft_wrap=False))
    shown = threading.Timer(PATIENCE, bar.show)
    shown.daemon = True
    with closing(bar.close):
        shown.start()
        try:
            yield bar
        finally:
            shown.cancel()
            bar.close()


SpecArgument = Annotated[Path, typer.Argument(metavar="SPEC", help="The spec: a TOML file.")]
ReleaseArgument = Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.")]
KeepFormulas = Annotated[
    bool, typer.Option("--keep-formulas", help="In a csv file, leave text that spreadsheets read as a formula.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the facts as JSON.")]
Figures = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]
