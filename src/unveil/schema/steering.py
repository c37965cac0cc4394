"""How the owner steers a search: how it refines, what it is good for, and how fine each attribute must or may be."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from unveil.errors import SpecError, did_you_mean
from unveil.schema.attributes import Attribute, Fineness, number_text
from unveil.schema.grid import MONTHS, fraction
from unveil.schema.requirements import Requirement
from unveil.schema.sections import AttributeSection, Goal, PublishSection, Recoding, SearchName, check_described
from unveil.schema.sentences import toml_text
from unveil.schema.taxonomy import Taxonomy

PERCENT_DECIMALS = 6
"""How many decimals a percentage of records may have."""
PERCENTAGE = re.compile(rf"(\d{{1,3}}(?:\.\d{{1,{PERCENT_DECIMALS}}})?) ?%", re.ASCII)
SHARE_STEPS = 100 * 10**PERCENT_DECIMALS
OF_THE_PAPER = {"criterion": ("score", "infogain"), "bounds": ("observed",)}
"""The values of keys of `[publish]` that choose among the paper's own ways, so that they imply its search."""


def search_of(publish: PublishSection) -> SearchName:
    """The search of a spec: the one it names, or the joint one, unless a key asks for a way of the paper's."""
    if publish.search is not None:
        return publish.search
    return "paper" if _ways_of_the_paper(publish) else "joint"


def _ways_of_the_paper(publish: PublishSection) -> list[str]:
    return [key for key, values in OF_THE_PAPER.items() if getattr(publish, key) in values]


def recoding_of(publish: PublishSection) -> Recoding:
    """Whether blocks are refined everywhere at once, or group by group, which is finer."""
    return publish.recoding or ("local" if search_of(publish) == "joint" else "global")


def share_of(publish: PublishSection, key: str, origin: str) -> Fraction:
    """The share of the rows that a key of `[publish]` sets aside."""
    written = getattr(publish, key.replace("-", "_"))
    if written is None:
        return Fraction(0)
    found = PERCENTAGE.fullmatch(written)
    if found is None or (percentage := Fraction(found[1])) >= 100:
        raise SpecError(
            f"{origin}: [publish] {key} is {written!r}, but it must be a percentage below 100%, such as '1%'."
        )
    return percentage / 100


def rounded_down(share: Fraction | float) -> Fraction:
    """A share with the decimals that a percentage may have, so that a release can state the share that it keeps to."""
    exact = fraction(share) if isinstance(share, float) else share
    return Fraction(int(exact * SHARE_STEPS), SHARE_STEPS)


def share_text(share: Fraction) -> str:
    """Such a share as a percentage."""
    return f"{Decimal(int(share * SHARE_STEPS)).scaleb(-PERCENT_DECIMALS).normalize():f}%"


