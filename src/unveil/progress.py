"""Progress of long work. A watcher decides what to do with it."""

from __future__ import annotations

from collections.abc import Callable

Watcher = Callable[[str, int, int | None], None]
"""Called with what is being done, how much is done, and the total, which is None if unknown."""


def unwatched(what: str, done: int, total: int | None) -> None:
    """The watcher that does nothing."""


def phases_only(watcher: Watcher) -> Watcher:
    """Passes on what is being done but no counts, for runs whose counts are private."""
    return lambda what, done, total: watcher(what, 0, None)


class Tasks:
    """Work with a known number of tasks; reports each one that finishes."""

    def __init__(self, watcher: Watcher, what: str, total: int) -> None:
        self._watcher = watcher
        self._what = what
        self._total = total
        self._done = 0
        watcher(what, 0, total)

    def finish(self) -> None:
        """One more task is done."""
        self._done += 1
        self._watcher(self._what, self._done, self._total)
