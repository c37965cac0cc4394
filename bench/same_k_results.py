"""What releases were worth at the same k, where it is kept, and how the page shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean

from places import CACHE

KEPT = CACHE / "same-k.json"
RAW, RAW_K = "raw", 1
SHOWN_K = 100
"""The k for which the page shows all measures; for the others it shows the errors."""


@dataclass(frozen=True)
class Worth:
    """What the release of one table is worth; errors, distances and NCP as shares."""

    k: int
    """The smallest group on a quasi-identifier, counted again."""
    released: int
    tree: float
    """The error of a pruned decision tree."""
    boosting: float
    auc: float
    """Of the boosted trees."""
    penalty: float
    one_way: float
    """How far the tables of one attribute are from the raw ones, on average."""
    two_way: float


@dataclass(frozen=True)
class Cell:
    """One way to release one split of a table at one k, and what came of it."""

    table: str
    k: int
    way: str
    split: int
    rows: int
    worth: Worth

    @property
    def left_out(self) -> float:
        return 1 - self.worth.released / self.rows


@dataclass
class Found:
    """All cells that are kept."""

    machine: str = ""
    boosting: str = ""
    """What the boosted trees come from."""
    cells: list[Cell] = field(default_factory=list)

    def add(self, cell: Cell) -> None:
        """Keeps a cell in the place of the one that it measures again."""
        same = (cell.table, cell.k, cell.way, cell.split)
        self.cells = [one for one in self.cells if (one.table, one.k, one.way, one.split) != same] + [cell]
        KEPT.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


def kept() -> Found:
    """What earlier runs found."""
    if not KEPT.exists():
        return Found()
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    cells = [Cell(**{**one, "worth": Worth(**one["worth"])}) for one in kept.pop("cells")]
    return Found(**kept, cells=cells)


def mean(cells: Sequence[Cell], figure: str) -> float:
    return fmean(getattr(cell.worth, figure) for cell in cells)


HEADER = ("k", "release", "tree", "boosting", "AUC", "NCP", "one-way", "two-way", "left out", "counted k")


def lines(cells: Sequence[Cell]) -> Iterator[tuple[str, ...]]:
    """Every way at every k for the terminal: means over the splits, errors and shares in percent."""
    for (k, way), held in _grouped(cells).items():
        figures = (mean(held, name) for name in ("tree", "boosting", "auc", "penalty", "one_way", "two_way"))
        counted = str(min(cell.worth.k for cell in held))
        out = f"{fmean(cell.left_out for cell in held):.1%}"
        yield (str(k), way, *(f"{100 * figure:.1f}" for figure in figures), out, counted)


def _grouped(cells: Sequence[Cell]) -> dict[tuple[int, str], list[Cell]]:
    groups: dict[tuple[int, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.k, cell.way), []).append(cell)
    return groups


def ways(found: Found) -> tuple[str, ...]:
    return tuple(dict.fromkeys([RAW, *(cell.way for cell in sorted(found.cells, key=lambda cell: cell.way == RAW))]))


def page_rows(found: Found) -> Iterator[tuple[str, ...]]:
    """A line for the errors of a table at each k, and lines for its other measures at one k; a way in each column."""
    shown = ways(found)
    for table in dict.fromkeys(cell.table for cell in found.cells):
        groups = _grouped([cell for cell in found.cells if cell.table == table])
        for k in sorted({k for k, way in groups if way != RAW}):
            held = _same_splits([groups.get((RAW_K if way == RAW else k, way), []) for way in shown])
            splits = max(map(len, held))
            title = f"{table}, k = {k}" + (f", {splits} splits" if splits > 1 else "")
            yield (title, "errors", *(_pair(cells, "tree", "boosting") for cells in held))
            if k == SHOWN_K:
                yield ("", "AUC", *(_one(cells, "auc") for cells in held))
                yield ("", "NCP", *(_one(cells, "penalty") for cells in held))
                yield ("", "tables lost", *(_pair(cells, "one_way", "two_way") for cells in held))


def _same_splits(ways: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    """The cells of the splits that all ways were measured on, so that their means compare."""
    common = set.intersection(*({cell.split for cell in cells} for cells in ways if cells))
    return [[cell for cell in cells if cell.split in common] for cells in ways]


def _one(cells: Sequence[Cell], figure: str) -> str:
    return f"{100 * mean(cells, figure):.1f}" if cells else ""


def _pair(cells: Sequence[Cell], first: str, second: str) -> str:
    return f"{_one(cells, first)}/{_one(cells, second)}" if cells else ""
