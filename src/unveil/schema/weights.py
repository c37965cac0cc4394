"""Survey weights: how many people of the population a record represents, and what a release shows of that.

A group has as many records as it has rows, whatever they weigh: k counts respondents.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from unveil.errors import SpecError
from unveil.schema.requirements import AlphaKAnonymity, KAnonymity, Requirement

if TYPE_CHECKING:
    from unveil.schema.attributes import Attribute
    from unveil.schema.sections import AttributeSection, PublishSection, SpecSections

Shown = Literal["exact", "rounded", "group-mean"]
"""What a release shows of a weight: the value, the nearest multiple of a step, or that of the mean of its group."""
MILLIONTHS = 10**6
"""Weights are added up in millionths, so that a sum does not depend on the order of the rows."""


@dataclass(frozen=True)
class Weighting:
    """What a release shows of a survey weight."""

    release: Shown | Literal["no"] = "no"
    step: float | None = None
    groups: tuple[str, ...] = ()
    """For the mean of a group: the quasi-identifier whose groups these are."""


def rounded_weight(value: Fraction, step: float) -> float:
    """The nearest multiple of a step; of two that are equally near, the even one."""
    width = Fraction(str(step))
    return float(round(value / width) * width)


def group_mean(total: int, records: int, step: float) -> float:
    """The mean weight of a group as a release shows it, from the sum in millionths."""
    return rounded_weight(Fraction(total, records * MILLIONTHS), step)


def read_weighting(section: AttributeSection, place: str) -> Weighting:
    """What the owner says about a survey weight."""
    if extra := section.model_fields_set - {"role", "release", "step", "missing"}:
        raise SpecError(
            f"{place} is a survey weight, for which only 'release', 'step' and 'missing' can be given, not "
            f"{sorted(extra)[0]!r}."
        )
    release, step = section.release or "no", section.step
    if release in ("no", "exact"):
        if step is not None:
            raise SpecError(f"{place} has a step, which has no meaning for release = {release!r}.")
        return Weighting(release)
    if step is None:
        raise SpecError(f"{place} lacks the key 'step': what a {release} weight is rounded to, such as 100.")
    if not (math.isfinite(step) and step > 0):
        raise SpecError(f"{place} step is {step:g}, but it must be larger than 0.")
    return Weighting(release, step)


def settled_weights(
    attributes: Mapping[str, Attribute],
    requirements: Sequence[Requirement],
    sections: SpecSections,
    origin: str,
) -> dict[str, Attribute]:
    """The attributes, with the groups that a weight is the mean of; refuses a weight that a release cannot show."""
    found = [item for item in attributes.values() if item.weighting is not None]
    if len(found) > 1:
        raise SpecError(
            f"{origin}: {found[0].name!r} and {found[1].name!r} are both survey weights; only one can be, so make the "
            "other an identifier."
        )
    if found and sections.table.weight is not None:
        raise SpecError(
            f"{origin}: [table] weight says that a row is several records, so {found[0].name!r} cannot be the survey "
            "weight of one; remove one of the two."
        )
    return {item.name: _settled(item, requirements, sections.publish, origin) for item in attributes.values()}


def _settled(
    attribute: Attribute, requirements: Sequence[Requirement], publish: PublishSection, origin: str
) -> Attribute:
    weighting = attribute.weighting
    if weighting is None or weighting.release == "no":
        return attribute
    place = f"{origin}: [attributes.{attribute.name}]"
    if publish.method != "refinement":
        raise SpecError(
            f"{place} release is {weighting.release!r}, but a differentially private release has no survey weights: "
            "remove the key."
        )
    if weighting.release != "group-mean":
        return attribute
    if publish.leave_out is not None:
        raise SpecError(f"{place} release is 'group-mean', which cannot be combined with [publish] leave-out.")
    sized = [item for item in requirements if isinstance(item, KAnonymity | AlphaKAnonymity)]
    if not sized:
        raise SpecError(
            f"{place} release is 'group-mean', but no requirement says how many records a group has (k-anonymity)."
        )
    return replace(attribute, weighting=replace(weighting, groups=tuple(sized[0].attributes)))
