"""The rows of a release on Spark: masked, sorted and written by the workers, part by part."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from unveil.arrays import IntArray
from unveil.counting.distinct import DistinctRows, GroupMeans, SortedRows
from unveil.counting.released import BATCH, Masker, RankedValues
from unveil.counting.spark.runs import SCHEMA, Runs, blocks, parts_of
from unveil.counting.spark.session import kept
from unveil.counting.spark.source import SparkSource
from unveil.errors import EngineError
from unveil.interruption import unfinished
from unveil.masking import LeftOut, Masking
from unveil.progress import Watcher, unwatched
from unveil.release import CountedRows, Formulas, parquet_writer, write_group
from unveil.tables import Coder, Outline, Recount, changed, plain_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COUNT = "n"
TOTAL = "millionths"
CLASS = "class"
Write = Callable[[int, Iterator[pa.RecordBatch]], int]
"""Writes the rows of a part, given its number and ranks, and says how many they are."""


@dataclass(frozen=True)
class Layout:
    """How ranks and counts become released rows. It is plain data, to be sent to workers."""

    attributes: tuple[RankedValues, ...]
    others: pa.Schema
    class_: RankedValues
    weight: str | None

    def decoded(self, ranks: pa.Table) -> CountedRows:
        """Released rows from rows of ranks."""
        columns: dict[str, Any] = {
            column.name: column.column(ranks[f"r{place}"].to_numpy()) for place, column in enumerate(self.attributes)
        }
        for place, field in enumerate(self.others):
            held = ranks[f"o{place}"].cast(field.type)
            columns[field.name] = held.dictionary_encode() if pa.types.is_string(field.type) else held
        columns[self.class_.name] = self.class_.column(ranks[CLASS].to_numpy())
        if self.weight is not None:
            return CountedRows(pa.table({**columns, self.weight: ranks[COUNT]}))
        return CountedRows(pa.table(columns), ranks[COUNT].to_numpy())

    def ranks(self, rows: SortedRows) -> Iterator[pa.RecordBatch]:
        """Packed rows of ranks, some at a time."""
        names = [*(f"r{place}" for place in range(len(self.attributes))), CLASS, COUNT]
        for start in range(0, max(len(rows), 1), BATCH):
            stop = start + BATCH
            columns = [pa.array(column.astype(np.int32)) for column in rows.part(start, stop)]
            yield pa.RecordBatch.from_arrays([*columns, pa.array(rows.weight[start:stop])], names)


class SparkReleasedRows:
    """Masked rows that stay on the cluster until they are written."""

    def __init__(
        self,
        source: SparkSource,
        coder: Coder,
        outline: Outline,
        masking: Masking,
        weight: str | None,
        left_out: LeftOut | None = None,
    ) -> None:
        self._source = source
        self._coder = coder
        dropped = left_out is not None and left_out.labels is None
        self._rows = outline.rows - (left_out.records if left_out is not None and dropped else 0)
        self._masker = Masker(outline, masking, left_out)
        *attributes, class_ = self._masker.released
        others = pa.schema([(field.name, plain_type(field.type)) for field in outline.others])
        self._layout = Layout(tuple(attributes), others, class_, weight)
        self._means = GroupMeans.of(outline, masking)
        packed = not others.names and self._means is None
        self._ranks: PackedRanks | RanksInColumns = self._packed() if packed else RanksInColumns(self._grouped())

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        if self._layout.weight is None:
            return self._rows
        with self._source.watched():
            return self._ranks.count()

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        ranks = [f"r{place}" for place in range(len(self._layout.attributes))]
        empty: dict[str, pa.Array] = {name: pa.array([], pa.int32()) for name in [*ranks, CLASS]}
        empty |= {f"o{place}": pa.array([], field.type) for place, field in enumerate(self._layout.others)}
        return self._layout.decoded(pa.table({**empty, COUNT: pa.array([], pa.int64())})).schema

    def table(self) -> pa.Table:
        """All rows, in the driver's memory."""
        return pa.concat_tables([*self.batches()] or [self.schema.empty_table()])

    def batches(self) -> Iterator[pa.Table]:
        """All rows, a part at a time."""
        with tempfile.TemporaryDirectory() as folder, unfinished(Path(folder)):
            written = Path(folder) / "data.parquet"
            self.write(written)
            for part in sorted(written.iterdir()):
                yield pa.parquet.read_table(part).cast(self.schema)

    def counted(self) -> tuple[pa.Table, IntArray]:
        """The distinct rows and their counts, in the driver's memory."""
        with self._source.watched():
            return self._layout.decoded(self._ranks.collected(self._layout)).counted()

    def write(self, path: Path, progress: Watcher = unwatched, formulas: Formulas = "guarded") -> None:
        """Writes a folder of parquet files, in order. Workers write each part whole, so that a retry changes nothing.

        It refuses to write csv files, which `formulas` is for, and a folder that its workers do not share.
        """
        if path.suffix != ".parquet":
            raise EngineError(f"{path.name}: the Spark engine writes parquet; csv is for the other engines.")
        path.mkdir()
        # What a dead worker leaves behind is not among the parts and must not stay in the release.
        drafts = path.absolute().with_name(".drafts")
        drafts.mkdir()
        layout, target = self._layout, path.absolute()

        def write(part: int, batches: Iterator[pa.RecordBatch]) -> int:
            return write_part(batches, layout, drafts, target, part)

        total = self._rows if layout.weight is None else None
        progress(f"writing {path.name}", 0, total)
        with self._source.watched():
            rows = self._ranks.written(layout, write)
        progress(f"writing {path.name}", rows, total)
        shutil.rmtree(drafts, ignore_errors=True)
        if sum(pa.parquet.read_metadata(part).num_rows for part in path.iterdir()) != rows:
            raise EngineError(f"{path}: the workers of Spark do not share this folder with the driver.")
        if layout.weight is None and rows != self._rows:
            raise changed(self._source.origin)

    def _packed(self) -> PackedRanks:
        """The distinct rows of ranks, if these are all that there is."""
        coder, masker, places = self._coder, self._masker, range(len(self._layout.attributes))
        sizes = tuple(column.room for column in masker.columns())
        parts = parts_of(self._rows, self._source.shuffles)

        def mask(batches: Iterator[pa.Table]) -> Iterator[pa.Table]:
            recount, columns, distinct = Recount(coder, places), masker.columns(), DistinctRows(sizes)
            for batch in batches:
                placed, _ = masker.placed(recount.chunk(batch))
                distinct.add([column.of(placed) for column in columns], placed.chunk.weight)
            yield from blocks(distinct.sorted(), least=4 * parts)

        found = self._source.partitions(mask, Recount(coder, places).names, SCHEMA)
        # They are cut into parts, written and counted: three passes over all rows if each masked them again.
        return PackedRanks(Runs(kept(found, self), sizes, parts))

    def _grouped(self) -> DataFrame:
        """The distinct rows of ranks, with the columns that the spec does not describe as they are."""
        from pyspark.sql import functions
        from pyspark.sql.types import IntegerType, LongType, StructField, StructType

        coder, layout, masker, means = self._coder, self._layout, self._masker, self._means
        places = range(len(layout.attributes))
        kinds = [self._source.types(name) for name in layout.others.names]
        others = [f"o{place}" for place in range(len(kinds))]
        keys = [*(f"r{place}" for place in places), *others, CLASS]

        def mask(batches: Iterator[pa.Table]) -> Iterator[pa.Table]:
            recount = Recount(coder, places, others=True)
            columns = masker.columns()
            for batch in batches:
                placed, _ = masker.placed(recount.chunk(batch))
                chunk = placed.chunk
                ranks = [column.of(placed) for column in columns]
                held = {f"r{place}": pa.array(codes) for place, codes in enumerate(ranks[:-1])}
                held |= {
                    name: chunk.others[place].cast(of_arrow)
                    for place, (name, (_, of_arrow)) in enumerate(zip(others, kinds, strict=True))
                }
                held |= {CLASS: pa.array(ranks[-1]), COUNT: pa.array(chunk.records)}
                yield pa.table(held if means is None else {**held, TOTAL: pa.array(means.totals(chunk))})

        schema = StructType(
            [
                *(StructField(f"r{place}", IntegerType()) for place in places),
                *(StructField(name, of_spark) for name, (of_spark, _) in zip(others, kinds, strict=True)),
                StructField(CLASS, IntegerType()),
                StructField(COUNT, LongType()),
                *([] if means is None else [StructField(TOTAL, LongType())]),
            ]
        )
        found = self._source.partitions(mask, Recount(coder, places, others=True).names, schema)
        sums = [functions.sum(name).alias(name) for name in (COUNT, TOTAL) if name in found.columns]
        distinct = found.groupBy(*keys).agg(*sums)
        return distinct if means is None else self._with_means(distinct, means)

    def _with_means(self, rows: DataFrame, means: GroupMeans) -> DataFrame:
        """Distinct rows with the mean survey weight of their groups, where they had the same value each."""
        from pyspark.sql import functions

        groups, weight = [f"r{place}" for place in means.groups], f"r{means.place}"
        sums = [functions.sum(name).alias(name) for name in (COUNT, TOTAL)]
        with self._source.watched():
            held = rows.groupBy(*groups).agg(*sums).toArrow()
        values, ranks = means.ranked(
            [held[name].to_numpy() for name in groups], held[TOTAL].to_numpy(), held[COUNT].to_numpy()
        )
        attributes = list(self._layout.attributes)
        attributes[means.place] = replace(attributes[means.place], values=values)
        self._layout = replace(self._layout, attributes=tuple(attributes))
        ranked = held.select(groups).append_column(weight, pa.array(ranks))
        found = rows.drop(weight, TOTAL).join(functions.broadcast(rows.sparkSession.createDataFrame(ranked)), on=groups)
        return found.select(*(name for name in rows.columns if name != TOTAL))


