"""The progress bar of a command: on stderr, only on a terminal, and only for work that takes more than a moment."""

from __future__ import annotations

import threading
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.text import Text


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
