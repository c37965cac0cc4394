"""A release: the masked table, what it claims, and how later rows are masked the same way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from unveil import html
from unveil.errors import ReleaseError, rows_text
from unveil.masking import Masking
from unveil.release.folder import read_manifest, write_release, write_text
from unveil.release.manifest import Manifest, RefinementManifest
from unveil.schema import COUNT, Atom

if TYPE_CHECKING:
    import pandas as pd


SAMPLE = 5
"""How many rows a notebook shows of a release."""


class Release:
    """A table that is safe to hand out.

    Attributes:
        table: The masked rows, as an Arrow table.
        manifest: What the release claims.
        trace: The steps that led to it. Private to the owner; empty for a release read from a folder.
        redundant: Requirements that others implied, so that the search did not need them.
    """

    def __init__(
        self,
        table: pa.Table,
        manifest: Manifest,
        trace: Sequence[dict[str, Any]] = (),
        redundant: Sequence[Atom] = (),
    ) -> None:
        self.table = table
        self.manifest = manifest
        self.trace = list(trace)
        self.redundant = tuple(redundant)

    @property
    def masking(self) -> Masking:
        """How the columns are masked; `masking.apply` masks rows that arrive later."""
        return self.manifest.masking

    def to_pandas(self) -> pd.DataFrame:
        """The masked rows as a pandas frame."""
        frame: pd.DataFrame = self.table.to_pandas()
        return frame

    def to_polars(self) -> Any:
        """The masked rows as a polars frame."""
        import polars

        return polars.from_arrow(self.table)

    def to_rows(self) -> pa.Table:
        """One row per record: a release of counts with each cell repeated as often as its count says."""
        if isinstance(self.manifest, RefinementManifest):
            return self.table
        counts = self.table[COUNT].to_numpy()
        return self.table.drop_columns([COUNT]).take(pa.array(np.repeat(np.arange(len(counts)), counts)))

    def write(self, folder: str | Path, formats: Sequence[str] = ("parquet",)) -> None:
        """Writes the release folder, whole or not at all."""
        self.manifest = write_release(Path(folder), self.table, self.manifest, formats)

    def write_trace(self, file: str | Path) -> None:
        """Writes the owner's private trace of the steps."""
        text = json.dumps(self.trace, ensure_ascii=False, indent=1) + "\n"
        write_text(Path(file), text, "trace file")

    def __repr__(self) -> str:
        rows, columns = self.table.shape
        return f"Release({rows_text(rows)}, {columns} columns: {self.manifest.guarantee})"

    def _repr_html_(self) -> str:
        """The promise, the masking and the first rows, for notebooks: what the folder holds, and never the trace."""
        rows = self.table.slice(0, SAMPLE).to_pylist()
        names = self.table.column_names
        return html.page_part(
            html.paragraph(self.manifest.guarantee, stripe=html.PLAIN),
            self.masking._repr_html_(),
            html.heading(f"{len(rows)} of {rows_text(self.table.num_rows)}"),
            html.table(names, ([row[name] for name in names] for row in rows)),
        )


def open_release(folder: str | Path) -> Release:
    """Reads a release folder. It does not check its claims: `verify` does."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    names = [name for name in manifest.files if name.endswith(".parquet")]
    if not names:
        raise ReleaseError(f"{folder}: the release has no parquet file to open.")
    try:
        table = pa.parquet.read_table(folder / names[0])
    except (pa.ArrowException, OSError) as error:
        raise ReleaseError(f"{folder / names[0]}: the data file cannot be read: {error}.") from error
    return Release(table, manifest)
