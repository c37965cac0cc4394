"""Where everything that a command prints goes through: no text of a file reaches a terminal as anything but text."""

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
    """A console that shows hidden characters by their number, whatever they came in: a string, a table or a style."""

    def __init__(self, *, stderr: bool = False, soft_wrap: bool = True) -> None:
        """Opens stdout or stderr.

        Args:
            stderr: Whether it is stderr.
            soft_wrap: Whether the terminal wraps long lines; a line that is painted again and again is cut instead.
        """
        super().__init__(stderr=stderr, highlight=False, soft_wrap=soft_wrap, markup=False)

    def on_broken_pipe(self) -> None:
        """Raises it again: rich would end the process with exit code 1, which means a broken claim."""
        raise

    def render_str(self, text: str, **options: Any) -> Text:
        """Escapes strings before they are measured, so that the columns of a table are as wide as what they show."""
        return super().render_str(visible_lines(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Escapes all other text; what the console itself adds to move and to colour is not text."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(visible_lines(text), style)


def visible_lines(text: str) -> str:
    """The text with its line breaks, and everything else that is hidden as its number."""
    return "\n".join(visible(line) for line in text.split("\n"))


def print_json(facts: Any) -> None:
    """Prints facts as one line of JSON, with hidden characters escaped as JSON has it."""
    text = json.dumps(facts, ensure_ascii=False)
    print(re.sub(r"[^\x20-\x7e]", lambda found: _json_character(found[0]), text))


def print_text(text: str) -> None:
    """Prints a file, such as a drafted spec: as it is into another file, and safely on a terminal."""
    sys.stdout.write(visible_lines(text) if sys.stdout.isatty() else text)


def _json_character(character: str) -> str:
    return json.dumps(character)[1:-1] if is_hidden(character) else character
