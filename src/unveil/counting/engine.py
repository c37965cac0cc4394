"""What an engine must do, and which one counts a table. Engines are the only code that touches rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from unveil.arrays import Array, BoolArray, IntArray
from unveil.choices import ENGINES, PLACES
from unveil.counting.earlier import Then
from unveil.errors import EngineError, SpecError, did_you_mean
from unveil.masking import Block, LeftOut, Masking, Offer, Refinement
from unveil.progress import Watcher, unwatched
from unveil.release import Link, ReleasedRows
from unveil.schema import Query, Spec
from unveil.tables import HELD, Outline, StreamedTable, Withheld, load_table, open_source

if TYPE_CHECKING:
    from unveil.counting.far import FarMarked

VARIABLE = "UNVEIL_ENGINE"
"""The environment variable that names the engine where nothing else does."""
INDEX_VARIABLE = "UNVEIL_INDEX"
"""The environment variable that says where Spark's index lies where nothing else does."""


class Pieces(NamedTuple):
    """The groups that candidate refinements would create.

    A piece counts its records: one number, or one per sensitive value if the requirement has any.
    """

    owner: IntArray
    """The candidate that each piece belongs to."""
    counts: IntArray
    """One row per piece."""


class Marked(NamedTuple):
    """The distinct rows of a projection, with the marks that tell the records of a piece apart."""

    codes: list[Array]
    """The codes of each attribute."""
    marks: list[Array]
    """The codes of the class and of other attributes."""
    widths: list[int]
    """How many values each mark can have."""
    weight: IntArray
    whose: IntArray
    """If the table says whose row each is: the person of each row and the persons that it represents, as in
    `counting.persons`; after earlier releases, the history of each row, in ascending order; otherwise no columns."""
    held: IntArray | None = None
    """If some rows only choose the masking: how many records each row releases. Of a row, one of both weights is 0."""

    def without_class(self) -> Marked:
        """The rows without their first mark."""
        return self._replace(marks=self.marks[1:], widths=self.widths[1:])

    def counts(self, place: int, size: int, targets: int) -> IntArray:
        """The records of each value of an attribute, by each target; without any, the records."""
        codes = self.codes[place].astype(np.int64)
        marks = [*zip(self.marks[:targets], self.widths, strict=False)] or [(np.zeros_like(codes), 1)]
        counts = [np.zeros((size, width), dtype=np.int64) for _, width in marks]
        for (mark, _), counted in zip(marks, counts, strict=True):
            np.add.at(counted, (codes, mark), self.weight)
        return np.concatenate(counts, axis=1)


class Index(Protocol):
    """The groups of one requirement: the rows of its projection, partitioned by their masked values (TIPS)."""

    def totals(self) -> IntArray:
        """The counts of the initial groups: one that holds every record, or one for each history."""
        ...

    def watch(self, offers: Sequence[Offer], alive: BoolArray) -> Iterator[Pieces]:
        """Counts the pieces of the first offers, on the initial groups."""
        ...

    def refine(
        self, refinement: Refinement, column: int, offers: Sequence[Offer], alive: BoolArray
    ) -> Iterator[Pieces]:
        """Performs a refinement and counts the pieces of the groups that it created.

        An index may skip the pieces of offers that disclose values, and count them in `recount`. `offers` are what the
        children could be refined into next, and `alive` says which candidates are still of interest.
        """
        ...

    def recount(self, offer: Offer, candidates: IntArray) -> Iterator[Pieces]:
        """Counts the pieces of candidates of an offer as the groups are now, unless they have all been counted."""
        ...


class Cells(NamedTuple):
    """The occupied cells of a product of cuts: which block of each attribute, and the records per class."""

    blocks: IntArray
    """One row per cell, one column per attribute."""
    counts: IntArray
    """One row per cell, one column per class."""


class Scoring(NamedTuple):
    """An additive model of the class in whole numbers: all that a row needs to know what it weighs in each sum.

    There is one model for two classes, and one per class, against all others, for more.
    """

    base: IntArray
    """The log-odds of each model before any attribute is known."""
    scores: IntArray
    """What each bin adds to them: one row per bin, attribute after attribute, one column per model."""
    positive: IntArray
    """The class that each model is about."""
    weights: IntArray
    """What a record weighs, by the log-odds of its own side: zero is in the middle, and beyond is as at the end."""


class Binned(Protocol):
    """Rows by their bins, ready to be weighed again and again."""

    def sums(self, scoring: Scoring) -> IntArray:
        """For every bin and model the weight of the records against its class, and of those in it: `[bin, model, 2]`.

        A record is in one bin of each attribute, and on one side of each model.
        """
        ...


