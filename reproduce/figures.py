"""What a figure of a paper is to us: points to measure, statements to compare with, and a plot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reproduce.points import Results, Setting

NEAR = 0.5
"""A percentage agrees with a printed one if it is no further away than this."""
MILLION = 1_000_000


@dataclass(frozen=True)
class Statement:
    """What a paper says, what came out, and whether the two agree."""

    paper: str
    ours: str
    holds: bool | None = None
    """None where there is nothing to compare."""
    remark: str = ""
    """Shown where it does not hold."""


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper."""

    name: str
    paper: str
    title: str
    protocol: str
    """How it was measured here."""
    settings: tuple[Setting, ...]
    quick: tuple[Setting, ...]
    """A few of the settings, for a run of minutes."""
    compare: Callable[[Results], list[Statement]]
    plot: Callable[[Results, Any], None] | None = None
    """Draws the figure into matplotlib axes."""
    alone: bool = False
    """Whether it measures time, so that nothing else may run next to it."""


def near(paper: str, printed: float, ours: float | None, remark: str = "", unit: str = "%") -> list[Statement]:
    """Compares with a printed number; nothing where it was not measured."""
    if ours is None:
        return []
    return [Statement(paper, f"{ours:.2f}{unit}", abs(ours - printed) <= NEAR, remark)]


def below(paper: str, limit: float, ours: list[float], what: str, remark: str = "") -> list[Statement]:
    """Compares the largest of some differences with a limit."""
    if not ours:
        return []
    return [Statement(paper, f"{what} at most {signed(max(ours))} points", max(ours) <= limit, remark)]


def at_full_size(paper: str, limit: float, line: Mapping[int, float]) -> list[Statement]:
    """Compares a running time at the largest size with the paper's at a million records, where that was measured."""
    if not line:
        return []
    rows = max(line)
    holds = line[rows] < limit if rows == MILLION else None
    return [Statement(paper, f"{line[rows]:.2f} s at {rows:,} records", holds)]


def signed(number: float) -> str:
    """Two decimals, and a real minus sign."""
    return f"{number:.2f}".replace("-", "−")
