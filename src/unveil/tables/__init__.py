"""From files and frames to a checked table in codes."""

from unveil.tables.columns import Column
from unveil.tables.sources import read_table
from unveil.tables.table import Table, load_table

__all__ = ["Column", "Table", "load_table", "read_table"]
