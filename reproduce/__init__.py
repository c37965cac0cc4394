"""The experiments of the three papers, run again: `python -m reproduce` writes `docs/results.md`."""
