"""What a page says in numbers: shares of records by label and by size of group; coarse, or exact for the owner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, pairwise
from typing import NamedTuple

from unveil.arrays import IntArray
from unveil.errors import named
from unveil.evaluation.information import block_penalties, label_records, promised_k
from unveil.evaluation.reidentification import GroupSummary, refinement_manifest
from unveil.masking import AsIs, Discretization, Generalization, Suppression
from unveil.release import Release
from unveil.reports.drawings import Bar, Bars
from unveil.schema import Spec

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


Masked = Generalization | Suppression | Discretization
"""How a column that holds labels is masked."""


def label_shares(release: Release, name: str) -> dict[str, float]:
    """The share of the records that hold each label of a masked column; noisy counts are taken as they are."""
    records = label_records(release, name)
    total = sum(records.values()) or 1
    return {label: held / total for label, held in records.items()}


def possible_values(entry: Generalization | Discretization, step: float | None) -> int | None:
    """How many values the labels of a column represent together; None for numbers without a known step."""
    if isinstance(entry, Generalization):
        return sum(len(block.values) for block in entry.blocks)
    step = 1.0 if entry.whole else step
    scale = entry.scale
    return None if step is None else round((scale.hi - scale.lo) / step) + len(scale.missing)


BANDS = {0.0: "one value", 0.1: "up to a tenth", 0.25: "up to a quarter", 0.5: "up to half", 1.0: "more than half"}
"""Classes of how much of all possible values a label covers, by the most in each."""


def fineness(release: Release, name: str, figure: Figure, step: float | None) -> Bars:
    """How fine the labels of an attribute are, as a distribution over the records."""
    entry = release.masking[name]
    if isinstance(entry, Suppression):
        costs = {entry.marker: 1.0}
    else:
        costs = {} if isinstance(entry, AsIs) else block_penalties(entry, step)
    held = dict.fromkeys(BANDS, 0.0)
    for label, share in label_shares(release, name).items():
        held[next(most for most in BANDS if costs.get(label, 0.0) <= most)] += share
    bars = [Bar(words, *figure(held[most])) for most, words in BANDS.items() if held[most]]
    return Bars(f"How much of all values of {name} the label of a record covers", bars)


def detail_chart(release: Release, figure: Figure, spec: Spec | None) -> Bars:
    """How many of the possible values of every masked attribute the release distinguishes."""
    masked = {name: entry for name, entry in release.masking.columns.items() if not isinstance(entry, AsIs)}
    bars = [_detail(release, name, entry, figure, spec) for name, entry in masked.items()]
    return Bars("Values distinguished, of all possible values", bars)


def _detail(release: Release, name: str, entry: Masked, figure: Figure, spec: Spec | None) -> Bar:
    if len(entry.shown) == 1:
        return Bar(name, 0.0, "none")
    if isinstance(entry, Suppression):
        # How many values are hidden is not public, so there is no share of them to draw.
        return Bar(name, None, f"hidden: {figure(label_shares(release, name).get(entry.marker, 0.0)).text} of records")
    if entry.local:
        return Bar(name, None, f"{len(entry.blocks):,} labels, by group")
    values = possible_values(entry, None if spec is None else spec.attributes[name].step)
    if values is None:
        return Bar(name, None, f"{len(entry.blocks):,} intervals")
    return Bar(name, len(entry.blocks) / values, f"{len(entry.blocks):,} of {values:,}")


SMALL = 5
"""Without a promised size, groups below this are one class."""
CLASSES = 8
"""At most this many classes; the last one is open."""


def groups_chart(release: Release, summary: GroupSummary, figure: Figure) -> Bars:
    """The sizes of the groups that a requirement of the release is about."""
    classes = size_classes(summary.sizes, promised_k(refinement_manifest(release), summary.names), summary.unit)
    title = f"Share of the {summary.unit}s by the size of their group on {named(summary.names)}"
    return Bars(title, [Bar(text, *figure(share)) for text, share in classes.items()])


def size_classes(sizes: IntArray, k: int, unit: str = "record") -> dict[str, float]:
    """The share of the records, or persons, in groups of each class of sizes, from the promised k upwards.

    Bounds depend on k alone; only how many classes there are follows from the largest group.
    """
    bounds: list[int] = []
    for bound in _bounds(k):
        if len(bounds) == CLASSES or (bounds and bound > sizes[-1]):
            break
        bounds.append(bound)
    shares = {}
    for lo, hi in pairwise([*bounds, None]):
        inside = sizes[(sizes >= (lo or 0)) & (sizes < (hi or sizes[-1] + 1))]
        shares[_class_text(lo or 0, hi, f"{unit}s")] = float(inside.sum() / sizes.sum())
    return shares


def _bounds(k: int) -> Iterator[int]:
    if k <= 1:
        yield 1
    start = k if k > 1 else SMALL
    for power in count():
        for step in (1, 2, 5):
            yield start * step * 10**power


def _class_text(lo: int, hi: int | None, units: str) -> str:
    if hi is None:
        return f"{lo:,} or more {units}"
    return f"fewer than {hi:,} {units}" if lo == 1 else f"{lo:,} to {hi - 1:,} {units}"
