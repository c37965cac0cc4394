"""HTML for notebooks: how objects display themselves.

Text from a table, a spec or a release is escaped here, so that a label such as `<script>` is shown and never run. Text
takes the colours of the page, which may be light or dark; only stripes have their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

GOOD = "#2e9e5b"
BAD = "#d9534f"
PLAIN = "#8a8a8a"
"""Colours of stripes, visible on white and on black."""


def text(value: object) -> str:
    """A value as escaped text."""
    from html import escape  # its table of entities is for notebooks only

    return escape(str(value))


def paragraph(value: object, *, stripe: str | None = None) -> str:
    """A sentence, with a coloured stripe on its left if it says that something is good or bad."""
    style = "" if stripe is None else f' style="border-left: 4px solid {stripe}; padding-left: 0.6em"'
    return f"<p{style}>{text(value)}</p>"


def heading(value: object) -> str:
    """A bold line. It is not an HTML heading, because the page has its own hierarchy of headings."""
    return f"<p><strong>{text(value)}</strong></p>"


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A table with a header row and left-aligned cells. A wide one scrolls on its own."""
    names = "".join(f'<th style="text-align: left">{text(name)}</th>' for name in head)
    cells = ("".join(f'<td style="text-align: left">{text(cell)}</td>' for cell in row) for row in rows)
    lines = "".join(f"<tr>{line}</tr>" for line in cells)
    return _scrolling(f"<table><thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table>")


def folded(summary: object, content: str) -> str:
    """Content that opens on a click; it is HTML already."""
    return f"<details><summary>{text(summary)}</summary>{content}</details>"


def preformatted(value: object) -> str:
    """Lines that keep their indentation."""
    return _scrolling(f"<pre>{text(value)}</pre>")


def page_part(*parts: str) -> str:
    """The parts in one element."""
    return f"<div>{''.join(parts)}</div>"


def _scrolling(content: str) -> str:
    return f'<div style="overflow-x: auto">{content}</div>'
