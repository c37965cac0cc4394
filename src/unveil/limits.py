"""How large a release and its parts may be, so that whoever reads one from a stranger comes to an end.

Writers keep to these limits too: what is published can be verified.
"""

from __future__ import annotations

MANIFEST_BYTES = 1 << 24
"""The size of `manifest.json`."""
COLUMNS = 2_000
"""How many columns a release has; as many names stand in a requirement at most."""
NAME = 1_000
"""How many characters the name of a column, a label or a value in the manifest has."""
ROWS = 10**12
"""How many rows are read or released."""
COUNT = 2**53
"""How many records a single row stands for: whole numbers that every reader holds exactly."""
RECORDS = 2**62
"""How many records there are. Sums are 64-bit whole numbers, and would start again below zero."""
GROUP_ROWS = 1 << 20
"""How many rows of a parquet file lie in one group."""
GROUP_BYTES = 1 << 28
"""How many bytes a group of rows has once it is unpacked."""
