"""The noisy full contingency table: the baseline that DiffGen argues against.

Every combination of raw values is a cell: each leaf of a category, each value of the declared grid of a number, each
class. All cells get noise, the empty ones too; one record changes one cell by one, so the whole costs the ε of the
noise. Where there are more cells than anyone could list, only those that reach a public threshold are drawn.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from unveil.arrays import IntArray
from unveil.counting import Cells
from unveil.noise import Ledger, Source
from unveil.publishers.cells import cell_total, noisy_cells, public_threshold
from unveil.schema import Grid, grid_of
from unveil.tables import Table

COUNT = "count"


def contingency_table(table: Table, ledger: Ledger, source: Source) -> pa.Table:
    """Publishes the noisy counts of all raw combinations, for all that is left of a budget.

    Args:
        table: The checked table; every domain is declared.
        ledger: What the counts are charged to.
        source: The randomness.

    Returns:
        One row per published cell: a raw value of each attribute, the class, and the count.
    """
    epsilon = ledger.left
    ledger.charge("counts of all raw combinations", epsilon)
    cells, sizes = raw_cells(table), domain_sizes(table)
    threshold = public_threshold(cell_total(sizes, len(table.classes)), epsilon)
    places, classes, counts = noisy_cells(cells, sizes, epsilon, threshold, source)
    columns = {
        attribute.name: _values(table, column, places[:, column]) for column, attribute in enumerate(table.attributes)
    }
    labels = pa.array([str(label) for label in table.classes.values]).take(pa.array(classes))
    return pa.table({**columns, table.classes.name: labels, COUNT: pa.array(counts)})


def domain_sizes(table: Table) -> list[int]:
    """How many raw values each attribute can have."""
    return [
        len(table.columns[column]) if attribute.kind == "category" else _grid(table, column).size
        for column, attribute in enumerate(table.attributes)
    ]


def domain_places(table: Table, column: int) -> IntArray:
    """For each record the number of its value in the declared domain."""
    held = table.columns[column]
    if isinstance(held.values, tuple):
        return held.codes.astype(np.int64)
    return _grid(table, column).places(held.values)[held.codes]


def raw_cells(table: Table) -> Cells:
    """The occupied cells of the full contingency table."""
    places = np.stack([domain_places(table, column) for column in range(len(table.columns))], axis=1)
    blocks, cell = np.unique(places, axis=0, return_inverse=True)
    width = len(table.classes)
    weight = np.ones(table.rows, dtype=np.int64) if table.weight is None else table.weight
    counts = np.bincount(cell.ravel() * width + table.classes.codes, weights=weight, minlength=len(blocks) * width)
    return Cells(blocks, counts.astype(np.int64).reshape(len(blocks), width))


def _values(table: Table, column: int, places: IntArray) -> pa.Array:
    held = table.columns[column].values
    if isinstance(held, tuple):
        return pa.array(held, pa.string()).take(pa.array(places))
    grid = _grid(table, column)
    return pa.array([grid.value(place) for place in places.tolist()], pa.float64())


def _grid(table: Table, column: int) -> Grid:
    grid = grid_of(table.attributes[column])
    if grid is None:
        raise ValueError(f"{table.attributes[column].name} has no declared domain")
    return grid
