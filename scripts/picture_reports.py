"""Makes the pictures of docs/how-to/prove.md: pages about the bundled data, as a browser shows them.

Usage: python scripts/picture_reports.py (needs Chromium, see CONTRIBUTING.md).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

import unveil
from unveil.workflow.demo import DATA

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
SPECS = {"k-anonymity": "adult.toml", "private": "adult-private.toml"}
PICTURES = [
    ("k-anonymity", "laptop", "header", "report-k-anonymity"),
    ("k-anonymity", "laptop", "#attributes article:nth-of-type(3)", "report-cuts"),
    ("k-anonymity", "phone", "#attributes article:nth-of-type(4)", "report-phone"),
    ("private", "laptop", "#noise", "report-noise"),
    ("owner", "laptop", "#accuracy", "report-owner"),
]
"""Page, device, the part at the top of the window, and the name of the picture."""


def write_pages(folder: Path) -> dict[str, Path]:
    """The pages to photograph. The specs are copied, so that the owner's ledger stays in the folder."""
    copytree(DATA, folder / "data")
    pages = {}
    for name, spec in SPECS.items():
        unveil.publish(folder / "data" / spec).write(folder / name)
        pages[name] = unveil.report(folder / name)
    pages["owner"] = unveil.report(folder / "k-anonymity", owner=folder / "data" / SPECS["k-anonymity"])
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in pages}


def main() -> None:
    """Writes the pictures."""
    parser = argparse.ArgumentParser(description="Make pictures of reports.")
    parser.parse_args()
    with TemporaryDirectory() as folder:
        photograph(write_pages(Path(folder)), PICTURES)


def photograph(pages: dict[str, Path], pictures: list[tuple[str, str, str, str]]) -> None:
    """Opens the pages and stores what the window shows."""
    sys.path.insert(0, str(ROOT / "tests"))
    from browser import LAPTOP, PHONE, started

    sizes = {"laptop": LAPTOP, "phone": PHONE}
    with started() as browser:
        for page, device, part, name in pictures:
            browser.open(pages[page], sizes[device])
            browser.run(f"document.querySelector('{part}').scrollIntoView()")
            (IMAGES / f"{name}.png").write_bytes(browser.screenshot())


if __name__ == "__main__":
    main()
