"""Publish: from a spec and a table to a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from unveil.publishers import publish_refinement
from unveil.release import Release
from unveil.schema import Spec, load_spec
from unveil.tables import load_table
from unveil.version import __version__

SpecLike = str | Path | Mapping[str, Any] | Spec


def publish(
    table: Any,
    spec: SpecLike | None = None,
    *,
    steps: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Release:
    """Makes a release.

    Args:
        table: The rows: a path, or a pandas, polars or pyarrow table. A spec file may stand in its place; it names its
            own table.
        spec: The spec: a path to a TOML file, a mapping of the same shape, or a `Spec`.
        steps: Stop after so many refinements; the table is valid at any time.
        stop: Asked after every refinement whether to stop there.
    """
    # The engine compiles its loops on import, which other verbs need not wait for.
    from unveil.counting.memory import MemoryEngine

    checked = load_spec(table if spec is None else spec)
    loaded = load_table(checked, None if spec is None else table)
    return publish_refinement(loaded, checked, MemoryEngine(loaded), __version__, steps, stop)