class Engine(Protocol):
    """Counts of a table."""

    @property
    def then(self) -> Sequence[Then]:
        """What earlier releases say about sensitive attributes; by position, they follow the columns of the table."""
        ...

    def histograms(self) -> tuple[IntArray, ...]:
        """The `[value, class]` counts of every attribute: all that gains and splits need."""
        ...

    def index(self, columns: Sequence[int], sensitive: int | None = None) -> Index:
        """The partition index over these attributes, and over the values of a sensitive one if given."""
        ...

    def marked(self, columns: Sequence[int], marks: Sequence[int]) -> Marked | FarMarked:
        """The distinct rows of these attributes, marked by the class and by the values of other attributes."""
        ...

    def cells(self, cuts: Sequence[Sequence[Block]]) -> Cells:
        """The occupied cells of the product of the cuts of all attributes."""
        ...

    def binned(self, bins: Sequence[Array], sizes: Sequence[int]) -> Binned:
        """The rows by the bin of each code of every attribute; `sizes` says how many bins each has."""
        ...

    def bounded(self, most: int) -> tuple[Outline, Engine]:
        """The table with at most this many rows of each person, by the rule of `contributions`, and what counts it."""
        ...

    def released(self, masking: Masking, weight: str | None, left_out: LeftOut | None = None) -> ReleasedRows:
        """The masked rows, sorted by their values; with a weight column, equal rows are merged.

        Rows that the search left out are dropped, or released with the labels that are given for them.
        """
        ...

    def link(self, masking: Masking, left_out: LeftOut | None = None) -> Link:
        """Whom a release with this masking shows, and how."""
        ...

    def rows_left_out(self, masking: Masking, left_out: LeftOut) -> int:
        """How many rows the search left out. Without a weight column, these are as many as the records."""
        ...


def open_engine(
    spec: Spec,
    source: Any = None,
    engine: str | None = None,
    index: str | None = None,
    settings: Mapping[str, str] | None = None,
    progress: Watcher = unwatched,
    withheld: Withheld | None = None,
    ready: Callable[[], None] = lambda: None,
) -> tuple[Outline, Engine]:
    """Reads a table, or makes the first pass over it, and gives what counts it.

    Args:
        spec: What the owner says about the table.
        source: A path or a frame in memory; the spec's own source where it is not given.
        engine: `memory` holds the rows, `stream` reads them again for every pass, `spark` leaves them to Spark; `auto`
            takes Spark for a Spark frame, and else one of the first two by the number of rows.
        index: For Spark, where the distinct rows of a projection are searched: `driver`, `cluster` or `auto`.
        settings: For Spark, settings of the session that is started.
        progress: Called as the work is done.
        withheld: The people whose rows are left out because of earlier releases.
        ready: Called once distinct rows are there, and before loops count them.
    """
    where = spec.source if source is None else source
    name = engine_name(engine, where)
    if name == "spark" and spec.history is not None:
        raise EngineError(f"{spec.origin}: [publish] history needs the engine 'memory' or 'stream', not Spark.")
    if name == "spark" and spec.learn:
        raise EngineError(f"{spec.origin}: [publish] learn needs the engine 'memory' or 'stream', not Spark.")
    if name == "spark":
        progress("counting values on Spark", 0, None)
        return _spark(spec, where, index, settings)
    if index is not None or settings:
        raise SpecError(f"the options for Spark and its index are for the engine 'spark', not for {name!r}.")
    from unveil.counting.memory import MemoryEngine  # which counts for this module's protocol

    read = StreamedTable if name == "stream" else load_table
    rows = read(spec, where, progress, withheld)
    return rows.outline, MemoryEngine(rows, ready)


def engine_name(engine: str | None, source: Any) -> str:
    """The engine that is asked for, by name, by the environment, or else by the kind and the size of the source."""
    name = engine or os.environ.get(VARIABLE) or "auto"
    if name not in ENGINES:
        hint = did_you_mean(name, ENGINES) or "."
        raise SpecError(f"there is no engine {name!r}; it is one of {', '.join(ENGINES)}{hint}")
    if name != "auto":
        return name
    if type(source).__module__.startswith("pyspark."):
        return "spark"
    if not isinstance(source, str | Path | Query):
        return "memory"  # where a frame is already
    return "stream" if open_source(source).rows() > HELD else "memory"


def check_formats(engine: str | None, source: Any, formats: Sequence[str]) -> None:
    """Refuses a release in a format that the engine does not write, before any work is done for it."""
    if "csv" in formats and engine_name(engine, source) == "spark":
        raise EngineError("the Spark engine writes parquet, a folder of part files; csv is for the other engines.")


def _spark(spec: Spec, source: Any, index: str | None, settings: Mapping[str, str] | None) -> tuple[Outline, Engine]:
    if isinstance(source, Query):
        raise EngineError(f"{source.path}: Spark cannot read a DuckDB database; use the engine 'memory' or 'stream'.")
    from unveil.counting.spark.engine import SparkEngine

    place = index or os.environ.get(INDEX_VARIABLE) or "auto"
    if place not in PLACES:
        raise SpecError(f"the index of Spark must be one of {', '.join(PLACES)}, not {place!r}.")
    counts = SparkEngine(spec, source, place, settings)
    return counts.outline, counts
