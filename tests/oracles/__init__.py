"""Slow, plain implementations of the papers, to compare the package with."""
