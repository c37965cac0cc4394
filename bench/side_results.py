"""What the tools made of the same rows, and where it is kept."""

from __future__ import annotations

import json
from dataclasses import dataclass

from places import CACHE
from same_k_results import Worth

KEPT = CACHE / "side-by-side.json"
HEADER = (
    *("rows", "tool", "seconds", "ratio", "CPU", "GB", "left out", "k"),
    *("tree error", "boosting error", "AUC", "NCP", "one-way", "two-way"),
)
UNVEIL = "unveil"


@dataclass(frozen=True)
class Outcome:
    """One tool on one table. Figures that do not exist are None: it was stopped, or nothing was run."""

    rows: int
    tool: str
    seconds: float | None = None
    cpu: float | None = None
    peak: int | None = None
    k: int | None = None
    """As pycanon counts it."""
    worth: Worth | None = None
    stopped: float | None = None
    """The seconds after which it was stopped."""


def outcomes() -> list[Outcome]:
    """What the last run found."""
    if not KEPT.exists():
        return []
    held = json.loads(KEPT.read_text(encoding="utf-8"))["outcomes"]
    return [Outcome(**{**one, "worth": None if one["worth"] is None else Worth(**one["worth"])}) for one in held]


def lines(outcomes: list[Outcome]) -> list[tuple[str, ...]]:
    """The outcomes as the cells of a table; seconds also as a multiple of unveil's on the same rows."""
    own = {one.rows: one.seconds for one in outcomes if one.tool == UNVEIL}
    return [_cells(one, own.get(one.rows)) for one in outcomes]


def _cells(one: Outcome, own: float | None) -> tuple[str, ...]:
    ratio = one.seconds / own if one.seconds and own else None
    used = ((one.seconds, ".1f"), (ratio, ".1f"), (one.cpu, ".1f"), (one.peak and one.peak / 1e9, ".2f"))
    worth = one.worth
    kept = () if worth is None else (worth.tree, worth.boosting, worth.auc, worth.penalty, worth.one_way, worth.two_way)
    figures = (*used, (None if worth is None else 1 - worth.released / one.rows, ".1%"), (one.k, ",d"))
    shown = ["" if figure is None else format(figure, form) for figure, form in figures]
    if one.stopped is not None:
        shown[0] = f"over {one.stopped:.0f}"
    cells = (f"{one.rows:,}", one.tool, *shown, *(f"{share:.1%}" for share in kept))
    return (*cells, *[""] * (len(HEADER) - len(cells)))
