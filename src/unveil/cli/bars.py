"""Progress bars: on a terminal, on stderr, and only for work that takes longer than somebody waits without asking."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TaskID, TextColumn
from rich.text import Text

from unveil.interruption import closing
from unveil.progress import Watcher, unwatched

PATIENCE = 2.0
"""How many seconds work may take without a bar."""
OFTEN = 0.1
"""How many seconds lie between two looks at the work."""


@contextmanager
def watched() -> Iterator[Watcher]:
    """Gives a watcher whose bar is gone when the work is done; where stderr is no terminal, one that says nothing."""
    if not sys.stderr.isatty():
        yield unwatched
        return
    bar = Bar(Console(stderr=True))
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
    """A line with what is being done, how much of it, for how long, and how long still where that can be told."""

    def __init__(self, console: Console) -> None:
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(30), Amount(), Time())
        self._line = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
        self._tasks: dict[str, TaskID] = {}
        self._now: Task | None = None
        self._looked = 0.0
        self._lock = threading.RLock()
        self._closed = False

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Is told of the work."""
        now = time.monotonic()
        if self._now is not None and what == self._now.description and done > 0 and now - self._looked < OFTEN:
            return
        self._looked = now
        task = self._task(what)
        if done < task.completed:
            self._line.reset(task.id)
        self._line.update(task.id, completed=done)
        # `update` takes None for no change, but here it is news: nobody can know any more.
        task.total = total

    def _task(self, what: str) -> Task:
        """The work of that name; what else was being done is out of sight as long as this is."""
        if what not in self._tasks:
            self._tasks[what] = self._line.add_task(what, total=None)
        number = self._tasks[what]
        if self._now is None or self._now.id != number:
            for other in self._tasks.values():
                self._line.update(other, visible=other == number)
            self._now = next(task for task in self._line.tasks if task.id == number)
        return self._now

    def show(self) -> None:
        """Draws the line from now on."""
        with self._lock:
            if not self._closed:
                self._line.start()

    def close(self) -> None:
        """Takes the line away."""
        with self._lock:
            self._closed = True
            self._line.stop()


class Amount(ProgressColumn):
    """How much is done, and of how much where that is known."""

    def render(self, task: Task) -> Text:
        """For example `3 of 15`."""
        done = f"{int(task.completed):,}"
        if task.total is not None:
            return Text(f"{done} of {int(task.total):,}")
        return Text(f"{done} so far" if task.completed else "")


class Time(ProgressColumn):
    """How long it has taken, and about how long it will take where its end is known."""

    def render(self, task: Task) -> Text:
        """For example `0:00:12, about 0:00:30 left`."""
        passed = str(timedelta(seconds=int(task.elapsed or 0)))
        left = task.time_remaining
        return Text(passed if left is None else f"{passed}, about {timedelta(seconds=int(left))} left", "dim")
