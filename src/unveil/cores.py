"""Work on several cores at once, with the same result whatever their number.

Loops over rows release the interpreter, so threads are enough and nothing is copied.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import pairwise
from threading import current_thread
from typing import TypeVar

import numpy as np

from unveil.arrays import IntArray

VARIABLE = "UNVEIL_CORES"
"""The environment variable that says how many cores to use; without it, all that the process may use."""
WORTH = 1 << 15
"""How many rows a thread must get: with fewer, starting it takes longer than it saves."""
NAME = "unveil-rows"

Part = TypeVar("Part")
Found = TypeVar("Found")


def cores() -> int:
    """How many cores to use."""
    asked = os.environ.get(VARIABLE, "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each(work: Callable[[Part], Found], parts: Iterable[Part], rows: int | None = None) -> list[Found]:
    """What the work finds for each part, in the order of the parts; on one core if there are too few rows to gain."""
    held = list(parts)
    few = len(held) < 2 or (rows is not None and rows < WORTH)
    # A thread that waited for others of the same pool might wait forever.
    if few or cores() < 2 or current_thread().name.startswith(NAME):
        return [work(part) for part in held]
    return list(_threads(cores(), os.getpid()).map(work, held))


def following(work: Callable[[Part], Found], parts: Iterable[Part]) -> Iterator[Found]:
    """What the work finds for each part, in order, while the next parts come in; few are held at a time."""
    if cores() < 2 or current_thread().name.startswith(NAME):
        yield from map(work, parts)
        return
    waiting: deque[Callable[[], Found]] = deque()
    for part in parts:
        waiting.append(begun(partial(work, part)))
        if len(waiting) > cores():
            yield waiting.popleft()()
    while waiting:
        yield waiting.popleft()()


def begun(work: Callable[[], Found], rows: int | None = None) -> Callable[[], Found]:
    """Begins some work in another thread; who calls what is returned waits for what it finds."""
    if cores() < 2 or (rows is not None and rows < WORTH) or current_thread().name.startswith(NAME):
        found = work()
        return lambda: found
    return _threads(cores(), os.getpid()).submit(work).result


@cache
def _threads(number: int, process: int) -> ThreadPoolExecutor:
    """The threads of a process: a fork has none of those that its parent started."""
    return ThreadPoolExecutor(number, thread_name_prefix=NAME)


def shares(rows: IntArray) -> list[range]:
    """Divides things, given their rows, into runs of about as many rows, one for each core if that is worth it."""
    ends = np.cumsum(rows)
    total = int(ends[-1]) if len(ends) else 0
    number = max(min(cores(), total // WORTH), 1)
    inner = np.searchsorted(ends, [total * part // number for part in range(1, number)]) + 1
    edges = sorted({0, *inner.tolist(), len(rows)})
    return [range(start, stop) for start, stop in pairwise(edges) if stop <= len(rows)]
