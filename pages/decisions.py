"""The index of the decisions: every page of the folder by its number and title, so that a new one needs no line."""

from __future__ import annotations

import re
from pathlib import Path

INDEX = "decisions/index.md"
MARK = re.compile(r"^<!-- decisions:.*-->$", re.MULTILINE)
TITLE = re.compile(r"# (?P<number>\d{4}): (?P<title>.+)")


def with_decisions(markdown: str, folder: Path) -> str:
    """The text of the index with the list of all decisions in place of its mark."""
    lines = [_line(page) for page in sorted(folder.glob("[0-9]*.md"))]
    return MARK.sub(lambda _: "\n".join(("| | decision |", "|---|---|", *lines)), markdown)


def _line(page: Path) -> str:
    first = page.read_text(encoding="utf-8").partition("\n")[0]
    found = TITLE.fullmatch(first)
    if found is None or not page.name.startswith(f"{found['number']}-"):
        raise ValueError(f"{page}: its first line must be its number and its title, such as '# 0001: Title'.")
    return f"| {found['number']} | [{found['title']}]({page.name}) |"
