"""Numbers as a page writes them: coarse on the page to hand out, exact for the owner."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

MANY = 1_000_000
"""Larger numbers are not written out."""
STEP = 0.05
"""Shares on the page to hand out are rounded to multiples of this."""


class Share(NamedTuple):
    """A share as it is drawn and as it is written."""

    drawn: float
    """From 0 to 1: as coarse as the text, so that a drawing shows no more."""
    text: str


Figure = Callable[[float], Share]
"""How shares are written."""


def coarse(share: float) -> Share:
    """A share to the nearest 5%, and never exactly none or all."""
    if share < STEP:
        return Share(STEP / 2, "under 5%")
    if share > 1 - STEP:
        return Share(1 - STEP / 2, "over 95%")
    steps = round(share / STEP)
    return Share(steps * STEP, f"about {round(steps * STEP * 100)}%")


def exact(share: float) -> Share:
    """A share as it is."""
    return Share(share, f"{share:.1%}")


def about(count: int) -> str:
    """A number of records, rounded to two leading digits, or to one below 1,000."""
    if count < 100:
        return "fewer than 100"
    unit = 10 ** (len(str(count)) - (1 if count < 1000 else 2))
    return f"about {round(count / unit) * unit:,}"


def number(value: float) -> str:
    """A number in a sentence, in three leading digits where it is a fraction."""
    if value > MANY:
        return "more than a million"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
