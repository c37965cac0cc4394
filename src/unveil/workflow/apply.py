"""Apply: mask rows that arrive later with the masking of a release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from unveil.choices import Intervals, Unseen
from unveil.cores import following
from unveil.errors import TableError
from unveil.masking import AsIs, Masking, View, as_type, typed_labels, without_marks
from unveil.progress import Watcher, unwatched
from unveil.release import Formulas, Manifest, check_absent, read_manifest, write_rows, write_whole
from unveil.schema import SUPPRESSED
from unveil.tables import Source, at_hand, changed, open_source, plain_type, read_table

Types = dict[str, pa.DataType]


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
    rows, origin = read_table(table)
    return Application(read_manifest(Path(release)), origin, unseen, View(intervals, suppressed)).masked(rows)


def apply_to_file(
    release: Path,
    table: Path,
    target: Path,
    *,
    unseen: Unseen = "refuse",
    intervals: Intervals = "text",
    suppressed: str | None = SUPPRESSED,
    formulas: Formulas = "guarded",
    progress: Watcher = unwatched,
) -> int:
    """Masks rows into a csv or parquet file, whole or not at all; gives the number of rows.

    Options are those of `apply`, and `formulas` of `Release.write`.

    Rows are masked and written in batches, and many are also read so, so that memory does not grow with them.
    """
    check_absent(target, "output file")
    if intervals == "bounds" and target.suffix == ".csv":
        raise TableError(f"{target}: a csv file has no pairs of bounds; ask for 'midpoint' or 'text', or for parquet.")
    source = open_source(table)
    application = Application(read_manifest(release), source.origin, unseen, View(intervals, suppressed))
    stream = MaskedStream(application, source, progress)
    write_whole(target, lambda draft: write_rows(draft, stream.schema, stream.batches(), formulas), "output file")
    return stream.rows


@dataclass(frozen=True)
class Application:
    """How rows are masked."""

    manifest: Manifest
    origin: str
    """What messages call the rows."""
    unseen: Unseen
    view: View

    def masked(self, rows: pa.Table) -> pa.Table:
        """Rows as they are written: the masked columns, and class and weight where the rows have them."""
        try:
            masked = self._masking.rows(rows, unseen=self.unseen)
        except TableError as error:
            raise TableError(f"{self.origin}: {error}") from error
        return self.view.of(masked, self.manifest.columns)

    @cached_property
    def _masking(self) -> Masking:
        return self.manifest.masking

    def columns(self, schema: pa.Schema) -> list[str]:
        """The columns of some rows that masking them needs."""
        sources = [derivation.from_ for derivation in self.manifest.derived.values()]
        needed = {*self.manifest.columns, self.manifest.class_, getattr(self.manifest, "weight", None), *sources}
        return [name for name in schema.names if name in needed]

    def typed(self, rows: pa.Table) -> Types:
        """The types that columns of text, kept as they are, take here: numbers or truth values where all texts are."""
        manifest = self.manifest
        texts = [name for name in rows.column_names if pa.types.is_string(plain_type(rows[name].type))]
        types = {}
        for name in (name for name in texts if name not in manifest.derived):
            entry = manifest.columns.get(name)
            if isinstance(entry, AsIs) and entry.type == "number" and _is_as_text(entry):
                types[name] = Masking({name: entry}).labels(rows)[name].type
            elif name == manifest.class_ and not manifest.class_missing:
                types[name] = typed_labels(rows[name], manifest.class_type).type
        return types


class MaskedStream:
    """The rows of a source, masked batch by batch. Text that is kept gets the type that fits all batches."""

    def __init__(self, application: Application, source: Source, progress: Watcher = unwatched) -> None:
        """Finds out the types; only columns of text are read for it."""
        self._progress = progress
        self._application = application
        self._names = application.columns(source.schema)
        self._source = at_hand(source, self._names)
        self._stamp = self._source.stamp()
        none = pa.schema([source.schema.field(name) for name in self._names]).empty_table()
        self._types = self._settled(none)
        self.schema = self._masked(none).schema
        self.rows = 0

    def batches(self) -> Iterator[pa.Table]:
        """The masked rows, in their own order; refuses a value without a block and a source that has changed."""
        total = self._source.rows()
        for masked in following(self._masked, self._source.batches(self._names)):
            self.rows += masked.num_rows
            self._progress(f"masking {self._source.origin}", self.rows, total)
            yield masked
        if self._source.stamp() != self._stamp:
            raise changed(self._source.origin)

    def _settled(self, none: pa.Table) -> Types:
        types = self._application.typed(none)
        if not types:
            return {}
        found: dict[str, set[pa.DataType]] = {name: set() for name in types}
        for batch in self._source.batches(list(types)):
            for name, type_ in self._application.typed(batch).items():
                found[name].add(type_)
            if all(pa.string() in kinds for kinds in found.values()):
                break  # one text that is not a number makes a column text
        return {name: _common(kinds) if kinds else types[name] for name, kinds in found.items()}

    def _masked(self, rows: pa.Table) -> pa.Table:
        """Types come from the texts themselves: a number that is written again would not be the same text."""
        masked = self._application.masked(rows)
        for name, type_ in self._types.items():
            place = masked.column_names.index(name)
            entry = self._application.manifest.columns.get(name)
            texts = without_marks(rows[name], entry) if isinstance(entry, AsIs) else rows[name]
            masked = masked.set_column(place, name, as_type(texts, type_))
        return masked


def _is_as_text(entry: AsIs) -> bool:
    """Whether a number is kept as the text says it; a survey weight may be rounded, or left out."""
    return entry.survey_weight is None or entry.survey_weight.step is None


def _common(types: set[pa.DataType]) -> pa.DataType:
    """One type for columns that were typed batch by batch: the type of all texts together."""
    if len(types) == 1:
        return next(iter(types))
    return pa.float64() if types == {pa.int64(), pa.float64()} else pa.string()
