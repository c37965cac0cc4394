"""Pieces of HTML for notebooks: what objects show of themselves when they are the value of a cell.

Everything that comes from a table, a spec or a release is text and is escaped here, so that a label such as
`<script>` is shown and never run. Text has the colours of the page, which may be light or dark; only stripes have their
own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

GOOD = "#2e9e5b"
BAD = "#d9534f"
PLAIN = "#8a8a8a"
"""Colours of stripes, in tones that stand out on white and on black."""


def text(value: object) -> str:
    """A value as it reads, with nothing in it that HTML would follow."""
    return escape(str(value))


def paragraph(value: object, *, stripe: str | None = None) -> str:
    """A sentence, with a coloured stripe beside it where it says that something is good or bad."""
    style = "" if stripe is None else f' style="border-left: 4px solid {stripe}; padding-left: 0.6em"'
    return f"<p{style}>{text(value)}</p>"


def heading(value: object) -> str:
    """A line that says what comes next. It is no heading of the page, which has its own order of those."""
    return f"<p><strong>{text(value)}</strong></p>"


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A table with a row of names above it; cells stand at the left, as text does. A wide one scrolls by itself."""
    names = "".join(f'<th style="text-align: left">{text(name)}</th>' for name in head)
    lines = "".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    return _scrolling(f"<table><thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table>")


def folded(summary: object, content: str) -> str:
    """Something longer that opens on a click; the content is HTML already."""
    return f"<details><summary>{text(summary)}</summary>{content}</details>"


def preformatted(value: object) -> str:
    """Lines that keep their indentation."""
    return _scrolling(f"<pre>{text(value)}</pre>")


def page_part(*parts: str) -> str:
    """The parts as one piece."""
    return f"<div>{''.join(parts)}</div>"


def _scrolling(content: str) -> str:
    return f'<div style="overflow-x: auto">{content}</div>'


def _cells(row: Sequence[object]) -> str:
    return "".join(f'<td style="text-align: left">{text(cell)}</td>' for cell in row)
