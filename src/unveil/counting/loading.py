"""Loads the compiled loops while the rows are read.

Loading them takes about half a second, and compiling them, once per installation, a few. Reading rows leaves the
interpreter idle most of the time, so a thread loads them meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from threading import Thread

import numpy as np

from unveil.absence import absent
from unveil.counting.distinct import DistinctRows
from unveil.interruption import is_command
from unveil.masking import Block, Offer, Refinement
from unveil.progress import Watcher
from unveil.schema import Attribute

COMPILING = "compiling, once"
"""What a first run waits for. Later runs hardly wait, so no bar shows it."""


@contextmanager
def loops_loaded(progress: Watcher, *, boxes: bool = False) -> Iterator[None]:
    """Loads the loops while the block runs, and waits for them at its end, so that no thread outlives a failure.

    Args:
        progress: Told if they have to be waited for.
        boxes: Whether those of the joint search are needed, and not those of an index.
    """
    thread = Thread(target=_load, args=(run_box_loops if boxes else run_loops,), name="unveil-loops")
    thread.start()
    try:
        yield
        if thread.is_alive():
            progress(COMPILING, 0, None)
    finally:
        thread.join()


def _load(run: Callable[[], None]) -> None:
    # What is wrong with the loops is reported when they count, in the thread that can report it.
    with suppress(Exception), absent("scipy") if is_command() else nullcontext():
        run()


@cache
def run_loops() -> None:
    """Runs each loop of an index on two rows, held in arrays of the types that most tables have."""
    from unveil.counting.index import MemoryIndex

    codes = np.arange(2)
    distinct = DistinctRows([2])
    distinct.add([codes])
    distinct.add([codes])
    rows = distinct.sorted()
    index = MemoryIndex([0], rows.columns(), [2], rows.weight, np.zeros(2, dtype=np.uint8), 1)
    attribute = Attribute("any")
    whole, *parts = (Block(label, some) for label, some in (("all", codes), ("0", codes[:1]), ("1", codes[1:])))
    offer = Offer(0, attribute, whole, tuple(parts), discloses=False, first=0)
    alive = np.ones(1, dtype=np.bool_)
    list(index.watch([offer], alive))
    list(index.refine(Refinement(attribute, whole, tuple(parts)), 0, [], alive))


@cache
def run_box_loops() -> None:
    """Runs each loop of the joint search on two rows, in the same way."""
    from unveil.counting.boxes import Boxes, BoxRows, Choices, Shapes
    from unveil.counting.engine import Marked
    from unveil.counting.scans import INTERVAL, SPLIT, first_best

    codes, one = np.arange(2), np.ones(1, dtype=np.int64)
    whose = np.zeros((2, 0), dtype=np.int64)
    rows = BoxRows.of(Marked([codes], [codes], [2], np.ones(2, dtype=np.int64), whose), [0], 2, 1, 1.0)
    kind, depth, first, cells = np.array([[INTERVAL, 0, 0, 2]] * 2).T
    shapes = Shapes(kind, depth, first, cells, np.arange(2, dtype=np.int32)[None, :])
    whole = Boxes(one - 1, one + 1, np.zeros((1, 1), dtype=np.int64))
    list(rows.scan(whole, one > 0, shapes, pure_too=False))
    rows.drawn(whole, 1, one)
    rows.split(whole, Choices(one - 1, np.full(1, SPLIT), one), shapes)
    for groups in (codes, np.arange(4)[::2]):  # with and without gaps, which are two types
        first_best(groups, np.ones(2), 4)
