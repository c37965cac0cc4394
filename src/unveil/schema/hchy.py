"""The `.hchy` files of the papers' authors: trees, numeric ranges and quasi-identifiers in one file.

An entry is a header, `name:discrete`, `name:discrete:suppression` or `name:continuous`, and a tree in braces. The
entry `classes` holds the class labels, `vid:` a list of quasi-identifiers, each `{{k} {attribute} ...}`. A bar
starts a comment; one that begins with `observed:` beside a header marks a tree that was drafted from data. The root of
a continuous attribute is its range, `17-91` for `[17, 91)`; the intervals below it are the authors' own and are not
used where a number is discretized.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from unveil.errors import TaxonomyError
from unveil.schema.files import read_text
from unveil.schema.taxonomy import OBSERVED, Branch

_HEADER = re.compile(r"^\s*([^:{}]+?)\s*:\s*(discrete|continuous)?\s*(?::\s*(\w+))?\s*$")
_RANGE = re.compile(r"^(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)$")
_TOKEN = re.compile(r"[{}]|[^{}]+")


@dataclass
class Hierarchies:
    """What a `.hchy` file says."""

    classes: tuple[str, ...] = ()
    trees: dict[str, Branch] = field(default_factory=dict)
    """The tree of each discrete attribute."""
    suppressed: set[str] = field(default_factory=set)
    """The discrete attributes marked for suppression; their tree is given all the same."""
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    """The half-open range of each continuous attribute."""
    attributes: list[str] = field(default_factory=list)
    """All attributes, in the order of the file."""
    quasi_identifiers: list[tuple[tuple[str, ...], int]] = field(default_factory=list)
    """Attributes and k of each quasi-identifier."""
    observed: dict[str, str] = field(default_factory=dict)
    """For each tree that was drafted from data, how."""


def read_hchy(path: Path) -> Hierarchies:
    """Reads a `.hchy` file."""
    text = read_text(path, "taxonomy", TaxonomyError)
    found = Hierarchies()
    for header, comment, body in _entries(text, path.name):
        _take(found, header, _tree(body, path.name), path.name)
        if comment.startswith(OBSERVED) and header[1] in found.trees:
            found.observed[header[1]] = comment.removeprefix(OBSERVED).strip()
    return found


def _entries(text: str, origin: str) -> list[tuple[re.Match[str], str, str]]:
    """Headers, the comments beside them, and the braces that follow them without comments."""
    entries: list[tuple[re.Match[str], str, list[str]]] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        content, _, comment = raw.partition("|")
        line = content.rstrip()
        header = _HEADER.match(line)
        if header:
            entries.append((header, comment.strip(), []))
        elif line and not entries:
            raise TaxonomyError(f"{origin}: line {number}: {line.strip()!r} stands before the first attribute.")
        elif line:
            entries[-1][2].append(line)
    return [(header, comment, " ".join(lines)) for header, comment, lines in entries]


def _tree(body: str, origin: str) -> Branch:
    """The tree in braces. A node without a label, as `vid` has them, gets an empty one."""
    top: Branch = ("", [])
    stack = [top]
    for token in _TOKEN.findall(body):
        if token == "{":  # noqa: S105 - a brace, not a password
            branch: Branch = ("", [])
            stack[-1][1].append(branch)
            stack.append(branch)
        elif token == "}":  # noqa: S105
            if len(stack) == 1:
                raise TaxonomyError(f"{origin}: a brace closes that was never opened, in {body[:40]!r}.")
            stack.pop()
        elif token.strip():
            label, below = stack[-1]
            if label or len(stack) == 1:
                raise TaxonomyError(f"{origin}: {token.strip()!r} stands outside of braces of its own.")
            parent = stack[-2][1]
            stack[-1] = parent[-1] = (token.strip(), below)
    if len(stack) > 1 or len(top[1]) != 1:
        raise TaxonomyError(f"{origin}: the braces of {body[:40]!r} do not make one tree.")
    return top[1][0]


def _take(found: Hierarchies, header: re.Match[str], tree: Branch, origin: str) -> None:
    name, kind, mode = header.groups()
    if name == "vid":
        found.quasi_identifiers += [_quasi_identifier(branch, origin) for branch in tree[1]]
    elif name == "classes":
        found.classes = tuple(label for label, _ in tree[1])
    elif name in found.attributes:
        raise TaxonomyError(f"{origin}: the attribute {name!r} stands twice.")
    elif kind == "continuous":
        found.attributes.append(name)
        found.ranges[name] = _range(name, tree[0], origin)
    else:
        found.attributes.append(name)
        found.trees[name] = tree
        if mode == "suppression":
            found.suppressed.add(name)


def _quasi_identifier(branch: Branch, origin: str) -> tuple[tuple[str, ...], int]:
    labels = [label for label, _ in branch[1]]
    if len(labels) < 2 or not labels[0].isdigit():
        raise TaxonomyError(f"{origin}: vid: {labels} does not give k and then attributes.")
    return tuple(dict.fromkeys(labels[1:])), int(labels[0])


def _range(name: str, text: str, origin: str) -> tuple[float, float]:
    match = _RANGE.match(text)
    if not match:
        raise TaxonomyError(f"{origin}: {name}: {text!r} is not a range such as '17-91'.")
    lo, hi = (float(bound) for bound in match.groups())
    if lo >= hi:
        raise TaxonomyError(f"{origin}: {name}: the range {text!r} does not go from a number to a larger one.")
    return lo, hi
