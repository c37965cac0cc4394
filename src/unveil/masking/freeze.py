"""From the cuts at the end of a search to the masking of a release."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from unveil.masking.boxes import REST
from unveil.masking.entries import (
    AsIs,
    Bound,
    Discretization,
    Generalization,
    Generalized,
    Interval,
    Masked,
    Suppression,
    SurveyWeight,
)
from unveil.masking.trees import Block
from unveil.schema import SUPPRESSED, Attribute, Taxonomy, Unit, day_of, plain_number


def freeze(attribute: Attribute, cut: Iterable[Block]) -> Masked:
    """The manifest entry of a masked attribute."""
    if attribute.taxonomy is None:
        return _without_taxonomy(attribute, cut, local=False)
    leaves = attribute.taxonomy.leaves
    blocks = (
        Generalized(label=block.label, values=tuple(leaves[code] for code in block.codes.tolist()))
        for block in sorted(cut, key=lambda block: block.first)
    )
    return Generalization(**_facts(attribute), blocks=tuple(blocks))


def vocabulary(attribute: Attribute, blocks: Iterable[Block]) -> Masked:
    """The manifest entry of an attribute that is refined group by group, from the blocks of all nodes of its tree.

    They come in any order, the root among them, and a label may come more than once.
    """
    held, taxonomy = {block.label: block for block in blocks}, attribute.taxonomy
    if taxonomy is None:
        return _without_taxonomy(attribute, held.values(), local=True)
    place_of = {leaf: place for place, leaf in enumerate(taxonomy.leaves)}
    found = sorted(
        (_generalized(label, taxonomy) for label in held),
        key=lambda block: (place_of[block.values[0]], -len(block.values), block.rest),
    )
    return Generalization(**_facts(attribute), local=True, blocks=tuple(found))


def _without_taxonomy(attribute: Attribute, blocks: Iterable[Block], *, local: bool) -> Suppression | Discretization:
    facts = {**_facts(attribute), "local": local}
    if attribute.kind == "category":
        disclosed = sorted((block for block in blocks if block.label != SUPPRESSED), key=lambda block: block.first)
        return Suppression(**facts, disclosed=tuple(block.label for block in disclosed))
    intervals = tuple(_interval(block, attribute.unit) for block in sorted(blocks, key=_coarse_first))
    return Discretization(**facts, unit=attribute.unit, whole=attribute.whole, blocks=intervals)


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
    return {"domain": "declared" if attribute.declared else "observed", "missing": dict(attribute.missing.kinds)}


def _interval(block: Block, unit: Unit) -> Interval:
    lo, hi = (None, None) if block.numbers is None else (_plain(bound, unit) for bound in block.numbers)
    return Interval(label=block.label, from_=lo, to=hi, missing=block.missing)


def _plain(value: float, unit: Unit) -> Bound:
    """A date for days, and an int for a whole number, so that the manifest says `17` and not `17.0`."""
    return day_of(value) if unit == "date" else plain_number(value)
