"""Where the parts of a drawing stand. Templates turn these into SVG.

All drawings are as wide as a phone, so that their text is as readable there as on a large screen.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 360.0
SIZE = 13.0
"""The size of text, in the same units as the width."""
BAR_ROW = 36.0
TREE_ROW = 22.0
EDGE = 4.0
MARK = "…"


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
    if text_width(text, size) <= room:
        return text
    while text and text_width(text + MARK, size) > room:
        text = text[:-1]
    return text.rstrip() + MARK


@dataclass(frozen=True)
class Bar:
    """A row of a bar chart."""

    label: str
    share: float
    text: str


@dataclass(frozen=True)
class PlacedBar:
    """A bar and where it stands."""

    full: str
    label: str
    text: str
    y: float
    length: float


@dataclass(frozen=True)
class Bars:
    """A bar chart of shares: the label stands above its bar, the figure at the right."""

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
    return PlacedBar(bar.label, fitted(bar.label, room), bar.text, BAR_ROW * row, (WIDTH - 2 * EDGE) * bar.share)


def _words(bars: Sequence[Bar]) -> str:
    return "; ".join(f"{bar.label}: {bar.text}" for bar in bars) + "."


@dataclass(frozen=True)
class Dot:
    """A row of a dot chart: a value and, where it is known, its interval."""

    label: str
    value: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class PlacedDot:
    """A dot and where it stands."""

    full: str
    label: str
    text: str
    y: float
    at: float
    low: float
    high: float


@dataclass(frozen=True)
class Dots:
    """Values on one scale, each on a track of its own, with the reference values marked on every track."""

    title: str
    dots: tuple[PlacedDot, ...]
    references: tuple[float, ...]
    ends: tuple[str, str]
    words: str

    @classmethod
    def of(cls, title: str, dots: Sequence[Dot], references: Sequence[float]) -> Dots:
        """Places dots on a scale that starts at a round share below all of them and ends at 1."""
        least = min(min(dot.low, dot.value) for dot in dots)
        start = max(0.0, int(least * 10 - 1e-9) / 10)
        placed = tuple(_placed_dot(dot, row, start) for row, dot in enumerate(dots))
        words = "; ".join(f"{dot.label}: {dot.text}" for dot in dots) + "."
        return cls(title, placed, tuple(_along(value, start) for value in references), (f"{start:.0%}", "100%"), words)

    @property
    def height(self) -> float:
        """The height of the drawing, with a line for the ends of the scale."""
        return BAR_ROW * len(self.dots) + SIZE + EDGE


def _placed_dot(dot: Dot, row: int, start: float) -> PlacedDot:
    room = WIDTH - 2 * EDGE - text_width(dot.text) - 2 * SIZE
    at, low, high = (_along(value, start) for value in (dot.value, dot.low, dot.high))
    return PlacedDot(dot.label, fitted(dot.label, room), dot.text, BAR_ROW * row, at, low, high)


def _along(value: float, start: float) -> float:
    share = (min(max(value, start), 1.0) - start) / (1 - start) if start < 1 else 1.0
    return EDGE + (WIDTH - 2 * EDGE) * share
