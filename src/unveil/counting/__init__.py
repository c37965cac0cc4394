"""Counting: the only part that touches rows."""

from unveil.counting.engine import Engine, Index, Pieces

__all__ = ["Engine", "Index", "Pieces"]
