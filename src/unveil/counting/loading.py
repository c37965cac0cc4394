"""Loads the compiled loops while the rows are read.

Loading them takes about half a second, and compiling them, once per installation, a few. Reading rows leaves the
interpreter idle most of the time, so a thread loads them meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
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
def loops_loaded(progress: Watcher) -> Iterator[None]:
    """Loads the loops while the block runs, and waits for them at its end, so that no thread outlives a failure."""
    thread = Thread(target=_load, name="unveil-loops")
    thread.start()
    try:
        yield
        if thread.is_alive():
            progress(COMPILING, 0, None)
    finally:
        thread.join()


def _load() -> None:
    # What is wrong with the loops is reported when they count, in the thread that can report it.
    with suppress(Exception), absent("scipy") if is_command() else nullcontext():
        run_loops()


@cache
def run_loops() -> None:
    """Runs each loop on two rows, held in arrays of the types that most tables have."""
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
