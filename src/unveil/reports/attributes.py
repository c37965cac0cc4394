"""One panel per attribute: how it is masked, drawn; and the top of the trees of groups of a local release.

A tree has its cut drawn through it: released labels left of the line, the values they represent right of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np

from unveil.errors import count_text, named
from unveil.evaluation.reidentification import SIZE as RECORDS
from unveil.evaluation.reidentification import grouped
from unveil.masking import AsIs, BoxTree, Discretization, Generalization, Suppression, rest_label
from unveil.masking.boxes import Sketched, sketch
from unveil.masking.walk import Walk
from unveil.release import Release
from unveil.reports.drawings import (
    EDGE,
    MARK,
    SIZE,
    TREE_ROW,
    WIDTH,
    Bar,
    Bars,
    NumberLine,
    fitted,
    number_line,
    text_width,
)
from unveil.reports.figures import Figure, Share, fineness, label_shares
from unveil.schema import Node, Spec

LIMITS = (40, 12, 6, 3)
"""How many branches below one value are drawn: the most with which the tree stays readable."""
HIDDEN = 6
"""How many of the values behind a released label are drawn at most."""
ROWS = 60
"""From this many rows on, a tree is drawn with fewer branches."""
INDENT = 16.0
DEEPEST = 112.0
"""No row begins further to the right, however deep the tree is."""
INTERVALS = 16
"""More intervals than these are not listed one by one."""
KINDS = {
    "generalization": "generalized to broader labels",
    "suppression": "suppressed: shown as it is, or hidden",
    "discretization": "discretized into intervals",
    "released": "released as it is: no requirement protects it",
}
SENSITIVE = "released as it is: sensitive, protected by masking other columns"
EVERY = "every record"
"""The share of a label that is the only one."""


State = Literal["above", "released", "below"]


@dataclass(frozen=True)
class Branch:
    """A value of a tree to draw."""

    label: str
    state: State
    children: tuple[Branch, ...] = ()
    note: str = ""
    """What follows the label in brackets."""
    share: str = ""
    """What is written at the right, where it is not the share of the label."""

    @property
    def text(self) -> str:
        """The label as it is drawn."""
        return f"{self.label} ({self.note})" if self.note else self.label


class Row(NamedTuple):
    """A line of a drawn tree."""

    branch: Branch
    depth: int
    counted: bool = False
    """Whether it counts several branches that are not drawn."""


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
    return _taxonomy_branch(node, {block.label: block.values for block in entry.blocks}, below=False)


def _taxonomy_branch(node: Node, cut: Mapping[str, tuple[str, ...]], *, below: bool) -> Branch:
    state: State = "below" if below else "released" if node.label in cut else "above"
    rest = cut.get(rest_label(node.label), ()) if state == "above" else ()
    apart = [child for child in node.children if not _is_in(child, rest)]
    children = [_taxonomy_branch(child, cut, below=below or state == "released") for child in apart]
    if rest:
        left = (_taxonomy_branch(child, cut, below=True) for child in node.children if _is_in(child, rest))
        children.append(Branch(rest_label(node.label), "released", tuple(left)))
    return Branch(node.label, state, tuple(children))


def _is_in(node: Node, values: tuple[str, ...]) -> bool:
    """Whether the first leaf of a node, and so all of them, are among the values of a rest."""
    while node.children:
        node = node.children[0]
    return node.label in values


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
    labels = [row.branch.text for row in rows if row.branch.state == "released"]
    return CutTree(title, placed, _cut(rows, step), "Released as " + ", ".join(labels) + ".")


def _rows(branch: Branch, depth: int, limit: int) -> Iterator[Row]:
    yield Row(branch, depth)
    for state, group in groupby(branch.children, key=lambda child: child.state):
        children = list(group)
        room = min(limit, HIDDEN) if state == "below" else limit
        # A single branch more is drawn rather than counted: it takes the same room.
        drawn = children if len(children) <= room + 1 else children[:room]
        for child in drawn:
            yield from _rows(child, depth + 1, limit)
        if left := len(children) - len(drawn):
            yield Row(Branch(f"{MARK} and {left:,} more", state), depth + 1, counted=True)


def _x(depth: int, step: float) -> float:
    return 2 * EDGE + step * depth


def _place(rows: list[Row], number: int, step: float, shares: Mapping[str, Share]) -> PlacedRow:
    branch, depth, counted = rows[number]
    x, y, elbow = _x(depth, step), TREE_ROW * number + TREE_ROW / 2, ""
    if depth > 0:
        parent = max(place for place in range(number) if rows[place].depth == depth - 1)
        elbow = f"M{_x(depth - 1, step) + EDGE:g} {TREE_ROW * (parent + 1) - 2:g}V{y:g}H{x - 2:g}"
    shown = shares.get(branch.label) if branch.state == "released" and not counted else None
    share = branch.share if shown is None else shown.text
    label = fitted(branch.text, WIDTH - x - 3 * EDGE - (text_width(share, SIZE - 1) + SIZE if share else SIZE))
    return PlacedRow(
        full=branch.text,
        label=label,
        state=branch.state,
        counted=counted,
        x=x,
        y=y,
        width=text_width(label),
        share=share,
        elbow=elbow,
    )


def _cut(rows: list[Row], step: float) -> str:
    """Down the right side, and around what a released label represents."""
    path, last = "", None
    top = 0
    for number, (branch, depth, _) in enumerate(rows):
        if branch.state == "released":
            top = depth
        x = _x(top + 1, step) - step / 2 if branch.state == "below" else WIDTH - EDGE / 2
        y = TREE_ROW * number
        path += f"M{x:g} {y:g}" if last is None else f"H{x:g}" if x != last else ""
        path += f"V{y + TREE_ROW:g}"
        last = x
    return path


@dataclass(frozen=True)
class Panel:
    """An attribute of the release."""

    name: str
    kind: str
    domain: str
    holds: str
    """What is in the column."""
    tree: CutTree | None = None
    line: NumberLine | None = None
    bars: Bars | None = None
    left_out: int = 0
    """How many intervals are not listed."""

    @property
    def drawn(self) -> bool:
        """Whether there is something to draw: of a column that is released as it is there is not."""
        return self.tree is not None or self.bars is not None


def panels(release: Release, figure: Figure, spec: Spec | None) -> list[Panel]:
    """The attributes of a release. Only the owner's spec knows whole taxonomies; a release knows the cuts."""
    return [_panel(release, name, figure, spec) for name in release.masking]


