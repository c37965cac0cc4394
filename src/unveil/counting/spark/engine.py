"""The engine on Spark: the code of the memory engine encodes, weighs and merges each partition, and Spark adds up.

The driver sees counts: the survey of each partition, the distinct rows of a projection if they fit, otherwise the
pieces of candidates, and occupied cells. It never sees a row.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from unveil.arrays import Array, IntArray
from unveil.cores import each
from unveil.counting.binned import BinnedChunk, binned_chunk, weighed
from unveil.counting.contributions import public_places, used_counts
from unveil.counting.distinct import Aside, DistinctRows, SortedRows
from unveil.counting.earlier import Then
from unveil.counting.engine import Cells, Index, Marked, Scoring
from unveil.counting.far import FarMarked
from unveil.counting.index import MemoryIndex
from unveil.counting.memory import MemoryEngine, block_numbers, cells_of, code_sizes, marked_rows, person_index
from unveil.counting.spark.index import SparkIndex, far_marked
from unveil.counting.spark.released import SparkReleasedRows
from unveil.counting.spark.runs import BLOCK, SCHEMA, Runs, hashed_blocks, parts_of
from unveil.counting.spark.source import Function, SparkSource, open_spark_source
from unveil.errors import EngineError, braced
from unveil.masking import Block, LeftOut, Masking
from unveil.release import Link
from unveil.schema import Spec
from unveil.tables import WORDS, Coder, Outline, Persons, Recount, Survey, changed, table_of

DRIVER_ROWS = 5_000_000
"""Up to this many distinct rows of a projection are searched in the driver; 1 GB holds them (docs/scale.md)."""
GATHERED = 8
"""Into how many partitions the surveys are merged before the driver collects them."""


@dataclass(frozen=True, eq=False)
class SparkBinned:
    """Rows that are read and binned in every round, where they lie."""

    _source: SparkSource
    _coder: Coder
    _outline: Outline
    _bins: Sequence[Array]
    _sizes: Sequence[int]

    def sums(self, scoring: Scoring) -> IntArray:
        """The weights per bin, model and side."""
        coder, bins, sizes = self._coder, self._bins, self._sizes
        places = range(len(bins))

        def weigh(batches: Iterator[pa.Table]) -> Iterator[pa.Table]:
            recount, seen = Recount(coder, places), 0

            def chunks() -> Iterator[BinnedChunk]:
                nonlocal seen
                for batch in batches:
                    chunk = binned_chunk(recount.chunk(batch), bins)
                    seen += int(chunk.records.sum())
                    yield chunk

            sums = weighed(chunks(), sizes, scoring)
            yield pa.table({"sums": pa.array([sums.tobytes()], pa.binary()), "records": pa.array([seen])})

        frame = self._source.partitions(weigh, Recount(coder, places).names, "sums binary, records bigint")
        with self._source.watched():
            found = frame.toArrow()
        if sum(found["records"].to_pylist()) != self._outline.records:
            raise changed(self._outline.origin)
        total = np.zeros((*scoring.scores.shape, 2), dtype=np.int64)
        for part in found["sums"]:
            total += np.frombuffer(part.as_py(), dtype=np.int64).reshape(total.shape)
        return total


class SparkEngine:
    """Counts of a table that Spark reads."""

    then: tuple[Then, ...] = ()
    """Spark knows no earlier releases."""

    def __init__(self, spec: Spec, source: Any, index: str = "auto", settings: Mapping[str, str] | None = None) -> None:
        """Makes the first pass: reads all rows, checks them and counts each attribute.

        `index` says where the distinct rows of a projection are searched: `driver`, `cluster`, or `auto`, where they
        fit. `settings` are for a session that is started here.
        """
        self._source = open_spark_source(source, settings, spec)
        self._where = index
        survey = Survey(spec, self._source.schema, self._source.origin)
        self._source.hold([*survey.names, *survey.others])
        found = self._source.partitions(_surveyor(survey), survey.names, "survey binary")
        with self._source.watched():
            # Runs all partitions in parallel, and leaves few surveys for the driver.
            gathered = found.repartition(GATHERED).mapInArrow(_gatherer(survey), "survey binary").toArrow()
        for packed in gathered["survey"]:
            survey.absorb(pickle.loads(packed.as_py()))  # noqa: S301 - our own workers wrote it
        self.outline, self._coder = survey.result()
        if spec.table.person:
            self.outline = replace(self.outline, persons=self._persons())

    def _persons(self) -> Persons:
        """How many persons there are, and how many rows they have."""

        def count(part: int, rows: SortedRows) -> Iterator[pa.Table]:
            several = int(np.count_nonzero(rows.weight > 1))
            yield pa.table({"count": [len(rows)], "several": [several], "most": [int(rows.weight.max())]})

        runs = self._distinct((), (), (), persons=True)
        with self._source.watched():
            found = runs.by_part(count, "count bigint, several bigint, most bigint").toArrow()
        count_, several, most = (column.to_pylist() for column in found.columns)
        return Persons(sum(count_), sum(several), max(most, default=0), WORDS)

    def histograms(self) -> tuple[IntArray, ...]:
        """For every attribute its `[value, class]` counts, from the first pass."""
        return self.outline.histograms

    def index(self, columns: Sequence[int], sensitive: int | None = None) -> Index:
        """The partition index over the distinct rows of a projection, in the driver or on the cluster."""
        if sensitive is None and self.outline.persons is not None:
            return self._person_index(columns)
        places = [*columns, *([] if sensitive is None else [sensitive])]
        sizes = [len(self.outline.columns[place]) for place in places]
        lookups = [np.arange(size, dtype=np.int32) for size in sizes]
        width = 1 if sensitive is None else sizes[-1]
        with self._kept(self._distinct(places, lookups, sizes)) as runs:
            if not self._fits(runs):
                self._check_total(runs)
                with self._source.watched():
                    return SparkIndex(runs.columns(), columns, sizes[: len(columns)], width, self.outline)
            with self._source.watched():
                codes, weight = runs.unordered()
        self._check_marginals(places, codes, weight)
        secrets = np.zeros(len(weight), dtype=np.uint8) if sensitive is None else codes.pop()
        return MemoryIndex(columns, codes, sizes[: len(columns)], weight, secrets, width)

    def _person_index(self, columns: Sequence[int]) -> Index:
        """The index that counts persons, in the driver."""
        sizes = [len(self.outline.columns[place]) for place in columns]
        lookups = [np.arange(size, dtype=np.int32) for size in sizes]
        with self._kept(self._distinct(columns, lookups, sizes, persons=True)) as runs:
            return person_index(self._held(runs, columns, columns), columns, self.outline)

    def _held(self, runs: Runs, columns: Sequence[int], places: Sequence[int]) -> SortedRows:
        """The distinct rows of a projection on some columns, collected in the driver unless they are too many for it.

        They have the numbers of the person, if any, the codes of the places, and perhaps the class.
        """
        if not self._fits(runs):
            names = braced([self.outline.attributes[column].name for column in columns])
            raise EngineError(
                f"the distinct rows of {names} by person are searched in the driver: up to {DRIVER_ROWS:,}, or all of "
                "them if you ask for the index in the driver."
            )
        rows = self._collected(runs)
        words = 0 if self.outline.persons is None else len(WORDS)
        self._check_marginals(places, rows.columns()[words : words + len(places)], rows.weight)
        return rows

    def marked(self, columns: Sequence[int], marks: Sequence[int]) -> Marked | FarMarked:
        """The distinct rows of a projection: collected in the driver, or where they are if they are too many for it.

        Those that say whose they are must fit in the driver.
        """
        places = [*columns, *marks]
        sizes = [*(len(self.outline.columns[place]) for place in places), len(self.outline.classes)]
        lookups = [np.arange(size, dtype=np.int32) for size in sizes[:-1]]
        persons = self.outline.persons is not None
        with self._kept(self._distinct(places, lookups, sizes, with_class=True, persons=persons)) as runs:
            if not persons and not self._fits(runs):
                self._check_total(runs)
                with self._source.watched():
                    return far_marked(runs.columns(), sizes, len(columns), self.outline)
            return marked_rows(self._held(runs, columns, places), len(columns), self.outline)

    def cells(self, cuts: Sequence[Sequence[Block]]) -> Cells:
        """The occupied cells of the product of the cuts."""
        lookups = [block_numbers(len(domain), cut) for domain, cut in zip(self.outline.columns, cuts, strict=True)]
        sizes = [*(len(cut) for cut in cuts), len(self.outline.classes)]
        runs = self._distinct(range(len(cuts)), lookups, sizes, with_class=True)
        with self._source.watched():
            rows = runs.merged().collected()
        if int(rows.weight.sum()) != self.outline.records:
            raise changed(self.outline.origin)
        return cells_of(rows, len(self.outline.classes))

    def binned(self, bins: Sequence[Array], sizes: Sequence[int]) -> SparkBinned:
        """The rows by bins; the model travels to them, and their sums come back."""
        return SparkBinned(self._source, self._coder, self.outline, bins, sizes)

    def bounded(self, most: int) -> tuple[Outline, MemoryEngine]:
        """The table with at most this many rows of each person: persons stay on the cluster, distinct rows do not."""
        outline, places = self.outline, range(len(self.outline.columns))
        sizes, marks = code_sizes(outline), public_places(outline)
        lookups = [np.arange(size, dtype=np.int32) for size in sizes[:-1]]
        runs = self._distinct(places, lookups, sizes, with_class=True, persons=True)
        parts = runs.parts

        def bound(part: int, rows: SortedRows) -> Iterator[pa.Table]:
            used = DistinctRows(sizes)
            used.add(rows.columns()[len(WORDS) :], used_counts(rows, marks, most))
            yield from hashed_blocks(used.sorted(), parts)

        with self._kept(runs) as persons:
            self._check_total(persons)
            with self._source.watched():
                bounded = Runs(persons.by_part(bound, SCHEMA), tuple(sizes), parts)
            with self._kept(bounded) as found:
                with self._source.watched():
                    if found.totals()[0] > DRIVER_ROWS:
                        raise EngineError(
                            f"by persons, a private release has at most {DRIVER_ROWS:,} distinct rows on Spark."
                        )
                rows = self._collected(found)
        *codes, classes = rows.columns()
        table = table_of(outline, codes, classes, rows.weight)
        return table, MemoryEngine(table)

    def released(self, masking: Masking, weight: str | None, left_out: LeftOut | None = None) -> SparkReleasedRows:
        """The masked rows, sorted by their values; they stay on the cluster until they are written."""
        return SparkReleasedRows(self._source, self._coder, self.outline, masking, weight, left_out)

    def link(self, masking: Masking, left_out: LeftOut | None = None) -> Link:
        """Spark's rows are not linked to persons."""
        raise EngineError("a history of releases needs the engine 'memory' or 'stream', not Spark.")

    def rows_left_out(self, masking: Masking, left_out: LeftOut) -> int:
        """How many rows the search left out, in one pass if they have weights."""
        if not self.outline.weighted:
            return left_out.records
        coder, places, aside = self._coder, range(len(self.outline.columns)), Aside(self.outline, masking, left_out)

        def count(batches: Iterator[pa.Table]) -> Iterator[pa.Table]:
            yield pa.table({"rows": pa.array([aside.rows(map(Recount(coder, places).chunk, batches))])})

        found = self._source.partitions(count, Recount(coder, places).names, "rows bigint")
        with self._source.watched():
            return sum(found.toArrow()["rows"].to_pylist())

    def _distinct(
        self,
        places: Collection[int],
        lookups: Sequence[Array],
        sizes: Sequence[int],
        *,
        with_class: bool = False,
        persons: bool = False,
    ) -> Runs:
        """The distinct rows of looked-up codes with their weights, merged in each task.

        If persons are asked for, their numbers come first, and all rows of a person are in one part.
        """
        coder, order = self._coder, list(places)
        sizes = [*WORDS, *sizes] if persons else sizes
        parts = parts_of(self.outline.rows, self._source.shuffles)

        def collapse(batches: Iterator[pa.Table]) -> Iterator[pa.Table]:
            recount, distinct = Recount(coder, order, persons=persons), DistinctRows(sizes)
            for batch in batches:
                chunk = recount.chunk(batch)
                codes = [lookup[chunk.codes[place]] for place, lookup in zip(order, lookups, strict=True)]
                distinct.add([*chunk.persons, *codes, *([chunk.classes] if with_class else [])], chunk.weight)
            # The first word is of the person alone.
            yield from hashed_blocks(distinct.sorted(), parts, 1 if persons else None)

        found = self._source.partitions(collapse, Recount(coder, order, persons=persons).names, SCHEMA)
        return Runs(found, tuple(sizes), parts)

    @contextmanager
    def _kept(self, runs: Runs) -> Iterator[Runs]:
        """The merged rows. The cluster keeps them meanwhile, unless they are only collected."""
        with self._source.watched():
            merged = runs.merged()
            if self._where != "driver" or self.outline.persons is not None:
                merged.frame.persist()
        try:
            yield merged
        finally:
            merged.frame.unpersist()

    def _fits(self, runs: Runs) -> bool:
        """Whether distinct rows are searched in the driver."""
        with self._source.watched():
            return self._where == "driver" or (self._where == "auto" and runs.totals()[0] <= DRIVER_ROWS)

    def _collected(self, runs: Runs) -> SortedRows:
        with self._source.watched():
            return runs.collected()

    def _check_marginals(self, places: Sequence[int], codes: Sequence[Array], weight: IntArray) -> None:
        """Checks that the values of each column are those of the first pass; otherwise the source has changed."""
        counts = [self.outline.histograms[place].sum(axis=1) for place in places]

        def counted(start: int) -> list[Array]:
            rows = slice(start, start + BLOCK)
            return [
                np.bincount(column[rows], weights=weight[rows], minlength=len(count))
                for column, count in zip(codes, counts, strict=True)
            ]

        found = zip(*each(counted, range(0, max(len(weight), 1), BLOCK), len(weight)), strict=True)
        if not all(np.array_equal(sum(parts), count) for parts, count in zip(found, counts, strict=True)):
            raise changed(self.outline.origin)

    def _check_total(self, runs: Runs) -> None:
        with self._source.watched():
            if runs.totals()[1] != self.outline.records:
                raise changed(self.outline.origin)


def _surveyor(empty: Survey) -> Function:
    """What each partition runs in the first pass: the survey of its rows, serialized."""

    def run(batches: Iterator[pa.Table]) -> Iterator[pa.Table]:
        survey = empty.fresh()
        for batch in batches:
            survey.add(batch)
        yield pa.table({"survey": pa.array([pickle.dumps(survey)], pa.binary())})

    return run


def _gatherer(empty: Survey) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What merges the surveys of several partitions."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        survey = empty.fresh()
        for batch in batches:
            for packed in batch.column(0):
                survey.absorb(pickle.loads(packed.as_py()))  # noqa: S301 - our own workers wrote it
        yield pa.RecordBatch.from_pydict({"survey": pa.array([pickle.dumps(survey)], pa.binary())})

    return run
