"""From files and frames to a checked table in codes."""

from unveil.tables.coder import Chunk, Coder, Recount, changed
from unveil.tables.columns import plain_type, raw_column
from unveil.tables.domains import Column, Domain, Outline
from unveil.tables.persons import WORDS, Persons, Withheld, places_among
from unveil.tables.queries import table_read
from unveil.tables.sources import (
    HELD,
    FileSource,
    FrameSource,
    Source,
    at_hand,
    derivations,
    draw_sample,
    open_source,
    raw_source,
    read_table,
)
from unveil.tables.survey import Survey
from unveil.tables.table import PartOfRows, Rows, StreamedTable, Table, load_table, part_of, table_of
