"""The trees of groups of a local release: their top levels, drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unveil.errors import count_text, named
from unveil.evaluation.reidentification import SIZE, grouped
from unveil.masking import BoxTree
from unveil.masking.boxes import Sketched, sketch
from unveil.release import Release
from unveil.reports.attributes import Branch, CutTree, cut_tree
from unveil.reports.figures import Figure

if TYPE_CHECKING:
    from unveil.masking.walk import Walk  # compiled code, which only a local release needs


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
    for labels, size in zip(held, groups[SIZE].to_pylist(), strict=True):
        if labels in leaf_of:  # rows that are left out and fully masked lie in none
            records[leaf_of[labels]] += size
    return records


def _branch(node: Sketched, total: int, figure: Figure, counted: bool) -> Branch:
    children = tuple(_branch(child, total, figure, counted) for child in node.children)
    more = (Branch(f"… and {node.more:,} more", "above"),) if node.more else ()
    share = figure(node.records / (total or 1)).text
    share += f", {count_text(node.groups, 'group')}" if counted else ""
    return Branch(node.label, "released" if node.groups == 1 else "above", (*children, *more), share=share)
