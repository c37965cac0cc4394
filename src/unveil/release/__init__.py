"""The release folder and its manifest, versioned."""

from unveil.release.folder import check_absent, read_manifest, replace_text, write_folder, write_text, write_whole
from unveil.release.history import DATA, History, Link
from unveil.release.manifest import (
    About,
    AdditiveManifest,
    DiffGenManifest,
    Learn,
    LeaveOut,
    LedgerEntry,
    Manifest,
    PairEntry,
    PrivateManifest,
    RefinementManifest,
    RoundEntry,
    Rows,
    SafeManifest,
    StatisticsManifest,
    TreeLeaf,
    TreeTest,
    WeightsManifest,
    counted_by,
    succession_sentence,
)
from unveil.release.release import Entry, Release, open_release
from unveil.release.rows import CountedRows, Formulas, ReleasedRows, StoredRows, parquet_writer, write_group, write_rows
