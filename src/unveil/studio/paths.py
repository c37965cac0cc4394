"""Paths in the chosen folder: the only ones that a page can name."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from unveil.errors import SpecError


def inside(folder: Path, name: str) -> Path:
    """A path in the chosen folder; refused if it is outside, by its parts or by a link."""
    try:
        path = (folder / name).resolve()
    except (OSError, ValueError) as error:
        raise SpecError(f"{name!r} is not a path: {error}.") from error
    if not path.is_relative_to(folder.resolve()):
        raise SpecError(f"{name!r} is outside the folder {folder.name!r}.")
    return path


def fresh(path: Path, taken: Collection[str] = ()) -> Path:
    """The path, or the same with a number if something is there or its name is taken."""
    found, number = path, 2
    while found.exists() or found.name in taken:
        found, number = path.with_stem(f"{path.stem}-{number}"), number + 1
    return found