def share_above(records: int, total: int) -> str:
    """The smallest percentage, with two decimals at least, that is at least this part of all records."""
    hundredths = -(-10_000 * records // total)
    return f"{Decimal(hundredths).scaleb(-2).normalize():f}%"


def steered(attribute: Attribute, section: AttributeSection, place: str) -> Attribute:
    """The attribute with its weight in the search, and with the bounds on its fineness read and checked."""
    keep = _fineness("keep", section.keep, attribute, place)
    finest = _fineness("finest", section.finest, attribute, place)
    if keep is not None and finest is not None and (why := _too_fine(keep, finest, attribute)):
        raise SpecError(
            f"{place} keep is {toml_text(section.keep)}, finer than finest, {toml_text(section.finest)}: {why}."
        )
    weight = 1.0 if section.weight is None else section.weight
    if not (math.isfinite(weight) and weight > 0):
        raise SpecError(f"{place} weight is {weight:g}, but it must be above 0 and finite.")
    return replace(attribute, gain_weight=weight, keep=keep, finest=finest)


def _fineness(key: str, value: Any, attribute: Attribute, place: str) -> Fineness | None:
    place = f"{place} {key}"
    if value is None:
        return None
    if attribute.taxonomy is not None:
        return _cut(value, attribute.taxonomy, place)
    if attribute.kind == "category" and key == "finest":
        raise SpecError(f"{place} needs a taxonomy, whose labels say which values are never distinguished.")
    if attribute.kind == "category":
        return _values(value, attribute.values, place)
    return _step(value, attribute, place)


def _cut(value: Any, taxonomy: Taxonomy, place: str) -> tuple[str, ...]:
    """The labels of a cut, in tree order, from a depth below the root or from the labels themselves."""
    if isinstance(value, int):
        deepest = taxonomy.depth - 1
        if not 0 <= value <= deepest:
            raise SpecError(f"{place} is {value}, but {taxonomy.origin} has the levels 0 to {deepest} below its root.")
        return tuple(node.label for node in taxonomy.root.level(value))
    if not isinstance(value, tuple):
        raise SpecError(f"{place} is {toml_text(value)}, but it must be a depth below the root or a list of labels.")
    for label in value:
        if label not in taxonomy:
            hint = did_you_mean(label, taxonomy.labels) or "."
            raise SpecError(f"{place} names {label!r}, which is not a label of {taxonomy.origin}{hint}")
    nodes = sorted((taxonomy.node(label) for label in value), key=lambda node: (node.lo, -node.hi))
    reached = 0
    for node in nodes:
        if node.lo < reached:
            raise SpecError(
                f"{place} is not a cut of {taxonomy.origin}: {node.label!r} is named twice or below another."
            )
        if node.lo > reached:
            break
        reached = node.hi
    if reached < len(taxonomy.leaves):
        raise SpecError(f"{place} is not a cut of {taxonomy.origin}: no label covers {taxonomy.leaves[reached]!r}.")
    return tuple(node.label for node in nodes)


def _values(value: Any, declared: tuple[str, ...] | None, place: str) -> tuple[str, ...]:
    if not isinstance(value, tuple):
        raise SpecError(f"{place} is {toml_text(value)}, but without a taxonomy it must be a list of values.")
    for index, item in enumerate(value):
        if declared is not None and item not in declared:
            raise SpecError(
                f"{place} names {item!r}, which is not a declared value{did_you_mean(item, declared) or '.'}"
            )
        if item in value[:index]:
            raise SpecError(f"{place} names {item!r} twice.")
    return value


def _step(value: Any, attribute: Attribute, place: str) -> float | str:
    """The width of intervals whose ends are multiples of it; for a date also a period of the calendar."""
    if attribute.kind == "date":
        if value in MONTHS or (isinstance(value, int) and value > 0):
            return value if isinstance(value, str) else float(value)
        periods = ", ".join(f"'{period}'" for period in MONTHS)
        raise SpecError(f"{place} is {toml_text(value)}, but it must be a whole number of days, or one of {periods}.")
    if not isinstance(value, int | float) or not (math.isfinite(value) and value > 0):
        raise SpecError(f"{place} is {toml_text(value)}, but it must be a step above 0, as its attribute is a number.")
    unit = 1.0 if attribute.whole else attribute.step
    if unit is not None and fraction(value) % fraction(unit) != 0:
        raise SpecError(f"{place} is {number_text(value)}, but it must be a multiple of {number_text(unit)}, its step.")
    return float(value)


def _too_fine(keep: Fineness, finest: Fineness, attribute: Attribute) -> str | None:
    """Why the blocks of `keep` cannot be distinguished where nothing finer than `finest` is."""
    if not isinstance(keep, tuple) or not isinstance(finest, tuple):
        return None if _made_of(keep, finest) else "it must be made of whole steps of it"
    taxonomy = attribute.taxonomy
    below = {node.label for label in finest for node in taxonomy.node(label).walk()} - set(finest) if taxonomy else ()
    found = [label for label in keep if label in below]
    return f"{found[0]!r} is below it" if found else None


def _made_of(keep: Fineness, finest: Fineness) -> bool:
    """Whether a step consists of whole finer ones: every end of its intervals is an end of theirs."""
    if isinstance(keep, str):
        return MONTHS[keep] % MONTHS[finest] == 0 if isinstance(finest, str) else finest == 1
    return isinstance(keep, float) and isinstance(finest, float) and fraction(keep) % fraction(finest) == 0


def check_steering(
    publish: PublishSection,
    attributes: Mapping[str, Attribute],
    requirements: Sequence[Requirement],
    class_: str,
    origin: str,
) -> None:
    """Refuses keys of a search that contradict each other, or that would have no effect."""
    masked = {name for requirement in requirements for name in requirement.attributes}
    _check_paper(publish, attributes, origin)
    for attribute in attributes.values():
        if attribute.steering and attribute.name not in masked:
            place = f"{origin}: [attributes.{attribute.name}] {attribute.steering[0]}"
            raise SpecError(
                f"{place} has no effect: no requirement names {attribute.name!r}, so it is released as it is."
            )
    if publish.learn is not None:
        _check_learning(publish, attributes, origin)
    if publish.left_out is not None and share_of(publish, "leave-out", origin) == 0:
        raise SpecError(
            f"{origin}: [publish] left-out is {publish.left_out!r}, but leave-out allows no row to be left out."
        )
    if share_of(publish, "leave-out", origin) > 0:
        for number, requirement in enumerate(requirements, start=1):
            if requirement.of_whole:
                raise SpecError(
                    f"{origin}: [publish] leave-out is {publish.leave_out!r}, but [[require]] number {number} is "
                    f"{requirement.kind}, which compares groups with the whole table, so no row may be left out."
                )
    if isinstance(publish.goal, tuple):
        _check_goal(publish.goal, attributes, masked, class_, f"{origin}: [publish] goal")


def _check_learning(publish: PublishSection, attributes: Mapping[str, Attribute], origin: str) -> None:
    """Rows that only choose the masking rank by what they gain: nothing about the released rows may rank too."""
    place = f"{origin}: [publish] learn = {publish.learn!r}"
    if share_of(publish, "learn", origin) == 0:
        raise SpecError(f"{place} leaves no row to learn from; remove it, or set a share above 0%.")
    other = {"leave-out": publish.leave_out, "history": publish.history}
    if found := [key for key, value in other.items() if value is not None]:
        raise SpecError(f"{place} cannot be combined with {found[0]}.")
    if any(item.weighting is not None and item.weighting.release == "group-mean" for item in attributes.values()):
        raise SpecError(f"{place} cannot be combined with a survey weight whose release is 'group-mean'.")
    if publish.criterion == "anonymity" or (search_of(publish) == "paper" and publish.criterion != "infogain"):
        criterion = publish.criterion or "score"
        needed = "leave it out" if publish.criterion == "anonymity" else "set criterion = 'infogain'"
        raise SpecError(
            f"{place} ranks by the rows to learn from alone, but the criterion {criterion!r} also counts the "
            f"anonymity of the released ones; {needed}."
        )


def _check_paper(publish: PublishSection, attributes: Mapping[str, Attribute], origin: str) -> None:
    """The paper's search refines everywhere, for the class, by its own criteria; the joint one does not have those."""
    if search_of(publish) == "joint":
        if strange := _ways_of_the_paper(publish):
            value = getattr(publish, strange[0])
            raise SpecError(
                f"{origin}: [publish] {strange[0]} = {value!r} belongs to search = 'paper', not to 'joint'."
            )
        return
    asked = {
        "recoding": publish.recoding == "local",
        "leave-out": publish.leave_out is not None,
        "left-out": publish.left_out is not None,
        "goal": publish.goal != "class",
        "criterion": publish.criterion == "anonymity",
    }
    if found := [key for key, is_asked in asked.items() if is_asked]:
        value = toml_text(getattr(publish, found[0].replace("-", "_")))
        raise SpecError(f"{origin}: [publish] {found[0]} = {value} needs search = 'joint'.")
    for attribute in attributes.values():
        if attribute.steering:
            place = f"{origin}: [attributes.{attribute.name}] {attribute.steering[0]}"
            raise SpecError(f"{place} needs [publish] search = 'joint'; the paper's search cannot be steered.")


def _check_goal(goal: Goal, attributes: Mapping[str, Attribute], masked: set[str], class_: str, place: str) -> None:
    for index, name in enumerate(goal):
        if name in goal[:index]:
            raise SpecError(f"{place} names {name!r} twice.")
        if name == class_:
            continue
        check_described(name, attributes, place, class_)
        if name in masked:
            raise SpecError(f"{place} names {name!r}, which a requirement masks, so it cannot be predicted as it is.")
        if attributes[name].kind != "category":
            raise SpecError(f"{place} names {name!r}, a {attributes[name].kind}; it must name categories or the class.")
