"""Labels for codes: what a coded value is called. They take the place of the codes when the table is read."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from unveil.characters import hidden_character
from unveil.errors import SpecError
from unveil.schema.derivations import Derivation
from unveil.schema.files import read_text
from unveil.schema.taxonomy import SUPPRESSED, Branch, Node, Taxonomy

HEADER = ["code", "label"]


def read_labels(
    given: str | Mapping[str, str], name: str, place: str, folder: Path, marks: tuple[str, ...]
) -> Derivation:
    """The labels of a column, from a file of two columns or as they are; a value becomes its label."""
    pairs = _pairs(folder / given, place) if isinstance(given, str) else list(given.items())
    if not pairs:
        raise SpecError(f"{place} labels has no code.")
    names: dict[str, str] = {}
    code_of: dict[str, str] = {}
    for code, label in pairs:
        what = f"{place} labels: the label {label!r} of the code {code!r}"
        if code in names:
            raise SpecError(f"{place} labels has the code {code!r} twice.")
        if label in code_of:
            raise SpecError(
                f"{what} is that of the code {code_of[label]!r} too, so the two could not be distinguished."
            )
        if not label or label in marks:
            raise SpecError(f"{what} means a missing value.")
        if label == SUPPRESSED:
            raise SpecError(f"{what} is reserved for suppressed values.")
        if hidden := hidden_character(label):
            raise SpecError(f"{what} has the character {hidden}, which is invisible.")
        names[code], code_of[label] = label, code
    for code, label in pairs:
        if label in names and label != code:
            raise SpecError(f"{place} labels: {label!r} is the label of the code {code!r}, and a code itself.")
        if code in marks:
            raise SpecError(f"{place} labels: the code {code!r} means a missing value, which has no label.")
    return Derivation.model_validate({"from": name, "names": names, "missing": list(marks)})


def _pairs(path: Path, place: str) -> list[tuple[str, str]]:
    text = read_text(path, "file of labels", SpecError)
    lines = text.splitlines()
    delimiter = ";" if lines and ";" in lines[0] and "," not in lines[0] else ","
    found = []
    for number, row in enumerate(csv.reader(lines, delimiter=delimiter), start=1):
        cells = [cell.strip() for cell in row]
        if not cells or (number == 1 and cells == HEADER):
            continue
        if len(cells) != 2:
            raise SpecError(f"{place} labels: {path}: line {number} has {len(cells)} values, not a code and a label.")
        found.append((cells[0], cells[1]))
    return found


def labelled_tree(taxonomy: Taxonomy, derive: Derivation, place: str) -> Taxonomy:
    """A taxonomy with labels in place of the codes that are its leaves."""
    names = derive.names or {}
    inner = {node.label for node in taxonomy.root.walk() if node.children}
    if twice := [label for label in names.values() if label in inner]:
        raise SpecError(f"{place} labels: the label {twice[0]!r} is an inner label of its taxonomy {taxonomy.origin}.")

    def branch(node: Node) -> Branch:
        if node.children:
            return node.label, [branch(child) for child in node.children]
        return names.get(node.label, node.label), []

    return Taxonomy(branch(taxonomy.root), taxonomy.origin, taxonomy.observed)
