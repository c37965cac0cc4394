"""Everything a command prints passes through here, so that text from a file cannot control the terminal."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from unveil.characters import is_hidden, visible


class Terminal(Console):
    """A console that prints hidden characters as their code points, in strings, tables and styled text alike."""

    def __init__(self, *, stderr: bool = False, soft_wrap: bool = True) -> None:
        """Opens stdout or stderr.

        Args:
            stderr: Whether it is stderr.
            soft_wrap: Whether the terminal wraps long lines. Turn it off for a line that is redrawn; rich then cuts it.
        """
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
    text = json.dumps(facts, ensure_ascii=False)
    print(re.sub(r"[^\x20-\x7e]", lambda found: _json_character(found[0]), text))


def print_text(text: str) -> None:
    """Prints a file, such as a drafted spec: unchanged into a pipe or a file, escaped on a terminal."""
    sys.stdout.write(visible_lines(text) if sys.stdout.isatty() else text)


def _json_character(character: str) -> str:
    return json.dumps(character)[1:-1] if is_hidden(character) else character
