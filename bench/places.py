"""Where the benchmark keeps what it makes: all of it in one folder that git does not see."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUNDLED = ROOT / "src" / "unveil" / "data"
SHARED = Path(os.environ.get("DATA", ROOT.parent / "shared" / "data"))
"""Taxonomies of others, and Census-Income. They are next to the checkout or where DATA says, or missing."""
CACHE = ROOT / ".benchmarks"
RESULTS = CACHE / "results.json"
PAGE = ROOT / "docs" / "scale.md"


def table_file(rows: int, ending: str) -> Path:
    return CACHE / f"adult-{rows}.{ending}"


def streamed_file(rows: int) -> Path:
    return CACHE / f"adult-streamed-{rows}.parquet"
