"""Ctrl-C during a search: stop at the table reached so far instead of aborting."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_on_interrupt(keep: bool) -> Iterator[Callable[[], bool]]:
    """Gives a function to call between steps: has Ctrl-C been pressed?

    With `keep`, it returns True after the first Ctrl-C; a second one interrupts as usual. Without, nothing changes.
    """
    pressed, before = False, signal.getsignal(signal.SIGINT)
    if not keep:
        yield lambda: False
        return

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed and callable(before):
            before(number, frame)
        pressed = True

    signal.signal(signal.SIGINT, press)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)
