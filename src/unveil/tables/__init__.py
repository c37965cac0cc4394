"""From files and frames to a checked table in codes."""

from unveil.tables.coder import Chunk, Coder, Recount, changed
from unveil.tables.columns import Column, Domain, raw_column
from unveil.tables.guesses import MARKS, Guess, TableGuess, guess_table
from unveil.tables.outline import Outline
from unveil.tables.queries import table_read
from unveil.tables.samples import Sample, draw_sample
from unveil.tables.sources import FileSource, FrameSource, Source, open_source, read_table
from unveil.tables.survey import Survey
from unveil.tables.table import Rows, StreamedTable, Table, load_table, part_of
from unveil.tables.types import plain_type

__all__ = [
    "MARKS",
    "Chunk",
    "Coder",
    "Column",
    "Domain",
    "FileSource",
    "FrameSource",
    "Guess",
    "Outline",
    "Recount",
    "Rows",
    "Sample",
    "Source",
    "StreamedTable",
    "Survey",
    "Table",
    "TableGuess",
    "changed",
    "draw_sample",
    "guess_table",
    "load_table",
    "open_source",
    "part_of",
    "plain_type",
    "raw_column",
    "read_table",
    "table_read",
]
