"""Number lines: the intervals of a discretization, to scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unveil.masking import Discretization
from unveil.reports.drawings import EDGE, MARK, SIZE, WIDTH, text_width
from unveil.schema import bound_text

GAP = 8.0


@dataclass(frozen=True)
class Tick:
    """A bound with its number; where there is no room for it, the number is left out."""

    x: float
    text: str | None
    anchor: str = "middle"


@dataclass(frozen=True)
class Segment:
    """An interval on the line."""

    x: float
    width: float
    label: str


@dataclass(frozen=True)
class NumberLine:
    """The range of a number, and how it is divided."""

    title: str
    segments: tuple[Segment, ...]
    ticks: tuple[Tick, ...]
    words: str
    height: float = 48.0


def number_line(name: str, entry: Discretization) -> NumberLine:
    """Draws the intervals of a number."""
    lo, hi = entry.blocks[0].lo, entry.blocks[-1].hi
    scale = (WIDTH - 2 * EDGE) / (hi - lo)
    edges = [EDGE + (block.lo - lo) * scale for block in entry.blocks] + [WIDTH - EDGE]
    segments = tuple(
        Segment(start, end - start, block.label)
        for block, start, end in zip(entry.blocks, edges, edges[1:], strict=False)
    )
    texts = [bound_text(bound, entry.unit) for bound in [*(block.lo for block in entry.blocks), hi]]
    words = "The intervals " + ", ".join(block.label for block in entry.blocks[:20])
    words += f" {MARK}" if len(entry.blocks) > 20 else "."
    return NumberLine(f"Number line of {name}", segments, tuple(_ticks(edges, texts)), words)


def _ticks(edges: Sequence[float], texts: Sequence[str]) -> list[Tick]:
    """The ends always have their number; of the others, from the left, those that have room."""
    last = len(edges) - 1
    ticks = [Tick(edges[0], texts[0], "start")]
    taken, limit = edges[0] + text_width(texts[0], SIZE - 1), edges[last] - text_width(texts[last], SIZE - 1)
    for x, text in zip(edges[1:last], texts[1:last], strict=True):
        half = text_width(text, SIZE - 1) / 2
        fits = x - half > taken + GAP and x + half < limit - GAP
        ticks.append(Tick(x, text if fits else None))
        taken = x + half if fits else taken
    return [*ticks, Tick(edges[last], texts[last], "end")]
