"""Runs the papers' experiments: `python -m reproduce [--quick] [--only tdr-5 ...] [--workers N] [--fresh]`."""

from __future__ import annotations

import argparse
import os
from importlib.util import find_spec

from reproduce.data import DATA_SETS
from reproduce.page import write_page
from reproduce.places import CACHE, IMAGES, PAGE
from reproduce.points import Cache
from reproduce.run import figures, run
from reproduce.versions import versions


def main() -> None:
    """Measures what is missing and writes the page."""
    parser = argparse.ArgumentParser(prog="python -m reproduce", description="Runs the papers' experiments again.")
    quick = os.environ.get("QUICK", "") not in ("", "0")
    parser.add_argument("--quick", action="store_true", default=quick, help="a few points per figure (or QUICK=1)")
    parser.add_argument("--only", nargs="*", default=[], help="figures or papers by the beginning of their name: tdr-5")
    parser.add_argument("--workers", type=int, default=2, help="how many points at a time")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before")
    parser.add_argument("--page", action="store_true", help="only write the page from what was measured before")
    asked = parser.parse_args()
    for module, package in (("weka", "python-weka-wrapper3"), ("matplotlib", "matplotlib")):
        if find_spec(module) is None:
            raise SystemExit(f"the experiments need the package {package}, which is not installed.")
    file = CACHE / "points.jsonl"
    if asked.fresh:
        file.unlink(missing_ok=True)
    cache = Cache(file)
    known = figures()
    if not asked.page:
        wanted = [item for item in known if not asked.only or item.name.startswith(tuple(asked.only))]
        run(wanted, cache, quick=asked.quick, workers=asked.workers)
    sources = {name: load().source for name, load in DATA_SETS.items()}
    write_page(PAGE, IMAGES, known, cache, sources, versions())
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
