"""All that a `.hchy` file of the papers' authors says: trees, ranges of numbers and class labels.

The package reads the trees alone (`unveil.schema.read_taxonomy`). The entry `classes` holds the class labels. The root
of a continuous attribute is its range, `17-91` for `[17, 91)`; the intervals below it are the authors' own and are not
used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from unveil.errors import TaxonomyError
from unveil.schema.files import read_text
from unveil.schema.taxonomy import Branch
from unveil.schema.taxonomy_files import NOT_ATTRIBUTES, hchy_entries

_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)")


@dataclass
class Hierarchies:
    """What a `.hchy` file says."""

    classes: tuple[str, ...] = ()
    trees: dict[str, Branch] = field(default_factory=dict)
    """The tree of each discrete attribute."""
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    """The half-open range of each continuous attribute."""
    attributes: list[str] = field(default_factory=list)
    """All attributes, in the order of the file."""


def read_hchy(path: Path) -> Hierarchies:
    """Reads a `.hchy` file."""
    found = Hierarchies()
    for entry in hchy_entries(read_text(path, "taxonomy", TaxonomyError), path):
        if entry.name == "classes":
            found.classes = tuple(label for label, _ in entry.branch[1])
        if entry.name in NOT_ATTRIBUTES:
            continue
        found.attributes.append(entry.name)
        if entry.number:
            found.ranges[entry.name] = _range(entry.name, entry.branch[0], path.name)
        else:
            found.trees[entry.name] = entry.branch
    return found


def _range(name: str, text: str, origin: str) -> tuple[float, float]:
    match = _RANGE.fullmatch(text)
    if not match:
        raise TaxonomyError(f"{origin}: {name}: {text!r} is not a range such as '17-91'.")
    lo, hi = (float(bound) for bound in match.groups())
    if lo >= hi:
        raise TaxonomyError(f"{origin}: {name}: the range {text!r} does not go from a number to a larger one.")
    return lo, hi
