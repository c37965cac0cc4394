"""From paths to a tree: groups of one are passed over, and labels are made distinct."""

from __future__ import annotations

from collections.abc import Iterator

from unveil.drafts.values import Paths
from unveil.schema import Branch


def tree_of(root: str, paths: Paths) -> Branch:
    """The tree over the values. A label that groups nothing is left out, one that stands elsewhere is told apart."""
    top: Branch = (root, [])
    groups: dict[tuple[str, ...], Branch] = {(): top}
    for value, path in paths.items():
        for depth in range(1, len(path) + 1):
            key = path[:depth]
            if key not in groups:
                groups[key] = (key[-1], [])
                groups[key[:-1]][1].append(groups[key])
        groups[path][1].append((value, []))
    label, below = _pruned(top)
    # A root that one group alone stands below has been replaced by this group; it keeps its own name.
    pruned: Branch = (root, below or [(label, [])])
    return _renamed(pruned, set(paths))


def _pruned(branch: Branch) -> Branch:
    """Without labels that have one branch only: they say the same as the branch."""
    label, below = branch
    kept = [_pruned(child) for child in below]
    return kept[0] if len(kept) == 1 else (label, kept)


def _renamed(branch: Branch, taken: set[str]) -> Branch:
    """Inner labels that differ from all values and from each other."""
    label, below = branch
    if not below:
        return branch
    free = next(name for name in _names(label) if name not in taken)
    taken.add(free)
    return free, [_renamed(child, taken) for child in below]


def _names(label: str) -> Iterator[str]:
    yield label
    yield f"{label} (group)"
    number = 2
    while True:
        yield f"{label} (group {number})"
        number += 1
