"""A release: the masked table, what it claims, and how later rows are masked the same way."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from unveil import html
from unveil.arrays import IntArray
from unveil.choices import Intervals
from unveil.errors import ReleaseError, rows_text
from unveil.interruption import provisional
from unveil.masking import Masking, View
from unveil.progress import Watcher, unwatched
from unveil.release.folder import read_manifest, write_release, write_text
from unveil.release.history import History, Link
from unveil.release.manifest import Manifest, RefinementManifest
from unveil.release.rows import CountedRows, Formulas, ReleasedRows, StoredRows
from unveil.schema import SUPPRESSED, Atom

if TYPE_CHECKING:
    import pandas as pd


Entry = tuple[History, Callable[[], Link]]
"""The history that a release is entered in when it is written, and what finds out whom it shows."""
SAMPLE = 5
"""How many rows a notebook shows of a release."""


class Release:
    """A table that is safe to share.

    Attributes:
        rows: The masked rows, materialized only as far as they are read.
        manifest: What the release claims.
        trace: The steps that led to it. Private to the owner; empty for a release read from a folder.
        redundant: Requirements that others imply, so that the search did not need them.
    """

    def __init__(
        self,
        rows: pa.Table | ReleasedRows,
        manifest: Manifest,
        trace: Iterable[dict[str, Any]] = (),
        redundant: Sequence[Atom] = (),
        entry: Entry | None = None,
    ) -> None:
        self.rows: ReleasedRows = CountedRows(rows) if isinstance(rows, pa.Table) else rows
        self.manifest = manifest
        self._steps = trace
        self.redundant = tuple(redundant)
        self._entry = entry
        self._entered: Path | None = None

    @cached_property
    def trace(self) -> list[dict[str, Any]]:
        """The steps that led to it, made when they are first asked for: many releases are written without them."""
        steps, self._steps = self._steps, ()
        return list(steps)

    @cached_property
    def table(self) -> pa.Table:
        """The masked rows, as an Arrow table of the labels that the files hold."""
        return self.rows.table()

    @cached_property
    def counted(self) -> tuple[pa.Table, IntArray]:
        """The distinct rows and the number of each: all that counting needs."""
        return self.rows.counted()

    @cached_property
    def masking(self) -> Masking:
        """How the columns are masked; `masking.apply` masks rows that arrive later."""
        return self.manifest.masking

    def to_pandas(self, *, intervals: Intervals = "interval", suppressed: str | None = SUPPRESSED) -> pd.DataFrame:
        """The masked rows as a pandas frame.

        Args:
            intervals: `interval` for real ones, closed at the left (`IntervalDtype`); `bounds` for a pair of `from` and
                `to`; `midpoint` for one number or date; `text` for the label.
            suppressed: The text for a suppressed value; None for null.
        """
        return View(intervals, suppressed).of_pandas(self.table, self.manifest.columns)

    def to_polars(self, *, intervals: Intervals = "bounds", suppressed: str | None = SUPPRESSED) -> Any:
        """The masked rows as a polars frame.

        Args:
            intervals: `bounds` for a struct of `from` and `to`; `midpoint` for one number or date; `text` for labels.
            suppressed: The text for a suppressed value; None for null.
        """
        import polars

        return polars.from_arrow(self.to_arrow(intervals=intervals, suppressed=suppressed))

    def to_arrow(self, *, intervals: Intervals = "bounds", suppressed: str | None = SUPPRESSED) -> pa.Table:
        """The masked rows as an Arrow table; the same options as `to_polars`. `table` holds the labels."""
        return View(intervals, suppressed).of(self.table, self.manifest.columns)

    def to_rows(self) -> pa.Table:
        """One row per record: for a private release, each cell repeated by its count or weight.

        Weights are rounded so that the rows up to any place add up to what they weigh, to the nearest record.
        """
        name = self.manifest.weighed_by
        if name is None or isinstance(self.manifest, RefinementManifest):
            return self.table
        counts = np.diff(np.rint(np.cumsum(self.table[name].to_numpy())).astype(np.int64), prepend=0)
        return self.table.drop_columns([name]).take(pa.array(np.repeat(np.arange(len(counts)), counts)))

    def write(
        self,
        folder: str | Path,
        formats: Sequence[str] = ("parquet",),
        progress: Watcher = unwatched,
        formulas: Formulas = "guarded",
    ) -> None:
        """Writes the release folder, whole or not at all.

        Args:
            folder: Where it goes; must not exist.
            formats: The rows are always written as `parquet`; `csv` adds a copy.
            progress: Where progress is reported.
            formulas: In the csv file, text that a spreadsheet reads as a formula is `guarded` by a leading apostrophe,
                or `kept`.
        """
        written = Path(folder), self.rows, self.manifest, formats, progress, formulas
        if self._entry is None:
            self.manifest = write_release(*written)
            return
        history, link_of = self._entry
        check_apart(Path(folder), history.folder)
        place, link = history.next, link_of()
        # First the entry: a release that is out and not entered would be forgotten by the next one.
        with provisional(place):
            self.manifest = write_release(*written, lambda complete: history.enter(link, complete, place))
        self._entered = place

    def withdraw(self) -> None:
        """Takes a release out of the owner's history that was written only to look at it, and is gone."""
        if self._entered is not None:
            self._entered.unlink(missing_ok=True)
            self._entered = None

    def write_trace(self, file: str | Path) -> None:
        """Writes the owner's private trace of the steps."""
        text = json.dumps(self.trace, ensure_ascii=False, indent=1) + "\n"
        write_text(Path(file), text, "trace file")

    def __repr__(self) -> str:
        rows, columns = self.rows.num_rows, len(self.rows.schema)
        return f"Release({rows_text(rows)}, {columns} columns: {self.manifest.guarantee})"

    def _repr_html_(self) -> str:
        """The guarantee, the masking and the first rows, for notebooks; never the trace."""
        rows = next(iter(self.rows.batches())).slice(0, SAMPLE).to_pylist()
        names = self.rows.schema.names
        return html.page_part(
            html.paragraph(self.manifest.guarantee, stripe=html.PLAIN),
            self.masking._repr_html_(),
            html.heading(f"{len(rows)} of {rows_text(self.rows.num_rows)}"),
            html.table(names, ([row[name] for name in names] for row in rows)),
        )


def check_apart(folder: Path, history: Path) -> None:
    """Refuses a history inside a release, which is shared, and a release inside the history, which is not."""
    release, private = folder.absolute(), history.absolute()
    if release == private or release in private.parents or private in release.parents:
        raise ReleaseError(f"{history}: the history is private and must lie outside the release {folder}.")


def open_release(folder: str | Path) -> Release:
    """Opens a release folder. Rows are read on demand. Its claims are not checked; `verify` does that."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    names = sorted(name for name in manifest.files if name.endswith(".parquet"))
    if not names:
        raise ReleaseError(f"{folder}: the release has no parquet file to open.")
    return Release(StoredRows(folder, names), manifest)
