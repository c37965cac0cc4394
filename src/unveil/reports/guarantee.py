"""The requirements of a release in plain words: what a stranger does not find, and what is not promised.

Each is a statement about the released rows, and no more is claimed: not what a reader believes, who may know other
columns, or how the release was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from unveil.errors import named
from unveil.schema import Promise, Requirement, stated


def promise(entry: Mapping[str, Any]) -> Promise:
    """A requirement of a manifest in plain words; one whose bound bounds nothing says so."""
    requirement = stated(entry)
    words = requirement.promise()
    if _bounds_nothing(requirement):
        nothing = (
            "The bound is so wide that every table keeps to it. "
            f"On {named(requirement.attributes)} nothing is promised."
        )
        return replace(words, headline="Nothing is promised", promise=nothing, cannot="", can=())
    return words


def _bounds_nothing(requirement: Requirement) -> bool:
    numbers = [(bound.way, getattr(requirement, key)) for key, bound in requirement.bounds.items()]
    return all(number <= 1 if way == "least" else number >= 1 for way, number in numbers)


LIMITS = (
    "Several promises hold each by itself. Nothing is promised to somebody who knows the columns of two together.",
    "Records are counted, not people: somebody who has several rows is counted several times.",
    "The class is released as it is. Who knows it of a person can use it to narrow a group down.",
    "A bound of an interval tells that values lie on both sides of it, close to it where it has many digits.",
    "Other releases of the same people can be joined with this one, and both together can tell more than each.",
    "A reader who reasons about why the masking is as fine as it is, and not finer, may learn more than the rows say.",
)
"""What no requirement about groups promises (docs/guarantees.md)."""
