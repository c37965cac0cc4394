"""What the labels of any tool cover: the raw values of an attribute in order, and the levels above them.

A label is a taxonomy label, the rest of one (`Office, other`), `⊥`, an interval `[lo, hi)`, a raw value, or one of
anonypy's: `['lo-hi']` and `['a,b,c']`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

SUPPRESSED = "⊥"
REST = ", other"
WIDTHS = (5, 10, 20, 40)
"""Of the intervals of a number up to 100, and as many times as wide for larger ranges; each holds whole ones of the one
before."""

Levels = list[list[Any]]
"""A hierarchy: for each level, from the values to the root, what masks each raw value there."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """Whole numbers of `[lo, hi)`; `held` are those that occur, in order."""

    lo: int
    hi: int
    held: np.ndarray

    def ends(self, label: str) -> tuple[int, int]:
        """The first and the last number that a label covers."""
        if label == SUPPRESSED:
            return self.lo, self.hi - 1
        ends = [int(number) for number in re.findall(r"\d+", label)]
        return max(ends[0], self.lo), min(ends[-1] - label.endswith(")"), self.hi - 1)

    def covered(self, label: str) -> np.ndarray:
        """The places in `held` that a label covers."""
        first, last = self.ends(label)
        return np.flatnonzero((self.held >= first) & (self.held <= last))

    def share(self, label: str) -> float:
        """Which part of the range a label covers; 0 for a single number."""
        first, last = self.ends(label)
        return (last - first) / (self.hi - 1 - self.lo)

    @property
    def levels(self) -> Levels:
        values = [int(value) for value in self.held]
        unit = 10 ** max(math.ceil(math.log10(self.hi - self.lo)) - 2, 0)
        intervals = [[_interval(value, width * unit) for value in values] for width in WIDTHS]
        return [values, *intervals, [f"[{self.lo}, {self.hi})"] * len(values)]


def _interval(value: int, width: int) -> str:
    start = value // width * width
    return f"[{start}, {start + width})"


@dataclass(frozen=True, eq=False)
class Categories:
    """Values with the labels above them, from the root down to the value."""

    paths: tuple[tuple[str, ...], ...]

    @cached_property
    def held(self) -> np.ndarray:
        return np.array([path[-1] for path in self.paths], dtype=object)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, path in enumerate(self.paths):
            for label in path:
                places.setdefault(label, []).append(place)
        return places

    def covered(self, label: str) -> np.ndarray:
        """The places of the values that a label covers, of a rest at most; `⊥` may be any value."""
        known = self._places
        if label in known:
            return np.array(known[label])
        if label == SUPPRESSED:
            return np.arange(len(self.paths))
        if label.removesuffix(REST) in known:
            return np.array(known[label.removesuffix(REST)])
        return np.sort([known[value][0] for value in label.strip("[]'").split(",")])

    def ends(self, label: str) -> tuple[int, int]:
        """The places of the first and the last value that a label covers."""
        covered = self.covered(label)
        return int(covered[0]), int(covered[-1])

    def share(self, label: str) -> float:
        """Which part of the values a label covers; 0 for a single one."""
        covered = len(self.covered(label))
        return 0.0 if covered == 1 else covered / len(self.paths)

    @property
    def levels(self) -> Levels:
        depth = max(map(len, self.paths))
        # A leaf nearer to the root than others stays itself on the levels between.
        return [[path[min(level, len(path) - 1)] for path in self.paths] for level in reversed(range(depth))]


Domain = Numbers | Categories
Domains = Mapping[str, Domain]


def flat(values: list[str]) -> Categories:
    """Values without a taxonomy: each is shown or suppressed."""
    return Categories(tuple((SUPPRESSED, value) for value in values))


def paths_of(taxonomy: Path) -> Iterator[tuple[str, ...]]:
    """The path from the root to each leaf of a tree file, read here because indentation is all there is to it."""
    lines = [line for line in taxonomy.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    path: list[str] = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        depth = _depth(line)
        path[depth:] = [line.strip()]
        if _depth(following) <= depth:
            yield tuple(path)


def _depth(line: str) -> int:
    return (len(line) - len(line.lstrip())) // 2
