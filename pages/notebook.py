"""Notebooks as pages: their text, their code, and the outputs that are stored with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

FENCE = "````"
IMAGE = "image/png"


def notebook_page(path: Path) -> str:
    """A notebook as Markdown, with a link to itself below its title."""
    notebook = nbformat.read(path, as_version=4)
    title, *cells = notebook.cells
    note = f'<p>This page is a notebook: <a href="{path.name}" download>{path.name}</a>.</p>'
    return "\n\n".join([title.source, note, *(part for cell in cells for part in _cell(cell))]) + "\n"


def _cell(cell: Any) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield cell.source
        return
    yield f"{FENCE}python\n{cell.source}\n{FENCE}"
    for output in cell.outputs:
        yield from _output(output)


def _output(output: Any) -> Iterator[str]:
    """The richest form of an output that a page can show."""
    if output.output_type == "stream":
        yield f"{FENCE}text\n{output.text.rstrip()}\n{FENCE}"
        return
    data = output.data
    if "text/html" in data:
        yield f'<div class="output">\n{_without_blank_lines(_plain_tables(data["text/html"]))}\n</div>'
    elif IMAGE in data:
        yield f'<p><img alt="output" src="data:{IMAGE};base64,{data[IMAGE].strip()}"></p>'
    else:
        yield f"{FENCE}text\n{data['text/plain']}\n{FENCE}"


def _plain_tables(html: str) -> str:
    """Frames as plain tables, which the site styles as all others; pandas gives them a border and a class."""
    return html.replace('<table border="1" class="dataframe">', "<table>")


def _without_blank_lines(html: str) -> str:
    """HTML in Markdown ends at a blank line."""
    return "\n".join(line for line in html.splitlines() if line.strip())
