"""Learning: some rows choose the masking, and the others are released.

A reader who knows the search can reason about what it chose. With rows set aside at random, what a refinement gains is
counted in these alone, and they are not released; what requirements allow is counted in the released rows alone. So the
order in which refinements are tried says nothing about a released row. Where the search stops still does.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import shake_256
from typing import NamedTuple

import numpy as np

from unveil.arrays import Array, BoolArray, IntArray, group_numbers
from unveil.counting.engine import Engine, Marked
from unveil.counting.memory import MemoryEngine
from unveil.errors import EngineError, TableError, count_text
from unveil.release import Learn
from unveil.schema import Spec, share_text
from unveil.tables import Outline, PartOfRows


class Learned(NamedTuple):
    """How many rows only choose the masking, and what a release says about them."""

    rows: int = 0
    stated: Learn | None = None


class LearningEngine(MemoryEngine):
    """Counts of the rows that are released, and gains by those that are not."""

    def __init__(self, released: PartOfRows, learning: PartOfRows) -> None:
        super().__init__(released)
        self._learning = MemoryEngine(learning)

    def histograms(self) -> tuple[IntArray, ...]:
        """For every attribute its `[value, class]` counts in the rows to learn from."""
        return self._learning.histograms()

    def marked(self, columns: Sequence[int], marks: Sequence[int]) -> Marked:
        """The distinct rows of both parts: those to learn from have weights, the others release records."""
        learning, released = self._learning.marked(columns, marks), super().marked(columns, marks)
        none, nobody = np.zeros_like(released.weight), np.zeros_like(learning.whose)
        return Marked(
            _joined(released.codes, learning.codes),
            _joined(released.marks, learning.marks),
            released.widths,
            np.concatenate([none, learning.weight]),
            np.concatenate([released.whose, nobody]),
            np.concatenate([released.weight, np.zeros_like(learning.weight)]),
        )


def _joined(released: Sequence[Array], learning: Sequence[Array]) -> list[Array]:
    return [np.concatenate(pair) for pair in zip(released, learning, strict=True)]


def parted(spec: Spec, engine: Engine) -> tuple[Outline, LearningEngine, Learned]:
    """The released rows, what counts them, and how many others only choose the masking."""
    if not isinstance(engine, MemoryEngine):
        raise EngineError(f"{spec.origin}: [publish] learn needs the engine 'memory' or 'stream'.")
    learns = learning_rows(spec, engine)
    learning, released = PartOfRows(engine.rows, learns), PartOfRows(engine.rows, ~learns)
    persons = None if learning.outline.persons is None else learning.outline.persons.count
    stated = Learn(share=share_text(spec.learn), records=learning.outline.records, persons=persons)
    return released.outline, LearningEngine(released, learning), Learned(int(learns.sum()), stated)


def learning_rows(spec: Spec, engine: MemoryEngine) -> BoolArray:
    """Which rows only choose the masking: a share of all, or of the persons with all their rows, by a drawn secret."""
    table = engine.rows.outline
    number, count, unit = np.arange(table.rows), table.rows, "row"
    if table.persons is not None:
        (number, count), unit = group_numbers(list(engine.people(())[0].T)), "person"
    most = int(spec.learn * count)
    if not most:
        raise TableError(
            f"{spec.origin}: [publish] learn is {share_text(spec.learn)}, which is less than one of the "
            f"{count_text(count, unit)} of {table.origin}."
        )
    lots = np.frombuffer(shake_256(spec.secret or b"").digest(8 * count), dtype="<u8")
    learns = np.zeros(count, dtype=np.bool_)
    learns[np.argsort(lots, kind="stable")[:most]] = True
    return learns[number]
