"""How large a release and its parts may be, so that reading a release from a stranger always ends.

Writers keep to these limits too, so that every published release can be verified.
"""

from __future__ import annotations

MANIFEST_BYTES = 1 << 24
"""The size of `manifest.json`."""
COLUMNS = 2_000
"""How many columns a release may have, and how many names a requirement."""
NAME = 1_000
"""How many characters a column name, a label or a value in the manifest may have."""
ROWS = 10**12
"""How many rows may be read or released."""
COUNT = 2**53
"""How many records one row may represent: integers that every reader can represent exactly."""
RECORDS = 2**62
"""How many records there may be; sums are 64-bit integers and must not overflow."""
GROUP_ROWS = 1 << 20
"""How many rows a row group of a parquet file may have."""
GROUP_BYTES = 1 << 28
"""How many bytes a row group may have when it is unpacked."""
LEAF_LABELS = 1 << 27
"""How many labels the nodes of a tree of boxes may have together."""
