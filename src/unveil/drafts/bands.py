"""Bands written as text, such as `[0-10)`, `5 to 9`, `under 5` and `65+`: ordered, and joined into broader bands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from unveil.drafts.values import Paths, Proposal, UnfitError, Values
from unveil.schema import number_text

NUMBER = r"(\d+(?:\.\d+)?)"
BETWEEN = re.compile(rf"[\[(]?\s*{NUMBER}\s*(?:-|–|to|,)\s*{NUMBER}\s*[\])]?(?: years)?", re.I)
BELOW = re.compile(rf"(?:under|below|less than|<)\s*{NUMBER}(?: years)?", re.I)
ABOVE = re.compile(rf"(?:over|above|>=?|≥)\s*{NUMBER}(?: years)?|{NUMBER}\s*(?:\+|and (?:above|over)|or more)", re.I)
CHILDREN = 3
"""How many bands are joined into one."""


class Band(NamedTuple):
    """A band: where it starts and ends, as far as its text says so."""

    start: float
    end: float | None
    text: str


def by_bands(values: Values, *, asked: bool) -> Proposal:
    """All values are bands of numbers, at least three; no two start at the same number."""
    bands = sorted((_band(text) for text in values.counts), key=lambda band: band.start)
    if len(bands) < CHILDREN:
        raise UnfitError("there are fewer than three bands")
    for one, other in pairwise(bands):
        if one.start == other.start:
            raise UnfitError(f"the bands {one.text!r} and {other.text!r} start at the same number")
    paths: Paths = {}
    _place(bands, (), paths)
    return Proposal(
        paths, f"all {len(paths):,} values are bands of numbers, from {bands[0].text!r} to {bands[-1].text!r}"
    )


def _band(text: str) -> Band:
    if (found := BETWEEN.fullmatch(text)) and float(found[1]) < float(found[2]):
        return Band(float(found[1]), float(found[2]), text)
    if found := BELOW.fullmatch(text):
        return Band(float("-inf"), float(found[1]), text)
    if found := ABOVE.fullmatch(text):
        return Band(float(found[1] or found[2]), None, text)
    raise UnfitError(f"the value {text!r} is not a band of numbers")


def _place(bands: Sequence[Band], above: tuple[str, ...], paths: Paths) -> None:
    """Neighbours are joined, three at a time from the top down."""
    if len(bands) <= CHILDREN:
        paths.update({band.text: above for band in bands})
        return
    size = -(-len(bands) // CHILDREN)
    for start in range(0, len(bands), size):
        part = bands[start : start + size]
        _place(part, above if len(part) == 1 else (*above, _label(part)), paths)


def _label(bands: Sequence[Band]) -> str:
    lo, hi = bands[0].start, bands[-1].end
    if hi is None:
        return "every band" if lo == float("-inf") else f"{number_text(lo)} and above"
    return f"up to {number_text(hi)}" if lo == float("-inf") else f"{number_text(lo)} to {number_text(hi)}"
