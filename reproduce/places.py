"""Where things are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUNDLED = ROOT / "src" / "unveil" / "data"
SHARED = ROOT.parent / "shared" / "data"
"""What the papers' authors used. It lies beside the checkout or nowhere; nothing of it is copied into it."""
CACHE = ROOT / ".reproduce"
PAGE = ROOT / "docs" / "results.md"
IMAGES = ROOT / "docs" / "images"
