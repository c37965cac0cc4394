"""Where the parts of a drawing are: bars, dots and number lines. Templates turn these into SVG.

All drawings are as wide as a phone, so that their text is as readable there as on a large screen.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import ceil, floor

from unveil.masking import Discretization
from unveil.schema import bound_text

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


def fitted(text: str, room: float) -> str:
    """A text that fits, cut where it is too long."""
    ends = list(accumulate(SIZE * _char_width(char) for char in text))
    if not ends or ends[-1] <= room:
        return text
    left = room - text_width(MARK)
    return text[: sum(end <= left for end in ends)].rstrip() + MARK


@dataclass(frozen=True)
class Bar:
    """A row of a bar chart: the label is above its bar, the figure at the right."""

    full: str
    share: float | None
    """None where there is a text and nothing to draw."""
    text: str

    @property
    def label(self) -> str:
        """As much of the label as fits."""
        return _above_bar(self.full, self.text)

    @property
    def length(self) -> float | None:
        """How long the bar is."""
        return None if self.share is None else (WIDTH - 2 * EDGE) * self.share


@dataclass(frozen=True)
class Bars:
    """A bar chart of shares."""

    title: str
    bars: Sequence[Bar]

    @property
    def words(self) -> str:
        """The chart in a sentence, for readers who do not see it."""
        return _words(self.bars)

    @property
    def height(self) -> float:
        """The height of the drawing."""
        return BAR_ROW * len(self.bars) + EDGE


def _above_bar(label: str, text: str) -> str:
    """As much of a label as leaves room for a figure at the right."""
    return fitted(label, WIDTH - 2 * EDGE - text_width(text) - 2 * SIZE)


def _words(rows: Sequence[Bar | Dot]) -> str:
    return "; ".join(f"{row.full}: {row.text}" for row in rows) + "."


@dataclass(frozen=True)
class Dot:
    """A row of a dot chart: a value and, where it is known, its interval."""

    full: str
    mark: str
    """What is drawn at the value; every row of a chart has its own mark."""
    value: float
    low: float
    high: float
    text: str

    @property
    def label(self) -> str:
        """As much of the label as fits."""
        return _above_bar(self.full, self.text)


@dataclass(frozen=True)
class Dots:
    """Values, each in its own row, on a scale that begins and ends close to them: small differences are seen."""

    title: str
    dots: Sequence[Dot]

    @cached_property
    def _scale(self) -> list[float]:
        return scale(min(dot.low for dot in self.dots), max(dot.high for dot in self.dots))

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """The figures of the scale, and where they are."""
        return [(self.along(tick), f"{tick:.0%}") for tick in self._scale]

    def along(self, value: float) -> float:
        """Where a value is on the scale, with room for a mark at both of its ends."""
        low, high = self._scale[0], self._scale[-1]
        return SIDE + (WIDTH - 2 * SIDE) * ((min(max(value, low), high) - low) / (high - low))

    @property
    def words(self) -> str:
        """The chart in a sentence, for readers who do not see it."""
        return _words(self.dots)

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
    """Draws the intervals of a number; missing values have no place on the line."""
    blocks = [block for block in entry.blocks if block.numbers is not None]
    lo, hi = blocks[0].lo, blocks[-1].hi
    scale = (WIDTH - 2 * EDGE) / (hi - lo)
    edges = [EDGE + (block.lo - lo) * scale for block in blocks] + [WIDTH - EDGE]
    segments = tuple(
        Segment(start, end - start, block.label) for block, start, end in zip(blocks, edges, edges[1:], strict=False)
    )
    texts = [bound_text(bound, entry.unit) for bound in [*(block.lo for block in blocks), hi]]
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
