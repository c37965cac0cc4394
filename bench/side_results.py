"""What the tools made of the same rows, and where it is kept."""

from __future__ import annotations

from dataclasses import dataclass

from places import CACHE

KEPT = CACHE / "side-by-side.json"
HEADER = ("rows", "tool", "seconds", "ratio", "CPU", "GB", "released", "k", "NCP", "accuracy", "raw test")
UNVEIL = "unveil"


@dataclass(frozen=True)
class Outcome:
    """One tool on one table. Figures that do not exist are None: it was stopped, or cannot mask the test rows."""

    rows: int
    tool: str
    seconds: float | None = None
    cpu: float | None = None
    peak: int | None = None
    released: int | None = None
    k: int | None = None
    penalty: float | None = None
    accuracy: float | None = None
    raw_accuracy: float | None = None


def lines(outcomes: list[Outcome]) -> list[tuple[str, ...]]:
    """The outcomes as the cells of a table; seconds also as a multiple of unveil's on the same rows."""
    own = {one.rows: one.seconds for one in outcomes if one.tool == UNVEIL}
    return [_cells(one, own.get(one.rows)) for one in outcomes]


def _cells(one: Outcome, own: float | None) -> tuple[str, ...]:
    ratio = one.seconds / own if one.seconds and own else None
    facts = ((one.seconds, ".1f"), (ratio, ".1f"), (one.cpu, ".1f"), (one.peak and one.peak / 1e9, ".2f"))
    worth = ((one.released, ",d"), (one.k, ",d"), (one.penalty, ".1%"))
    learned = ((one.accuracy, ".1%"), (one.raw_accuracy, ".1%"))
    return (
        f"{one.rows:,}",
        one.tool,
        *("" if figure is None else format(figure, form) for figure, form in (*facts, *worth, *learned)),
    )
