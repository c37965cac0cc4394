"""Compiled loops: each is loaded when it is first called, and all that a search needs are loaded while rows are read.

Loading them takes a quarter of a second, most of it to import numba, and compiling them, once per installation, a few.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, update_wrapper
from threading import Thread
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from unveil.absence import absent
from unveil.interruption import is_command
from unveil.masking import Block, Offer, Refinement
from unveil.progress import Watcher
from unveil.schema import AdditivePlan, Attribute, Spec

COMPILING = "compiling, once"
"""What a first run waits for. Later runs hardly wait, so no bar shows it."""

Given = ParamSpec("Given")
Found = TypeVar("Found")


class Loop(Generic[Given, Found]):
    """A loop that numba compiles when it is first called, or by another loop that calls it."""

    def __init__(self, body: Callable[Given, Found]) -> None:
        self._body = body
        self._compiled: list[Any] = []
        update_wrapper(self, body)

    @property
    def compiled(self) -> Any:
        """The loop as numba's, the same in all threads."""
        if not self._compiled:
            from numba import njit

            self._compiled.append(njit(cache=True, nogil=True)(self._body))
        return self._compiled[0]

    @property
    def _numba_type_(self) -> Any:
        """What numba takes it for, in another loop."""
        return self.compiled._numba_type_

    def __call__(self, *given: Given.args, **named: Given.kwargs) -> Found:
        """Runs it; other threads run meanwhile."""
        found: Found = self.compiled(*given, **named)
        return found


@contextmanager
def loading(spec: Spec, progress: Watcher) -> Iterator[Callable[[], None]]:
    """Loads the loops that a release needs while the block runs, which gets what waits for them.

    At its end it waits for them too, so that no thread outlives a failure.
    """
    thread = Thread(target=_load, args=(loops_of(spec),), name="unveil-loops")

    def wait() -> None:
        if thread.is_alive():
            progress(COMPILING, 0, None)
            thread.join()

    thread.start()
    try:
        yield wait
    finally:
        thread.join()


def _load(run: Callable[[], None]) -> None:
    # What is wrong with the loops is reported when they count, in the thread that can report it.
    with suppress(Exception), _spared() if is_command() else nullcontext():
        run()


@contextmanager
def _spared() -> Iterator[None]:
    """Loads numba without libraries that it only looks for, and without looking for garbage among what it makes."""
    gc.disable()
    try:
        with absent("scipy", "cffi", "yaml"):
            yield
    finally:
        gc.freeze()
        gc.enable()


def loops_of(spec: Spec) -> Callable[[], None]:
    """What runs the loops that a release needs."""
    if spec.plan is None:
        return run_box_loops if spec.search == "joint" else run_loops
    return run_sums if isinstance(spec.plan, AdditivePlan) else lambda: None


@cache
def run_loops() -> None:
    """Runs each loop of an index on two rows, held in arrays of the types that most tables have."""
    from unveil.counting.distinct import DistinctRows
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
    from unveil.counting.boxes import BoxRows
    from unveil.counting.engine import Marked
    from unveil.counting.scans import INTERVAL, SPLIT, first_best
    from unveil.counting.splits import Boxes, Choices, Shapes

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


@cache
def run_sums() -> None:
    """Runs the loop of the additive method on two rows, in the same way."""
    from unveil.counting.binned import BinnedChunk, weighed
    from unveil.counting.engine import Scoring

    one = np.ones(1, dtype=np.int64)
    scoring = Scoring(one, one[:, None], one, np.arange(3))
    weighed([BinnedChunk(np.zeros((2, 1), np.uint16), np.zeros(2, np.uint16), np.ones(2, np.int64))], [1], scoring)
