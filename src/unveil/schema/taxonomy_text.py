"""Taxonomies as text: writers for the formats that can be read, without loss, and drawings for people."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from unveil.errors import TaxonomyError, count_text
from unveil.schema.taxonomy import OBSERVED, Node, Taxonomy

LINES = 60
"""How many lines a shortened drawing has at most, unless one level alone has more."""
CHILDREN = 12
"""How many branches of a label a shortened drawing shows."""
_CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]")


def tree_text(taxonomy: Taxonomy, attribute: str) -> str:
    """The project's own format, which can hold every label."""
    return f"{taxonomy}\n"


def arx_text(taxonomy: Taxonomy, attribute: str) -> str:
    """ARX csv: one line per leaf, from the leaf to the root. A short path repeats its leaf, as ARX does."""
    if taxonomy.observed is not None:
        raise TaxonomyError(
            f"{taxonomy.origin}: ARX csv cannot hold the mark that the values come from the data; write "
            "a .tree or .hchy file, or declare the values public (--declare)."
        )
    for label in taxonomy.labels:
        if label != label.strip() or "\r" in label or label.startswith("\ufeff"):
            raise TaxonomyError(f"{taxonomy.origin}: the label {label!r} cannot be written in ARX csv.")
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
        if label != label.strip() or set(label) & set("{}|\r\n"):
            raise TaxonomyError(f"{taxonomy.origin}: the label {label!r} cannot be written between braces of .hchy.")
    if attribute != attribute.strip() or set(attribute) & set("{}|:\r\n\ufeff") or attribute in ("", "vid", "classes"):
        raise TaxonomyError(f"{taxonomy.origin}: {attribute!r} cannot be the name of an attribute in a .hchy file.")
    mark = "" if taxonomy.observed is None else f" | {OBSERVED} {taxonomy.observed}"
    return f"{attribute}:discrete{mark}\n{_braces(taxonomy.root)}\n"


WRITERS: dict[str, Callable[[Taxonomy, str], str]] = {".tree": tree_text, ".csv": arx_text, ".hchy": hchy_text}
"""The writers, by file extension."""


def taxonomy_text(taxonomy: Taxonomy, path: Path, attribute: str) -> str:
    """The text of a taxonomy file in the format that its extension names."""
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise TaxonomyError(f"{path}: a taxonomy file must end in one of {', '.join(WRITERS)}.")
    return writer(taxonomy, attribute)


def drawn(taxonomy: Taxonomy, *, whole: bool = True) -> Iterator[tuple[str, str, str]]:
    """The tree drawn line by line: the branches, the label, and the number of values below it.

    Args:
        taxonomy: What to draw.
        whole: Whether to draw every label. Otherwise only the first of many branches and the levels that fit are
            drawn, and the rest is counted.
    """
    if whole:
        return _drawn(taxonomy.root, "", "", taxonomy.depth, len(taxonomy.leaves))
    levels = taxonomy.depth
    while levels > 2 and _length(taxonomy.root, levels) > LINES:
        levels -= 1
    return _drawn(taxonomy.root, "", "", levels, CHILDREN)


def _drawn(node: Node, first: str, rest: str, levels: int, most: int) -> Iterator[tuple[str, str, str]]:
    values = node.hi - node.lo
    cut = " …" if node.children and levels == 1 else ""
    yield first, printable(node.label), f"({values:,}){cut}" if node.children else ""
    if levels == 1:
        return
    shown = node.children[: most if len(node.children) > most + 1 else None]
    left = node.children[len(shown) :]
    for child in shown:
        last = child is shown[-1] and not left
        below = rest + ("    " if last else "│   ")
        yield from _drawn(child, rest + ("└── " if last else "├── "), below, levels - 1, most)
    if left:
        yield rest + "└── ", "", f"… {len(left):,} more with {count_text(node.hi - left[0].lo, 'value')}"


def _length(node: Node, levels: int) -> int:
    """How many lines a drawing of this many levels and the first branches takes."""
    if levels == 1:
        return 1
    return 1 + sum(_length(child, levels - 1) for child in node.children[: CHILDREN + 1])


def printable(label: str) -> str:
    """A label with control characters escaped, which could move the cursor or end the line."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", label)


def _paths(node: Node, above: tuple[str, ...]) -> Iterator[list[str]]:
    if not node.children:
        yield [node.label, *above]
    for child in node.children:
        yield from _paths(child, (node.label, *above))


def _braces(node: Node) -> str:
    return "{" + " ".join([node.label, *(_braces(child) for child in node.children)]) + "}"
