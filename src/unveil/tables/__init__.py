"""From files and frames to a checked table in codes."""

from unveil.tables.columns import Column
from unveil.tables.guesses import Guess, TableGuess, guess_table
from unveil.tables.sources import read_table
from unveil.tables.table import Table, load_table, widened

__all__ = ["Column", "Guess", "Table", "TableGuess", "guess_table", "load_table", "read_table", "widened"]
