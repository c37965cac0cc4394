"""Which engine counts a table."""

from __future__ import annotations

import os
from typing import Any, Literal, get_args

from unveil.counting import Engine
from unveil.errors import SpecError, did_you_mean
from unveil.schema import Spec
from unveil.tables import Outline, StreamedTable, load_table, open_source

EngineName = Literal["auto", "memory", "stream"]
ENGINES: tuple[str, ...] = get_args(EngineName)
VARIABLE = "UNVEIL_ENGINE"
"""The environment variable that names the engine where nothing else does."""
HELD = 20_000_000
"""A table of more rows than this is read in batches unless the memory engine is asked for by name."""


def open_engine(spec: Spec, source: Any = None, engine: str | None = None) -> tuple[Outline, Engine]:
    """Reads a table, or makes the first pass over it, and gives what counts it.

    Args:
        spec: What the owner says about the table.
        source: A path or a frame in memory; the spec's own source where it is not given.
        engine: `memory` holds the rows, `stream` reads them again for every pass; `auto` picks one of them by the
            number of rows.
    """
    # The engine compiles its loops on import, which other verbs need not wait for.
    from unveil.counting.memory import MemoryEngine

    name = engine or os.environ.get(VARIABLE) or "auto"
    if name not in ENGINES:
        raise SpecError(f"there is no engine {name!r}; it is one of {', '.join(ENGINES)}{did_you_mean(name, ENGINES)}.")
    where = spec.source_path if source is None else source
    if name == "auto":
        name = "stream" if open_source(where).rows() > HELD else "memory"
    if name == "stream":
        streamed = StreamedTable(spec, where)
        return streamed.outline, MemoryEngine(streamed)
    table = load_table(spec, where)
    return table, MemoryEngine(table)
