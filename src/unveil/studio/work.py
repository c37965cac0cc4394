"""Work of a page that takes a while, done in its own threads: the newest request wins, and the page hears of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

from unveil.errors import UnveilError
from unveil.workflow.live import SupersededError

Superseded = Callable[[], bool]
"""Whether a newer wish, or the end of the page, has made the work useless."""
Job = Callable[[Superseded], None]
PULSE = 5.0
"""After this many quiet seconds a stream says that it is alive, which also shows whether somebody listens."""


class Latest:
    """A thread that does one job at a time. A new job ends the one that runs and replaces the one that waits."""

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        """Starts the thread; `failed` gets an error that a user can fix, or any other."""
        self._failed = failed
        self._wanted = threading.Condition()
        self._job: Job | None = None
        self._number = 0
        self._closed = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def wish(self, job: Job) -> None:
        """Wants a job to be done next, instead of all others."""
        with self._wanted:
            self._job, self._number = job, self._number + 1
            self._wanted.notify()

    def close(self) -> None:
        """Ends the thread as soon as its job notices."""
        with self._wanted:
            self._job, self._closed, self._number = None, True, self._number + 1
            self._wanted.notify()

    def _run(self) -> None:
        while True:
            with self._wanted:
                while self._job is None and not self._closed:
                    self._wanted.wait()
                if self._closed or self._job is None:
                    return
                job, number, self._job = self._job, self._number, None
            try:
                job(lambda number=number: number != self._number)  # type: ignore[misc]
            except SupersededError:
                pass
            except Exception as error:
                self._failed(error)
            del job  # a thread that waits keeps no table


class Outbox:
    """What a page has to be told: of each kind the newest only, so that a slow page falls behind by nothing."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._filled = asyncio.Event()
        self._closed = False

    def put(self, kind: str, content: Any) -> None:
        """Tells the page something, from any thread."""
        with self._lock:
            self._waiting.pop(kind, None)
            self._waiting[kind] = content
        self._wake()

    def close(self) -> None:
        """Says that nothing more will come."""
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._filled.set)

    async def taken(self) -> AsyncIterator[tuple[str, Any] | None]:
        """What was put in, in order, until the box is closed; None for every while in which nothing was."""
        while not self._closed:
            try:
                await asyncio.wait_for(self._filled.wait(), PULSE)
            except TimeoutError:
                yield None
                continue
            with self._lock:
                found, self._waiting = self._waiting, {}
                self._filled.clear()
            for item in found.items():
                yield item


def problem_of(error: Exception) -> str:
    """What a page says about an error: its sentence, or that it is a bug."""
    if isinstance(error, UnveilError):
        return str(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory for this."
    return f"This is a bug in unveil ({type(error).__name__}: {error}). Nothing was published."
