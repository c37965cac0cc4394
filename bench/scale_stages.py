"""One release from parquet, stage by stage, in a process of its own that others can watch.

    python bench/scale_stages.py SPEC ENGINE [INDEX MEMORY]

does what `unveil publish` does, looks at the clock between the stages, and prints the moments and facts as JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from places import CACHE

from unveil.counting import Engine, Marked
from unveil.counting.engine import Index, open_engine
from unveil.masking import LeftOut, Masking
from unveil.publishers.refinement import publish_refinement
from unveil.release import ReleasedRows
from unveil.schema import load_spec
from unveil.version import __version__

SPARK = {"spark.master": "local[2]", "spark.driver.maxResultSize": "0"}


class TimedEngine:
    """An engine that notes when its passes over the rows begin and end."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.moments: list[float] = []
        self.distinct = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def index(self, columns: Sequence[int], sensitive: int | None = None) -> Index:
        index = self._engine.index(columns, sensitive)
        self.distinct = _distinct(index)
        self.moments.append(perf_counter())
        return index

    def marked(self, columns: Sequence[int], sensitive: Sequence[int]) -> Marked:
        rows = self._engine.marked(columns, sensitive)
        self.distinct = len(rows.weight)
        self.moments.append(perf_counter())
        return rows

    def released(self, masking: Masking, weight: str | None, left_out: LeftOut | None = None) -> ReleasedRows:
        self.moments.append(perf_counter())
        rows = self._engine.released(masking, weight, left_out)
        self.moments.append(perf_counter())
        return rows


def _distinct(index: Any) -> int:
    """How many distinct rows an index searches, wherever they lie."""
    held = getattr(index, "_weight", None)
    return len(held) if held is not None else int(index._frame.count())


def publish(spec_file: Path, engine: str, place: str | None = None, memory: str | None = None) -> dict[str, Any]:
    """Publishes under one requirement, so that each stage comes once and in order."""
    moments = [perf_counter()]
    spec = load_spec(spec_file)
    settings = None if memory is None else {**SPARK, "spark.driver.memory": memory}
    outline, counts = open_engine(spec, None, engine, place, settings)
    moments.append(perf_counter())
    timed = TimedEngine(counts)
    release = publish_refinement(outline, spec, timed, __version__)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        release.write(Path(folder) / "release")
        moments += [*timed.moments, perf_counter()]
    return {"moments": moments, "steps": len(release.trace), "distinct": timed.distinct}


if __name__ == "__main__":
    print(json.dumps(publish(Path(sys.argv[1]), *sys.argv[2:])))
