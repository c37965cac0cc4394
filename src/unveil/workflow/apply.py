"""Apply: mask rows that arrive later with the masking of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from unveil.errors import TableError
from unveil.masking import Intervals, Unseen, View
from unveil.release import check_absent, read_manifest, typed_labels, write_data, write_whole
from unveil.schema import SUPPRESSED
from unveil.tables import read_table


def apply(
    release: str | Path,
    table: Any,
    *,
    unseen: Unseen = "refuse",
    intervals: Intervals = "text",
    suppressed: str | None = SUPPRESSED,
) -> pa.Table:
    """Masks rows with the masking of a release, in their own order; the class is kept where the rows have it.

    Args:
        release: The release folder.
        table: The rows: a path, or a pandas, polars or pyarrow table.
        unseen: What happens to a value that has no block in the release: `refuse` or `suppress`.
        intervals: `text` for the labels that the data files of the release hold, `bounds` or `midpoint`.
        suppressed: The text for a suppressed value; None for null.
    """
    manifest = read_manifest(Path(release))
    rows, origin = read_table(table)
    try:
        labels = manifest.masking.labels(rows, unseen=unseen)
    except TableError as error:
        raise TableError(f"{origin}: {error}") from error
    masked = View(intervals, suppressed).of(labels, manifest.columns)
    if manifest.class_ in rows.column_names:
        masked = masked.append_column(manifest.class_, typed_labels(rows[manifest.class_], manifest.class_type))
    weight = getattr(manifest, "weight", None)
    return masked.append_column(weight, rows[weight]) if weight in rows.column_names else masked


def apply_to_file(
    release: Path,
    table: Path,
    target: Path,
    *,
    unseen: Unseen = "refuse",
    intervals: Intervals = "text",
    suppressed: str | None = SUPPRESSED,
) -> int:
    """Masks rows into a csv or parquet file, whole or not at all; gives the number of rows. Options as for `apply`."""
    check_absent(target, "output file")
    if intervals == "bounds" and target.suffix == ".csv":
        raise TableError(f"{target}: a csv file has no pairs of bounds; ask for 'midpoint' or 'text', or for parquet.")
    masked = apply(release, table, unseen=unseen, intervals=intervals, suppressed=suppressed)
    write_whole(target, lambda draft: write_data(draft, masked), "output file")
    return int(masked.num_rows)
