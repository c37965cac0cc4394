"""Every name that the glossary gives for a term is in the code."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from sites import ROOT

SOURCE = ROOT / "src" / "unveil"
PAGE = ROOT / "docs" / "glossary.md"


def defined() -> set[str]:
    """Modules, what they define, and the members of their classes."""
    return {name for path in SOURCE.rglob("*.py") for name in _names(path)}


def _names(path: Path) -> Iterator[str]:
    yield f"{path.parent.name}.{path.stem}"
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        for name in _bound(node):
            yield name
            if isinstance(node, ast.ClassDef):
                yield from (f"{name}.{member}" for part in ast.walk(node) for member in _bound(part))


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a statement gives to something, also as `self.name`."""
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
            yield name
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            yield name


def unknown(text: str) -> list[str]:
    """Names in the column for the code that the code does not have."""
    cells = re.findall(r"^\|[^|]*\|[^|]*\|([^|]*)\|", text, re.M)
    known = defined()
    return [name for cell in cells for name in re.findall(r"`([A-Za-z_.]+)`", cell) if name not in known]


def test_the_names_of_the_glossary_are_in_the_code() -> None:
    assert unknown(PAGE.read_text(encoding="utf-8")) == []


def test_a_name_that_is_gone_is_seen() -> None:
    text = PAGE.read_text(encoding="utf-8").replace("`Guard.loss`", "`Guard.los`")
    assert unknown(text) == ["Guard.los"]
