"""Run the notebooks of the documentation in a fresh kernel, and compare what they show, or store it.

    python scripts/notebooks.py                              runs all; exit code 1 where a cell raises or has changed
    python scripts/notebooks.py --write                      stores what they show
    python scripts/notebooks.py docs/notebooks/x.ipynb       only these

What a cell prints or returns as text is compared. Cells with the tag `drawn` are run and not compared: what they show
is random. Cells with the tag `figures` are compared without their numbers, which depend on the versions of other
libraries.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "notebooks"
TIMEOUT = 300


def main() -> int:
    """Compares or stores the notebooks that are named."""
    parser = argparse.ArgumentParser(description="Run the notebooks of the documentation.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="Notebooks; all of docs/notebooks if none is named.")
    parser.add_argument("--write", action="store_true", help="Store what they show.")
    arguments = parser.parse_args()
    problems = []
    for path in arguments.notebooks or sorted(FOLDER.glob("*.ipynb")):
        stored = nbformat.read(path, as_version=4)
        try:
            fresh = executed(path)
        except CellExecutionError as error:
            problems.append(f"{path}: a cell raises: {error}")
            continue
        if arguments.write:
            nbformat.write(fresh, path)
        else:
            problems += [f"{path}: {problem}" for problem in differences(stored, fresh)]
    print("\n".join(problems), end="\n" if problems else "")
    return int(bool(problems))


def executed(path: Path) -> Any:
    """The notebook after a run of all cells in a kernel that knows nothing yet."""
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
        coalesce_streams=True,
    )
    client.execute()
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return notebook


def differences(stored: Any, fresh: Any) -> Iterator[str]:
    """One sentence per cell that shows something else than is stored."""
    for number, (before, after) in enumerate(zip(stored.cells, fresh.cells, strict=True), 1):
        tags = after.metadata.get("tags", [])
        if "drawn" not in tags and _texts(before, tags) != _texts(after, tags):
            yield f"cell {number} shows {_texts(after, tags)}, but {_texts(before, tags)} is stored."


def _texts(cell: Any, tags: list[str]) -> list[str]:
    """What a cell shows, as text."""
    outputs = cell.get("outputs", [])
    texts = [output.text if "text" in output else output.data.get("text/plain", "") for output in outputs]
    return [re.sub(r"[\d.]+", "0", text) for text in texts] if "figures" in tags else texts


if __name__ == "__main__":
    sys.exit(main())
