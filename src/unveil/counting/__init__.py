"""Counting: the only part that touches rows."""

from unveil.counting.engine import Cells, Engine, Index, Marked, Pieces
