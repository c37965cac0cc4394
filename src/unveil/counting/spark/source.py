"""Rows for Spark with the values that Arrow reads, so that every engine counts the same values.

Workers read files and frames in memory part by part, with the code of the other engines. A Spark frame holds whatever
values Spark reads.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa

from unveil.counting.spark.session import check_settings, kept, spark_session, told_plainly
from unveil.errors import EngineError
from unveil.frames import Mixed, arrow_table, check_names
from unveil.masking import Derivations
from unveil.schema import Missing, Spec
from unveil.tables import FileSource, FrameSource, changed, derivations, plain_type, raw_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

Function = Callable[[Iterator[pa.Table]], Iterable[pa.Table]]
Read = Callable[[pa.RecordBatch, Sequence[str]], Iterable[pa.Table]]
"""From a batch of Spark to rows with the columns' own names and types."""
PART_ROWS = 1 << 18
"""A frame in memory is passed to Spark in parts of this many rows."""
TASKS = 32
"""Up to this many parts of files have a task each; of more parts, up to `PARTS` share one."""
PARTS = 4


UNSIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
"""Types that hold unsigned integers, which Spark lacks."""


class SparkSource:
    """A Spark frame, and how its batches become rows."""

    def __init__(
        self,
        frame: DataFrame,
        schema: pa.Schema,
        origin: str,
        read: Read | None = None,
        files: FileSource | None = None,
    ) -> None:
        """Keeps the rows themselves, or parts that workers `read`, and the files that they come from, if any."""
        self.origin = origin
        self.schema = self._given = schema
        self._derived = Derivations({})
        # Columns are numbered, because Spark gives meaning to some names.
        self._frame = frame if read else frame.toDF(*(f"c{place}" for place in range(len(schema))))
        self._read = read
        self._files = files
        self._stamp = None if files is None else files.stamp()

    def hold(self, names: Sequence[str]) -> None:
        """Has Spark compute some columns of a frame only once, until this source is no longer used.

        Computed again for the next pass, a frame may pair other values: by chance, or because somebody writes to what
        it reads. Files are checked by their stamps instead.
        """
        level = self._frame.storageLevel
        if self._read is None and not (level.useMemory or level.useDisk):
            # Spark keeps equal plans once, and would drop what another source still reads.
            own = self._chosen(self._derived.sources(names)).where(f"'{uuid4()}' <> ''")
            self._frame = kept(own, self)

    def derive(self, derived: Derivations) -> SparkSource:
        """Gives the rows derived columns; workers compute them."""
        self.schema, self._derived = derived.schema(self._given), derived
        return self

    @property
    def shuffles(self) -> int:
        """How many tasks the session shuffles rows into."""
        return int(self._frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Work on the rows: errors become one sentence, and files that have changed are refused."""
        try:
            with told_plainly(self.origin):
                yield
        except EngineError as error:
            if self._changed():
                raise changed(self.origin) from error
            raise
        if self._changed():
            raise changed(self.origin)

    def _changed(self) -> bool:
        return self._files is not None and self._files.stamp() != self._stamp

    def types(self, name: str) -> tuple[DataType, pa.DataType]:
        """The type that the values of a column have while Spark sorts them, in Spark and in Arrow, if it has one."""
        from pyspark.errors import PySparkException
        from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type

        plain = plain_type(self.schema.field(name).type)
        try:
            of_spark = from_arrow_type(carrier(plain))
            return of_spark, to_arrow_type(of_spark)
        except (PySparkException, ValueError) as error:
            raise EngineError(
                f"{self.origin}: the column {name!r} holds {plain}, which Spark has no type for; describe it, convert "
                "it, or use another engine."
            ) from error

    def partitions(self, function: Function, names: Sequence[str], columns: str | StructType) -> DataFrame:
        """Applies a function to each partition of some columns.

        It turns Arrow tables with the columns' own names and types into tables with `columns`, as Spark writes these.
        """
        derived, sources = self._derived, self._derived.sources(names)
        wanted = pa.schema([self._given.field(name) for name in sources])
        for field in wanted:
            # Types are refused here, where the name of the table is known; workers see only values.
            raw_column(field.name, pa.chunked_array([], field.type), Missing(()), self.origin)
        read = self._read or _reader(wanted)

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            found = (rows for batch in batches for rows in read(batch, sources))
            for table in function(derived.rows(rows, names) for rows in found):
                yield from table.to_batches()

        frame = self._frame if self._read else self._chosen(sources)
        with self.watched():
            return frame.mapInArrow(run, columns)

    def _chosen(self, names: Sequence[str]) -> DataFrame:
        return self._frame.select(*(f"c{self._given.get_field_index(name)}" for name in names))


def _reader(schema: pa.Schema) -> Read:
    """What gives rows of a Spark frame the names and types that Arrow has for them."""
    types = [plain_type(field.type) for field in schema]

    def read(batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[pa.Table]:
        columns = [column.cast(type_) for column, type_ in zip(batch.columns, types, strict=True)]
        yield pa.Table.from_arrays(columns, names=list(names))

    return read


def open_spark_source(source: Any, settings: Mapping[str, str] | None = None, spec: Spec | None = None) -> SparkSource:
    """Rows for Spark: a path to csv or parquet, a Spark frame, or a frame in memory.

    The session must have the settings; one is started with them if none is running.
    """
    opened = _opened(source, settings, spec)
    return opened if spec is None or not spec.derived else opened.derive(derivations(spec, opened.origin))


def _opened(source: Any, settings: Mapping[str, str] | None, spec: Spec | None) -> SparkSource:
    if type(source).__module__.startswith("pyspark."):
        return _from_spark(source, dict(settings or {}))
    alone = spec is not None and spec.table.drops_invalid
    if isinstance(source, str | Path):
        files = FileSource(Path(source), by_line=alone)
        return _from_files(spark_session(settings), files)
    held = source if isinstance(source, FrameSource) else FrameSource(arrow_table(source, alone=alone))
    return _from_memory(held, settings)


def _from_spark(frame: DataFrame, asked: Mapping[str, str]) -> SparkSource:
    from pyspark.sql import DataFrame

    if not isinstance(frame, DataFrame):
        raise EngineError(f"table: {type(frame).__name__} is not a Spark frame; give a pyspark.sql.DataFrame.")
    with told_plainly("table"):
        check_settings(frame.sparkSession, asked)
        check_names(frame.columns, "table")
        schema = pa.schema([(field.name, _seen_type(field.dataType)) for field in frame.schema])
        return SparkSource(frame, schema, "table")


def _seen_type(type_: DataType) -> pa.DataType:
    """The Arrow type of a Spark type; instants are in UTC, whatever the time zone of the session."""
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type

    try:
        return to_arrow_type(type_, error_on_duplicated_field_names_in_struct=False, timezone="UTC")
    except PySparkException:
        return Mixed()


def _from_files(spark: SparkSession, files: FileSource) -> SparkSource:
    parts = files.parts()

    def read(batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[pa.Table]:
        for number in batch.column(0).to_pylist():
            yield from files.part(parts[number], names)

    with told_plainly(files.origin):
        tasks = max(min(len(parts), TASKS), -(-len(parts) // PARTS))
        frame = spark.range(0, len(parts), 1, tasks)
    return SparkSource(frame, files.schema, files.origin, read, files)


def _from_memory(held: FrameSource, settings: Mapping[str, str] | None) -> SparkSource:
    spark, table = spark_session(settings), held.frame
    known = [place for place, field in enumerate(table.schema) if not isinstance(field.type, Mixed)]
    parts = [(_packed(batch),) for batch in table.select(known).to_batches(max_chunksize=PART_ROWS)]

    def read(batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[pa.Table]:
        for part in batch.column(0):
            with pa.ipc.open_stream(part.as_buffer()) as reader:
                yield reader.read_all().select(names)

    with told_plainly(held.origin):
        frame = spark.createDataFrame(parts, "part binary")
    return SparkSource(frame, table.schema, held.origin, read)


def _packed(batch: pa.RecordBatch) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def carrier(type_: pa.DataType) -> pa.DataType:
    """A type that Spark and Arrow share, which holds the values of another type in the same order.

    Times are passed as integers, so that Spark's time zones and calendars do not matter.
    """
    if pa.types.is_timestamp(type_) or pa.types.is_time64(type_):
        return pa.int64()
    if pa.types.is_date32(type_) or pa.types.is_time32(type_):
        return pa.int32()
    return UNSIGNED.get(type_, type_)
