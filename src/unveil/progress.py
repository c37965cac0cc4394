"""What long work tells of itself while it runs. Whoever watches decides what to make of it; nobody has to."""

from __future__ import annotations

from collections.abc import Callable

Watcher = Callable[[str, int, int | None], None]
"""Told what is being done, how much of it is done, and of how much; None where nobody can know."""


def unwatched(what: str, done: int, total: int | None) -> None:
    """Nobody watches."""


def phases_only(watcher: Watcher) -> Watcher:
    """Passes on what is being done and nothing that was counted, for runs whose counts must not show."""
    return lambda what, done, total: watcher(what, 0, None)


class Tasks:
    """Work that falls into a known number of tasks, told one by one."""

    def __init__(self, watcher: Watcher, what: str, total: int) -> None:
        """Nothing is done yet.

        Args:
            watcher: Who is told.
            what: What the work is.
            total: How many tasks there are.
        """
        self._watcher = watcher
        self._what = what
        self._total = total
        self._done = 0
        watcher(what, 0, total)

    def finish(self) -> None:
        """One more task is done."""
        self._done += 1
        self._watcher(self._what, self._done, self._total)
