"""How large the groups of a release are, in classes of sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, pairwise

from unveil.arrays import IntArray
from unveil.errors import named
from unveil.evaluation import group_sizes, quasi_identifiers
from unveil.evaluation.information import promised_k
from unveil.evaluation.reidentification import refinement_manifest
from unveil.release import Release
from unveil.reports.drawings import Bar, Bars
from unveil.reports.figures import Figure

SMALL = 5
"""Without a promised size, groups below this are one class."""
CLASSES = 8
"""At most so many classes; the last one is open."""


@dataclass(frozen=True)
class Groups:
    """The groups on a quasi-identifier or channel."""

    names: tuple[str, ...]
    chart: Bars


def groups(release: Release, figure: Figure) -> list[Groups]:
    """The sizes of all groups that a requirement of the release is about."""
    return [_groups(release, names, figure) for names in quasi_identifiers(release)]


def _groups(release: Release, names: tuple[str, ...], figure: Figure) -> Groups:
    sizes = group_sizes(release, names)
    classes = size_classes(sizes, promised_k(refinement_manifest(release), names))
    title = f"Share of the records by the size of their group on {named(names)}"
    return Groups(names, Bars.of(title, [Bar(text, *figure(share)) for text, share in classes.items()]))


def size_classes(sizes: IntArray, k: int) -> dict[str, float]:
    """The share of the records in groups of each class of sizes, from the promised k upwards.

    Bounds depend on k alone; only how many classes there are follows from the largest group.
    """
    bounds: list[int] = []
    for bound in _bounds(k):
        if len(bounds) == CLASSES or (bounds and bound > sizes[-1]):
            break
        bounds.append(bound)
    shares = {}
    for lo, hi in pairwise([*bounds, None]):
        inside = sizes[(sizes >= (lo or 0)) & (sizes < (hi or sizes[-1] + 1))]
        shares[_class_text(lo or 0, hi)] = float(inside.sum() / sizes.sum())
    return shares


def _bounds(k: int) -> Iterator[int]:
    if k <= 1:
        yield 1
    start = k if k > 1 else SMALL
    for power in count():
        for step in (1, 2, 5):
            yield start * step * 10**power


def _class_text(lo: int, hi: int | None) -> str:
    if hi is None:
        return f"{lo:,} or more records"
    return f"fewer than {hi:,} records" if lo == 1 else f"{lo:,} to {hi - 1:,} records"
