"""Where things are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUNDLED = ROOT / "src" / "unveil" / "data"
SHARED = ROOT.parent / "shared" / "data"
"""What the papers' authors used. It is next to the checkout or missing; nothing of it is copied."""
CACHE = ROOT / ".reproduce"
PAGE = ROOT / "docs" / "results.md"
IMAGES = ROOT / "docs" / "images"
