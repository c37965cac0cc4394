"""Where the parts of a drawing are. Templates turn these into SVG.

All drawings are as wide as a phone, so that their text is as readable there as on a large screen.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, floor

WIDTH = 360.0
SIZE = 13.0
"""The size of text, in the same units as the width."""
BAR_ROW = 36.0
TREE_ROW = 22.0
EDGE = 4.0
SIDE = 20.0
"""The room at both ends of a scale: half of a figure."""
MARK = "…"
STEPS = (1, 2, 5, 10, 20)
"""Distances between the figures of a scale, in percent."""
MOST_STEPS = 5


def text_width(text: str, size: float = SIZE) -> float:
    """How wide a text is at most, in any common sans-serif font."""
    return size * sum(map(_char_width, text))


def _char_width(char: str) -> float:
    if unicodedata.east_asian_width(char) in "WF" or ord(char) > 0x1F000:
        return 1.1
    if char in "iljtfrI.,:;|!'()[] ":
        return 0.42
    if char in "mwMW@%—…":
        return 1.0
    return 0.8 if char.isupper() else 0.66


def fitted(text: str, room: float, size: float = SIZE) -> str:
    """A text that fits, cut where it is too long."""
    ends = list(accumulate(size * _char_width(char) for char in text))
    if not ends or ends[-1] <= room:
        return text
    left = room - text_width(MARK, size)
    return text[: sum(end <= left for end in ends)].rstrip() + MARK


@dataclass(frozen=True)
class Bar:
    """A row of a bar chart."""

    label: str
    share: float | None
    """None where there is a text and nothing to draw."""
    text: str


@dataclass(frozen=True)
class PlacedBar:
    """A bar and where it is."""

    full: str
    label: str
    text: str
    y: float
    length: float | None


@dataclass(frozen=True)
class Bars:
    """A bar chart of shares: the label is above its bar, the figure at the right."""

    title: str
    bars: tuple[PlacedBar, ...]
    words: str
    """The chart in a sentence, for readers who do not see it."""

    @classmethod
    def of(cls, title: str, bars: Sequence[Bar]) -> Bars:
        """Places bars below each other."""
        return cls(title, tuple(_placed(bar, row) for row, bar in enumerate(bars)), _words(bars))

    @property
    def height(self) -> float:
        """The height of the drawing."""
        return BAR_ROW * len(self.bars) + EDGE


def _placed(bar: Bar, row: int) -> PlacedBar:
    room = WIDTH - 2 * EDGE - text_width(bar.text) - 2 * SIZE
    length = None if bar.share is None else (WIDTH - 2 * EDGE) * bar.share
    return PlacedBar(bar.label, fitted(bar.label, room), bar.text, BAR_ROW * row, length)


def _words(bars: Sequence[Bar]) -> str:
    return "; ".join(f"{bar.label}: {bar.text}" for bar in bars) + "."


@dataclass(frozen=True)
class Dot:
    """A row of a dot chart: a value and, where it is known, its interval."""

    label: str
    mark: str
    """What is drawn at the value; every row of a chart has a mark of its own."""
    value: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class PlacedDot:
    """A dot and where it is."""

    full: str
    label: str
    mark: str
    text: str
    y: float
    at: float
    low: float
    high: float


@dataclass(frozen=True)
class Dots:
    """Values on one scale, each in a row of its own."""

    title: str
    dots: tuple[PlacedDot, ...]
    ticks: tuple[tuple[float, str], ...]
    words: str

    @classmethod
    def of(cls, title: str, dots: Sequence[Dot]) -> Dots:
        """Places dots on a scale that begins and ends close to them, so that small differences are seen."""
        ticks = scale(min(dot.low for dot in dots), max(dot.high for dot in dots))
        placed = tuple(_placed_dot(dot, row, ticks) for row, dot in enumerate(dots))
        words = "; ".join(f"{dot.label}: {dot.text}" for dot in dots) + "."
        return cls(title, placed, tuple((_along(tick, ticks), f"{tick:.0%}") for tick in ticks), words)

    @property
    def bottom(self) -> float:
        """Where the rows end and the figures of the scale begin."""
        return BAR_ROW * len(self.dots)

    @property
    def height(self) -> float:
        """The height of the drawing, with a line for the figures of the scale."""
        return self.bottom + SIZE + EDGE


def scale(low: float, high: float) -> list[float]:
    """Round percentages at equal distances, from one below all values to one above them."""
    step = next(step for step in STEPS if (high - low) * 100 <= MOST_STEPS * step)
    first = max(0, floor(low * 100 / step - 1e-9))
    last = min(100 // step, max(ceil(high * 100 / step + 1e-9), first + 2))
    return [place * step / 100 for place in range(min(first, last - 2), last + 1)]


def _placed_dot(dot: Dot, row: int, ticks: Sequence[float]) -> PlacedDot:
    room = WIDTH - 2 * EDGE - text_width(dot.text) - 2 * SIZE
    at, low, high = (_along(value, ticks) for value in (dot.value, dot.low, dot.high))
    return PlacedDot(dot.label, fitted(dot.label, room), dot.mark, dot.text, BAR_ROW * row, at, low, high)


def _along(value: float, ticks: Sequence[float]) -> float:
    """Where a value is on the scale, with room for a mark at both of its ends."""
    share = (min(max(value, ticks[0]), ticks[-1]) - ticks[0]) / (ticks[-1] - ticks[0])
    return SIDE + (WIDTH - 2 * SIDE) * share
