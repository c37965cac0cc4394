"""From the cuts that a search ends with to the masking that a release carries."""

from __future__ import annotations

from collections.abc import Sequence

from unveil.masking.blocks import Block
from unveil.masking.masking import (
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
    """The manifest entry of an attribute that no requirement holds."""
    return AsIs(domain=domain_of(attribute), type=attribute.kind)


def domain_of(attribute: Attribute) -> Domain:
    """Whether a person declared the attribute's domain."""
    return "declared" if attribute.declared else "observed"


def _interval(block: Block, unit: Unit) -> Interval:
    lo, hi = block.bounds or (0, 0)
    return Interval(label=block.label, from_=_plain(lo, unit), to=_plain(hi, unit))


def _plain(value: float, unit: Unit) -> Bound:
    """A date as such, and a whole number as an int, so that the manifest reads `17` and not `17.0`."""
    if unit == "date":
        return day_of(value)
    return plain_number(value)
