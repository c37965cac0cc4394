"""Counting: the only part that touches rows."""

from unveil.counting.contributions import used_places, used_rows
from unveil.counting.engine import Binned, Cells, Engine, Index, Marked, Pieces, Scoring
