"""From the cuts at the end of a search to the masking of a release."""

from __future__ import annotations

from collections.abc import Sequence

from unveil.masking.blocks import Block
from unveil.masking.entries import (
    AsIs,
    Bound,
    Discretization,
    Domain,
    Generalization,
    Generalized,
    Interval,
    Suppression,
)
from unveil.schema import SUPPRESSED, Attribute, Unit, day_of, plain_number


def freeze(attribute: Attribute, cut: Sequence[Block]) -> Generalization | Suppression | Discretization:
    """The manifest entry of a masked attribute."""
    blocks = sorted(cut, key=lambda block: block.bounds or (block.first, 0))
    domain = domain_of(attribute)
    if attribute.taxonomy is not None:
        leaves_of = attribute.taxonomy.leaves_of
        return Generalization(
            domain=domain,
            blocks=tuple(Generalized(label=block.label, values=leaves_of(block.label)) for block in blocks),
        )
    if attribute.kind == "category":
        disclosed = tuple(block.label for block in blocks if block.label != SUPPRESSED)
        return Suppression(domain=domain, disclosed=disclosed)
    intervals = tuple(_interval(block, attribute.unit) for block in blocks if block.bounds is not None)
    return Discretization(domain=domain, unit=attribute.unit, whole=attribute.whole, blocks=intervals)


def as_is(attribute: Attribute) -> AsIs:
    """The manifest entry of an attribute in no requirement."""
    return AsIs(domain=domain_of(attribute), type=attribute.kind)


def domain_of(attribute: Attribute) -> Domain:
    """Whether a person declared the attribute's domain."""
    return "declared" if attribute.declared else "observed"


def _interval(block: Block, unit: Unit) -> Interval:
    lo, hi = block.bounds or (0, 0)
    return Interval(label=block.label, from_=_plain(lo, unit), to=_plain(hi, unit))


def _plain(value: float, unit: Unit) -> Bound:
    """A date for days, and an int for a whole number, so that the manifest says `17` and not `17.0`."""
    if unit == "date":
        return day_of(value)
    return plain_number(value)
