"""Makes the pictures of docs/studio.md: the studio with the bundled data, as a browser shows it.

Usage: python scripts/picture_studio.py (needs Chromium, see CONTRIBUTING.md).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pyarrow import csv, parquet

from unveil.workflow.demo import DATA

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
WINDOW = (1280, 800)


def main() -> None:
    """Goes through the five parts and stores what the window shows."""
    argparse.ArgumentParser(description="Make pictures of the studio.").parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    from browser import started
    from studio.conftest import serving
    from studio.page import Page

    with TemporaryDirectory() as place, started() as browser:
        folder = Path(place)
        csv.write_csv(parquet.read_table(DATA / "adult.parquet"), folder / "adult.csv")
        with serving(folder, "adult.csv") as served:
            page = Page(browser, served, WINDOW)
            for name in ("education-num", "split"):
                page.choose(f"role of {name}", "identifier")
            for name in ("capital-gain", "capital-loss", "hours-per-week"):
                page.click(f"others can know {name}, requirement 1")
            photograph(page, "table")
            page.column("workclass")
            page.group("Government", "Federal-gov", "Local-gov", "State-gov")
            page.group("Self-employed", "Self-emp-inc", "Self-emp-not-inc")
            photograph(page, "taxonomies")
            for name in ("education", "native-country"):
                page.column(name)
                page.press("Draft")
                page.until("document.querySelectorAll('.node.group').length > 2")
            page.part("requirements")
            page.slide("k: records that share each combination, at least", 515)
            photograph(page, "requirements")
            page.part("release")
            page.press("Compare")
            page.until("document.querySelectorAll('.three section').length === 3")
            browser.run("document.getElementById('comparison').scrollIntoView({ block: 'center' })")
            photograph(page, "compare", scheme="dark")
            page.part("publish")
            browser.run("scrollTo(0, 0); document.getElementById('read').click()")
            page.until("!document.getElementById('go').disabled")
            page.press("Publish and verify")
            page.until("document.getElementById('place')", 500)
            photograph(page, "publish")


def photograph(page, name: str, scheme: str = "light") -> None:  # type: ignore[no-untyped-def]
    """Stores what the window shows once the figures are there."""
    page.until(
        "!document.querySelector('.waiting, #figures .old') && document.getElementById('figures').children.length > 3"
    )
    page.browser.scheme(scheme)
    (IMAGES / f"studio-{name}.png").write_bytes(page.browser.screenshot())
    page.browser.scheme("")


if __name__ == "__main__":
    main()
