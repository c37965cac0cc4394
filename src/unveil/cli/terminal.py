"""Everything a command prints passes through here, so that text from a file cannot control the terminal.

Progress bars appear on stderr, only on a terminal, and only for work that takes more than a moment.
"""

from __future__ import annotations

import gc
import json
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
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
    gc.enable()  # the modules are loaded, and the work begins
    if not sys.stderr.isatty():
        yield unwatched
        return
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


class Bar:
    """A line that shows the current work, how much is done, the elapsed time and, if known, the time left."""

    def __init__(self, console: Console) -> None:
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(30), Amount(), Time())
        self._line = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
        self._tasks: dict[str, Task] = {}
        self._now: Task | None = None
        self._lock = threading.RLock()
        self._closed = False

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Records progress. It is fast, since a search calls it at every step; rich draws the line in a thread."""
        task = self._now
        if task is None or task.description != what:
            task = self._turn_to(what)
        if done < task.completed:
            self._line.reset(task.id)
        task.completed, task.total = done, total

    def _turn_to(self, what: str) -> Task:
        """Shows the work of that name alone; if it was shown before, its bar continues."""
        if what not in self._tasks:
            number = self._line.add_task(what, total=None)
            self._tasks[what] = next(task for task in self._line.tasks if task.id == number)
        for name, task in self._tasks.items():
            task.visible = name == what
        self._now = self._tasks[what]
        return self._now

    def show(self) -> None:
        """Draws the line from now on."""
        with self._lock:
            if not self._closed:
                self._line.start()

    def close(self) -> None:
        """Removes the line."""
        with self._lock:
            self._closed = True
            self._line.stop()


class Amount(ProgressColumn):
    """How much is done and, if known, out of how much."""

    def render(self, task: Task) -> Text:
        """For example `3 of 15`."""
        done = f"{int(task.completed):,}"
        if task.total is not None:
            return Text(f"{done} of {int(task.total):,}")
        return Text(f"{done} so far" if task.completed else "")


class Time(ProgressColumn):
    """The elapsed time and, if the end is known, an estimate of the time left.

    The estimate assumes that the rest runs at the same speed.
    """

    def render(self, task: Task) -> Text:
        """For example `0:00:12, about 0:00:30 left`."""
        passed = task.elapsed or 0.0
        text = str(timedelta(seconds=int(passed)))
        if task.total and task.completed:
            left = passed * (task.total - task.completed) / task.completed
            text += f", about {timedelta(seconds=round(left))} left"
        return Text(text, "dim")
