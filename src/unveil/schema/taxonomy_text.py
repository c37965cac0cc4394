"""Taxonomies as text: the formats that are read, written again without loss."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator

from unveil.errors import TaxonomyError
from unveil.schema.taxonomy import Node, Taxonomy


def tree_text(taxonomy: Taxonomy, attribute: str) -> str:
    """The project's own format. A label that would read as a comment or lose its spaces cannot be written."""
    for label in taxonomy.labels:
        if label.startswith("#") or label != label.strip() or len(label.splitlines()) != 1:
            raise TaxonomyError(f"{taxonomy.origin}: the label {label!r} cannot be written as a line of a tree.")
    return f"{taxonomy}\n"


def arx_text(taxonomy: Taxonomy, attribute: str) -> str:
    """ARX csv: one line per leaf, from the leaf to the root. A short path repeats its leaf, as ARX does."""
    paths = list(_paths(taxonomy.root, ()))
    longest = max(len(path) for path in paths)
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\n")
    for path in paths:
        writer.writerow([path[0]] * (longest - len(path)) + path)
    return text.getvalue()


def hchy_text(taxonomy: Taxonomy, attribute: str) -> str:
    """The papers' format, one entry."""
    for label in taxonomy.labels:
        if set(label) & set("{}|\n"):
            raise TaxonomyError(f"{taxonomy.origin}: the label {label!r} cannot be written between braces.")
    return f"{attribute}:discrete\n{_braces(taxonomy.root)}\n"


WRITERS: dict[str, Callable[[Taxonomy, str], str]] = {".tree": tree_text, ".csv": arx_text, ".hchy": hchy_text}
"""How a taxonomy is written, by the ending of the file."""


def drawn(taxonomy: Taxonomy) -> str:
    """The tree as a person looks at it, with lines and the number of values under each inner label."""
    return "\n".join(_drawn(taxonomy.root, "", ""))


def _drawn(node: Node, first: str, rest: str) -> Iterator[str]:
    count = f"  ({node.hi - node.lo})" if node.children else ""
    yield f"{first}{node.label}{count}"
    for child in node.children:
        last = child is node.children[-1]
        yield from _drawn(child, rest + ("└── " if last else "├── "), rest + ("    " if last else "│   "))


def _paths(node: Node, above: tuple[str, ...]) -> Iterator[list[str]]:
    if not node.children:
        yield [node.label, *above]
    for child in node.children:
        yield from _paths(child, (node.label, *above))


def _braces(node: Node) -> str:
    return "{" + " ".join([node.label, *(_braces(child) for child in node.children)]) + "}"
