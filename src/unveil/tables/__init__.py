"""From files and frames to a checked table in codes."""

from unveil.tables.columns import Column, raw_column
from unveil.tables.guesses import MARKS, Guess, TableGuess, guess_table
from unveil.tables.sources import read_table
from unveil.tables.table import Table, load_table, widened

__all__ = [
    "MARKS",
    "Column",
    "Guess",
    "Table",
    "TableGuess",
    "guess_table",
    "load_table",
    "raw_column",
    "read_table",
    "widened",
]