def untouched(panels: list[Panel]) -> dict[tuple[str, str], list[str]]:
    """The columns of which nothing is drawn, by why they are released as they are and what they hold."""
    folded: dict[tuple[str, str], list[str]] = {}
    for panel in panels:
        if not panel.drawn:
            folded.setdefault((panel.kind, panel.holds), []).append(panel.name)
    return folded


def _panel(release: Release, name: str, figure: Figure, spec: Spec | None) -> Panel:
    entry = release.masking[name]
    domain = "declared by the owner" if entry.domain == "declared" else "read off the data"
    if isinstance(entry, AsIs):
        sensitive = name in {item.get("sensitive") for item in release.manifest.requirements}
        holds = {"number": "numbers", "date": "dates", "category": "text"}[entry.type]
        if entry.survey_weight is not None:
            holds = entry.words
        return Panel(name, SENSITIVE if sensitive else KINDS[entry.kind], domain, holds)
    if entry.local:
        kind = f"{KINDS[entry.kind]}, group by group"
        step = None if spec is None else spec.attributes[name].step
        return Panel(name, kind, domain, _one_of(len(entry.shown), "label"), bars=fineness(release, name, figure, step))
    shares = _shares(release, name, figure)
    if isinstance(entry, Discretization):
        return _number_panel(name, entry, domain, shares, figure)
    if isinstance(entry, Suppression):
        root, labels = suppression_branch(name, entry, hides=entry.marker in shares), len(shares)
    else:
        root, labels = _generalized(name, entry, spec), len(entry.blocks)
    tree = cut_tree(f"The values of {name} and the cut through them", root, shares)
    return Panel(name, KINDS[entry.kind], domain, _one_of(labels, "label"), tree=tree)


def _shares(release: Release, name: str, figure: Figure) -> dict[str, Share]:
    if len(release.masking[name].shown) == 1:
        return {str(label): Share(1.0, EVERY) for label in release.counted[0][name].unique().to_pylist()}
    return {label: figure(share) for label, share in label_shares(release, name).items()}


def _one_of(count: int, what: str) -> str:
    return f"the same {what} in every row" if count == 1 else f"one of {count:,} {what}s"


def _generalized(name: str, entry: Generalization, spec: Spec | None) -> Branch:
    taxonomy = None if spec is None else spec.attributes[name].taxonomy
    return manifest_branch(name, entry) if taxonomy is None else taxonomy_branch(taxonomy.root, entry)


def _number_panel(name: str, entry: Discretization, domain: str, shares: dict[str, Share], figure: Figure) -> Panel:
    shown = entry.blocks[:INTERVALS]
    bars = [Bar(block.label, *shares.get(block.label, figure(0.0))) for block in shown]
    return Panel(
        name,
        KINDS[entry.kind],
        domain,
        _one_of(len(entry.blocks), "interval"),
        line=number_line(name, entry),
        bars=Bars(f"Share of the records in each interval of {name}", bars),
        left_out=len(entry.blocks) - len(shown),
    )


def group_trees(release: Release, figure: Figure, *, counted: bool) -> list[CutTree]:
    """The top of each tree of groups; with `counted`, how many groups are below each node."""
    found = []
    for tree, walk in zip(release.masking.boxes, release.masking.walks, strict=True):
        top = sketch(tree, leaf_records(release, tree, walk))
        title = f"How the records are divided into groups on {named(tree.attributes)}"
        found.append(replace(cut_tree(title, _branch(top, top.records, figure, counted), {}), cut=""))
    return found


def leaf_records(release: Release, tree: BoxTree, walk: Walk) -> list[int]:
    """How many records of a release lie in each leaf of a tree; no two leaves have the same labels."""
    leaves = np.flatnonzero(walk.leaf_of >= 0)
    columns = []
    for name in tree.attributes:
        labels, label_at = walk.labels(name)
        columns.append([labels[place] for place in label_at[leaves].tolist()])
    leaf_of = {labels: leaf for leaf, labels in enumerate(zip(*columns, strict=True))}
    records = [0] * len(leaves)
    groups = grouped(release, tree.attributes)
    held = zip(*(groups[str(place)].to_pylist() for place in range(len(tree.attributes))), strict=True)
    for labels, size in zip(held, groups[RECORDS].to_pylist(), strict=True):
        if labels in leaf_of:  # rows that are left out and fully masked lie in none
            records[leaf_of[labels]] += size
    return records


def _branch(node: Sketched, total: int, figure: Figure, counted: bool) -> Branch:
    children = tuple(_branch(child, total, figure, counted) for child in node.children)
    more = (Branch(f"… and {node.more:,} more", "above"),) if node.more else ()
    share = figure(node.records / (total or 1)).text
    share += f", {count_text(node.groups, 'group')}" if counted else ""
    return Branch(node.label, "released" if node.groups == 1 else "above", (*children, *more), share=share)
