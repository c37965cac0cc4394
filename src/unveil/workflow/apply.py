"""Apply: mask rows that arrive later with the masking of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from unveil.masking import Unseen
from unveil.release import check_absent, read_manifest, write_data, write_whole
from unveil.tables import read_table


def apply(release: str | Path, table: Any, *, unseen: Unseen = "refuse") -> pa.Table:
    """Masks rows with the masking of a release, in their own order; the class is kept where the rows have it.

    Args:
        release: The release folder.
        table: The rows: a path, or a pandas, polars or pyarrow table.
        unseen: What happens to a value that has no block in the release: `refuse` or `suppress`.
    """
    manifest = read_manifest(Path(release))
    rows, _ = read_table(table)
    masked = manifest.masking.apply(rows, unseen=unseen)
    for name in (manifest.class_, getattr(manifest, "weight", None)):
        if name in rows.column_names:
            masked = masked.append_column(name, rows[name])
    return masked


def apply_to_file(release: Path, table: Path, target: Path, *, unseen: Unseen = "refuse") -> int:
    """Masks rows into a csv or parquet file, whole or not at all; gives the number of rows."""
    check_absent(target, "output file")
    masked = apply(release, table, unseen=unseen)
    write_whole(target, lambda draft: write_data(draft, masked), "output file")
    return int(masked.num_rows)
