"""The measured parts of `docs/scale.md`: each between two marks, so that people write the text around them.

<!-- bench: growth -->
- GA: …
<!-- /bench -->
"""

from __future__ import annotations

import re
from pathlib import Path

PART = re.compile(r"<!-- bench: (?P<name>\w+) -->(?P<break>\n?).*?<!-- /bench -->", re.DOTALL)


def fill(page: Path, parts: dict[str, str]) -> None:
    """Writes these parts into the page and leaves the others as they are; the page must have a place for each."""
    text = page.read_text(encoding="utf-8")
    if missing := sorted(parts.keys() - {found["name"] for found in PART.finditer(text)}):
        raise ValueError(f"{page.name} has no place for {', '.join(missing)}.")

    def part(found: re.Match[str]) -> str:
        name, line = found["name"], found["break"]
        return f"<!-- bench: {name} -->{line}{parts[name]}{line}<!-- /bench -->" if name in parts else found[0]

    page.write_text(PART.sub(part, text), encoding="utf-8")
