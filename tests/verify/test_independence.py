"""A checker that shares code with what it checks shares its mistakes."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from unveil import verifier

FOLDER = Path(verifier.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))
ALLOWED = tuple(f"unveil.{name}" for name in ("characters", "errors", "schema", "strangers", "verifier"))


def imported(path: Path) -> set[str]:
    """All modules that a file imports, also inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "an import relative to the package hides what it imports"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        if isinstance(node, ast.Name):
            assert node.id not in {"__import__", "importlib"}
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_the_verifier_imports_nothing_of_the_engine(path: Path) -> None:
    own = {name for name in imported(path) if name.split(".")[0] == "unveil"}
    strange = {name for name in own if not name.startswith(tuple(f"{allowed}." for allowed in ALLOWED))}
    assert not strange


def test_only_the_comparison_with_the_raw_table_reads_the_spec() -> None:
    readers = {path.relative_to(FOLDER) for path in FILES if any("unveil.schema" in name for name in imported(path))}
    names = ("raw/__init__", "raw/agreement", "raw/comparison", "private/places", "private/replay")
    assert readers == {Path(f"{name}.py") for name in names}


def test_a_verification_by_the_files_alone_loads_neither_the_spec_nor_the_reader_of_raw_tables() -> None:
    code = "import sys, unveil.verifier; print(*(name for name in sys.modules if name in sys.argv))"
    others = ["unveil.schema", "unveil.verifier.raw", "unveil.verifier.raw.comparison", "pyarrow.csv"]
    done = subprocess.run([sys.executable, "-c", code, *others], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
    code = code.replace("unveil.verifier", "unveil.verifier.raw.comparison")
    done = subprocess.run([sys.executable, "-c", code, *others], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == set(others)
