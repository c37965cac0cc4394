"""The rows that an evaluation works on: all of them, or a sample of a table that is too large to hold."""

from __future__ import annotations

from typing import Any

from unveil.errors import UnveilError
from unveil.schema import Spec
from unveil.tables import FrameSource, draw_sample, open_source
from unveil.workflow.engines import HELD

SAMPLE = 1_000_000
"""How many rows are drawn of a table that is too large to hold."""


def held_rows(table: Any, sample: int | None = None, spec: Spec | None = None) -> tuple[FrameSource, tuple[str, ...]]:
    """Reads rows into memory under the name of their file.

    Args:
        table: The rows: a path, or a pandas, polars or pyarrow table.
        sample: Draw so many rows if there are more. Without it, `SAMPLE` are drawn of a table too large to hold.
        spec: What they are read for, where it is known.

    Returns:
        The rows, and what a reader must know about them.
    """
    if sample is not None and sample < 2:
        raise UnveilError(
            f"the sample has {sample} rows, but it takes at least 2 to learn from one and test on another."
        )
    source = open_source(table, spec)
    if sample is None and source.rows() <= HELD:
        return FrameSource(source.table(source.schema.names), source.origin), ()
    size = SAMPLE if sample is None else sample
    drawn = draw_sample(source, size)
    rows = FrameSource(drawn.table, source.origin)
    return rows, (sample_note(source.origin, size, drawn.rows),) if drawn.rows > size else ()


def sample_note(origin: str, size: int, rows: int) -> str:
    """What figures of a sample say about the whole."""
    return (
        f"{origin} has {rows:,} rows; these figures are of a uniform random sample of {size:,} of them, and so are the "
        "releases behind them. Of all rows, groups have more records and noise weighs less, so that a release of all "
        "rows is as a rule finer and loses less than these figures say."
    )
