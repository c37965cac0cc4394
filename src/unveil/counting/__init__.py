"""Counting: the only part that touches rows."""

from unveil.counting.engine import Binned, Cells, Engine, Index, Marked, Pieces, Scoring
