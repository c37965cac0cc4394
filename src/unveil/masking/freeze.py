"""From the cuts at the end of a search to the masking of a release."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from unveil.masking.boxes import REST
from unveil.masking.entries import (
    AsIs,
    Bound,
    Discretization,
    Domain,
    Generalization,
    Generalized,
    Interval,
    Suppression,
    SurveyWeight,
)
from unveil.masking.trees import Block
from unveil.schema import SUPPRESSED, Attribute, Taxonomy, Unit, day_of, plain_number


def freeze(attribute: Attribute, cut: Sequence[Block]) -> Generalization | Suppression | Discretization:
    """The manifest entry of a masked attribute."""
    blocks = sorted(cut, key=lambda block: block.bounds or (block.first, 0))
    facts = _facts(attribute)
    if attribute.taxonomy is not None:
        leaves = attribute.taxonomy.leaves
        return Generalization(
            **facts,
            blocks=tuple(
                Generalized(label=block.label, values=tuple(leaves[code] for code in block.codes.tolist()))
                for block in blocks
            ),
        )
    if attribute.kind == "category":
        disclosed = tuple(block.label for block in blocks if block.label != SUPPRESSED)
        return Suppression(**facts, disclosed=disclosed)
    intervals = tuple(_interval(block, attribute.unit) for block in blocks)
    return Discretization(**facts, unit=attribute.unit, whole=attribute.whole, blocks=intervals)


def vocabulary(attribute: Attribute, blocks: Iterable[Block]) -> Generalization | Suppression | Discretization:
    """The manifest entry of an attribute that is refined group by group, from the blocks of all nodes of its tree.

    They come in any order, the root among them, and a label may come more than once.
    """
    held = {block.label: block for block in blocks}
    facts = _facts(attribute)
    taxonomy = attribute.taxonomy
    if taxonomy is not None:
        found = [_generalized(label, taxonomy) for label in held]
        place_of = {leaf: place for place, leaf in enumerate(taxonomy.leaves)}
        found.sort(key=lambda block: (place_of[block.values[0]], -len(block.values), block.rest))
        return Generalization(**facts, local=True, blocks=tuple(found))
    if attribute.kind == "category":
        disclosed = sorted(
            (block for block in held.values() if block.label != SUPPRESSED), key=lambda block: block.first
        )
        return Suppression(**facts, local=True, disclosed=tuple(block.label for block in disclosed))
    ordered = sorted(held.values(), key=_coarse_first)
    intervals = tuple(_interval(block, attribute.unit) for block in ordered)
    return Discretization(**facts, local=True, unit=attribute.unit, whole=attribute.whole, blocks=intervals)


def _coarse_first(block: Block) -> tuple[float, float]:
    lo, hi = block.bounds or (0, 0)
    return lo, -hi


def _generalized(label: str, taxonomy: Taxonomy) -> Generalized:
    """A label of a vocabulary. A rest lists all leaves of its node: which of them it covers depends on the group."""
    if label in taxonomy:
        return Generalized(label=label, values=taxonomy.leaves_of(label))
    return Generalized(label=label, values=taxonomy.leaves_of(label.removesuffix(REST)), rest=True)


def as_is(attribute: Attribute) -> AsIs:
    """The manifest entry of an attribute in no requirement."""
    weighting = attribute.weighting
    if weighting is None or weighting.release == "no":
        return AsIs(**_facts(attribute), type=attribute.kind)
    shown = SurveyWeight(release=weighting.release, step=weighting.step, groups=weighting.groups)
    return AsIs(domain="observed", type="number", survey_weight=shown)


def _facts(attribute: Attribute) -> dict[str, Any]:
    """What an entry says about the attribute, however it is masked."""
    return {"domain": domain_of(attribute), "missing": dict(attribute.missing.kinds)}


def domain_of(attribute: Attribute) -> Domain:
    """Whether a person declared the attribute's domain."""
    return "declared" if attribute.declared else "observed"


def _interval(block: Block, unit: Unit) -> Interval:
    lo, hi = (None, None) if block.numbers is None else (_plain(bound, unit) for bound in block.numbers)
    return Interval(label=block.label, from_=lo, to=hi, missing=block.missing)


def _plain(value: float, unit: Unit) -> Bound:
    """A date for days, and an int for a whole number, so that the manifest says `17` and not `17.0`."""
    if unit == "date":
        return day_of(value)
    return plain_number(value)