@dataclass(frozen=True)
class PackedRanks:
    """Distinct rows of ranks that Spark only moves, and keeps as long as they are used."""

    runs: Runs

    def count(self) -> int:
        """How many there are."""
        return self.runs.in_order().merged().totals()[0]

    def collected(self, layout: Layout) -> pa.Table:
        """All rows, in the driver's memory."""
        return pa.Table.from_batches(layout.ranks(self.runs.in_order().merged().collected()))

    def written(self, layout: Layout, write: Write) -> int:
        """Writes the parts, and gives the number of rows that were written."""

        def run(part: int, rows: SortedRows) -> Iterator[pa.Table]:
            yield pa.table({"rows": [write(part, layout.ranks(rows))]})

        return sum(self.runs.in_order().by_part(run, "rows bigint").toArrow()["rows"].to_pylist())


@dataclass(frozen=True)
class RanksInColumns:
    """Distinct rows of ranks and of other values, which Spark compares."""

    frame: DataFrame

    def count(self) -> int:
        """How many there are."""
        return self.frame.count()

    def collected(self, layout: Layout) -> pa.Table:
        """All rows, in the driver's memory."""
        return self._ordered().toArrow()

    def written(self, layout: Layout, write: Write) -> int:
        """Writes the parts, and gives the number of rows that were written."""

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            from pyspark import TaskContext

            context = TaskContext.get()
            part = context.partitionId() if context else 0
            yield pa.RecordBatch.from_pydict({"rows": [write(part, batches)]})

        # In parallel, not one part after the other as an iterator would.
        return sum(self._ordered().mapInArrow(run, "rows bigint").toArrow()["rows"].to_pylist())

    def _ordered(self) -> DataFrame:
        keys = [name for name in self.frame.columns if name != COUNT]
        return self.frame.orderBy(*(self.frame[name].asc_nulls_last() for name in keys))


def write_part(batches: Iterator[pa.RecordBatch], layout: Layout, drafts: Path, folder: Path, part: int) -> int:
    """Writes the rows of one part to a draft first, so that no incomplete part is in place; gives their number.

    A task that is retried, or run twice at once, writes its own draft with the same rows.
    """
    from pyspark import TaskContext

    if not drafts.is_dir():
        raise EngineError(f"{folder.name}: the workers of Spark do not share the release folder with the driver.")
    context = TaskContext.get()
    attempt = context.taskAttemptId() if context else 0
    draft = drafts / f"part-{part}-{attempt}.parquet"
    writer, rows = None, 0
    for batch in batches:
        for table in layout.decoded(pa.Table.from_batches([batch])).batches():
            if writer is None:
                writer = parquet_writer(draft, table.schema)
            write_group(writer, table)
            rows += table.num_rows
    if writer is not None:
        writer.close()
        os.replace(draft, folder / f"part-{part:05}.parquet")
    return rows
