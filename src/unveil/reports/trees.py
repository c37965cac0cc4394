"""Trees with the cut drawn through them: released labels left of the line, the values they stand for right of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from unveil.masking import Generalization, Suppression
from unveil.reports.drawings import EDGE, MARK, SIZE, TREE_ROW, WIDTH, fitted, text_width
from unveil.reports.figures import Share
from unveil.schema import Node

State = Literal["above", "released", "below"]
LIMITS = (40, 12, 6, 3)
"""How many branches below one value are drawn: the most with which the tree stays readable."""
HIDDEN = 6
"""How many of the values behind a released label are drawn at most."""
ROWS = 60
"""From so many rows on, a tree is drawn with fewer branches."""
INDENT = 16.0
DEEPEST = 112.0
"""No row begins further to the right, however deep the tree is."""


@dataclass(frozen=True)
class Branch:
    """A value of a tree to draw."""

    label: str
    state: State
    children: tuple[Branch, ...] = ()
    note: str = ""
    """What follows the label in brackets."""


@dataclass(frozen=True)
class Row:
    """A line of a drawn tree."""

    label: str
    depth: int
    state: State
    note: str = ""
    counted: bool = False
    """Whether it counts several branches that are not drawn."""

    @property
    def text(self) -> str:
        """The label as it is drawn."""
        return f"{self.label} ({self.note})" if self.note else self.label


@dataclass(frozen=True)
class PlacedRow:
    """A row and where it is."""

    full: str
    label: str
    state: State
    counted: bool
    x: float
    y: float
    width: float
    share: str
    elbow: str
    """The path from the row above it in the tree."""


@dataclass(frozen=True)
class CutTree:
    """A tree and the cut through it."""

    title: str
    rows: tuple[PlacedRow, ...]
    cut: str
    """The path of the cut."""
    words: str

    @property
    def height(self) -> float:
        """The height of the drawing."""
        return TREE_ROW * len(self.rows) + EDGE


def manifest_branch(name: str, entry: Generalization) -> Branch:
    """The cut as a release alone has it: no label above it, and below it leaves only."""
    blocks = tuple(_block(block.label, block.values) for block in entry.blocks)
    return blocks[0] if len(blocks) == 1 else Branch(f"every {name}", "above", blocks)


def _block(label: str, values: tuple[str, ...]) -> Branch:
    below = () if values == (label,) else tuple(Branch(value, "below") for value in values)
    return Branch(label, "released", below)


def taxonomy_branch(node: Node, entry: Generalization) -> Branch:
    """The whole taxonomy, as only the owner's spec has it."""
    return _taxonomy_branch(node, {block.label for block in entry.blocks}, below=False)


def _taxonomy_branch(node: Node, cut: set[str], *, below: bool) -> Branch:
    state: State = "below" if below else "released" if node.label in cut else "above"
    children = (_taxonomy_branch(child, cut, below=below or state == "released") for child in node.children)
    return Branch(node.label, state, tuple(children))


def suppression_branch(name: str, entry: Suppression, *, hides: bool) -> Branch:
    """Disclosed values, and one branch for all others, which are not named."""
    others = (Branch(entry.marker, "released", note="every other value"),) if hides else ()
    if not entry.disclosed:
        return Branch(entry.marker, "released", note="every value is hidden")
    return Branch(f"every {name}", "above", (*(Branch(value, "released") for value in entry.disclosed), *others))


def cut_tree(title: str, root: Branch, shares: Mapping[str, Share]) -> CutTree:
    """Draws a tree, with as many branches as leave it readable."""
    rows: list[Row] = []
    for limit in LIMITS:
        rows = list(_rows(root, 0, limit))
        if len(rows) <= ROWS:
            break
    step = min(INDENT, DEEPEST / max(1, *(row.depth for row in rows), 1))
    placed = tuple(_place(rows, number, step, shares) for number in range(len(rows)))
    labels = [row.text for row in rows if row.state == "released"]
    return CutTree(title, placed, _cut(rows, step), "Released as " + ", ".join(labels) + ".")


def _rows(branch: Branch, depth: int, limit: int) -> Iterator[Row]:
    yield Row(branch.label, depth, branch.state, branch.note)
    for state, group in groupby(branch.children, key=lambda child: child.state):
        children = list(group)
        room = min(limit, HIDDEN) if state == "below" else limit
        # A single branch more is drawn rather than counted: it takes the same room.
        drawn = children if len(children) <= room + 1 else children[:room]
        for child in drawn:
            yield from _rows(child, depth + 1, limit)
        if left := len(children) - len(drawn):
            yield Row(f"{MARK} and {left:,} more", depth + 1, state, counted=True)


def _x(depth: int, step: float) -> float:
    return 2 * EDGE + step * depth


def _place(rows: list[Row], number: int, step: float, shares: Mapping[str, Share]) -> PlacedRow:
    row = rows[number]
    x, y = _x(row.depth, step), TREE_ROW * number + TREE_ROW / 2
    told = shares.get(row.label) if row.state == "released" and not row.counted else None
    share = "" if told is None else told.text
    label = fitted(row.text, WIDTH - x - 3 * EDGE - (text_width(share, SIZE - 1) + SIZE if share else SIZE))
    return PlacedRow(
        full=row.text,
        label=label,
        state=row.state,
        counted=row.counted,
        x=x,
        y=y,
        width=text_width(label),
        share=share,
        elbow=_elbow(rows, number, step),
    )


def _elbow(rows: list[Row], number: int, step: float) -> str:
    depth = rows[number].depth
    if depth == 0:
        return ""
    parent = max(place for place in range(number) if rows[place].depth == depth - 1)
    x, y = _x(depth - 1, step) + EDGE, TREE_ROW * number + TREE_ROW / 2
    return f"M{x:g} {TREE_ROW * (parent + 1) - 2:g}V{y:g}H{_x(depth, step) - 2:g}"


def _cut(rows: list[Row], step: float) -> str:
    """Down the right side, and around what a released label stands for."""
    path, last = "", None
    top = 0
    for number, row in enumerate(rows):
        if row.state == "released":
            top = row.depth
        x = _x(top + 1, step) - step / 2 if row.state == "below" else WIDTH - EDGE / 2
        y = TREE_ROW * number
        path += f"M{x:g} {y:g}" if last is None else f"H{x:g}" if x != last else ""
        path += f"V{y + TREE_ROW:g}"
        last = x
    return path
