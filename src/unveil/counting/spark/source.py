"""Rows that Spark reads, seen the way Arrow sees them: the same values, whatever engine counts them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from unveil.counting.spark.session import told_plainly
from unveil.errors import EngineError
from unveil.frames import arrow_table, check_names
from unveil.tables import FileSource, FrameSource, changed, plain_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

Function = Callable[[Iterator[pa.Table]], Iterable[pa.Table]]


class Types(NamedTuple):
    """What Spark calls a type, and the Arrow type that its values come as."""

    of_spark: DataType
    by_spark: pa.DataType


class SparkSource:
    """A Spark frame with its columns numbered, so that no name means anything to Spark."""

    def __init__(
        self, frame: DataFrame, schema: pa.Schema, origin: str, files: FileSource | None = None, text: bool = False
    ) -> None:
        """Keeps what is given.

        Args:
            frame: The rows.
            schema: Names and types as Arrow has them.
            origin: What messages call it.
            files: Where the rows lie, if in files.
            text: Whether they are csv: text without nulls, and spaces around it mean nothing.
        """
        self.origin = origin
        self.schema = schema
        self._frame = frame.toDF(*(f"c{place}" for place in range(len(schema))))
        self._files = files
        self._stamp = None if files is None else files.stamp()
        self._text = text

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Work on the rows: what goes wrong is told in one sentence, and files that have changed since are refused."""
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

    def types(self, names: Sequence[str]) -> list[Types]:
        """The types of some columns, as Spark has them and as it hands them to Arrow."""
        from pyspark.sql.pandas.types import to_arrow_type

        zone = self._frame.sparkSession.conf.get("spark.sql.session.timeZone")
        fields = [self._frame.schema[self.schema.get_field_index(name)] for name in names]
        return [Types(field.dataType, to_arrow_type(field.dataType, timezone=zone)) for field in fields]

    def partitions(self, function: Function, names: Sequence[str], columns: str | StructType) -> DataFrame:
        """What a function makes of each partition of some columns.

        Args:
            function: From Arrow tables with the columns' own names and types to tables of the result.
            names: The columns it needs.
            columns: Names and types of the result, as Spark writes them.
        """
        schema, text = pa.schema([self.schema.field(name) for name in names]), self._text

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for table in function(seen_as(batch, schema, text) for batch in batches):
                yield from table.to_batches()

        places = [f"c{self.schema.get_field_index(name)}" for name in names]
        with self.watched():
            return self._frame.select(*places).mapInArrow(run, columns)


def seen_as(batch: pa.RecordBatch, schema: pa.Schema, text: bool) -> pa.Table:
    """A batch that Spark gave, with the names and types that Arrow has for it."""
    columns = []
    for column, field in zip(batch.columns, schema, strict=True):
        if text:
            column = pc.utf8_trim_whitespace(column.fill_null(""))
        columns.append(column.cast(plain_type(field.type)))
    return pa.Table.from_arrays(columns, names=schema.names)


def open_spark_source(spark: SparkSession, source: Any) -> SparkSource:
    """Rows for Spark: a path to csv or parquet, a Spark frame, or a frame in memory."""
    from pyspark.sql import DataFrame

    if isinstance(source, str | Path):
        return _from_files(spark, FileSource(Path(source)))
    if isinstance(source, DataFrame):
        check_names(source.columns, "table")
        return SparkSource(source, _arrow_schema(source), "table")
    held = source if isinstance(source, FrameSource) else FrameSource(arrow_table(source))
    decoded = held.frame.cast(pa.schema([pa.field(field.name, plain_type(field.type)) for field in held.schema]))
    numbered = decoded.rename_columns([f"c{place}" for place in range(decoded.num_columns)])
    with told_plainly(held.origin):
        frame = spark.createDataFrame(numbered)
    _check_types(frame, decoded.schema, held.origin)
    return SparkSource(frame, decoded.schema, held.origin)


def _from_files(spark: SparkSession, files: FileSource) -> SparkSource:
    paths = [str(path.absolute()) for path in files.paths]
    text = {path.suffix == ".parquet" for path in files.paths} != {True}
    with told_plainly(files.origin):
        if not text:
            frame = spark.read.parquet(*paths)
            _check_types(frame, files.schema, files.origin)
            return SparkSource(frame, files.schema, files.origin, files)
        frame = spark.read.csv(
            paths,
            schema=", ".join(f"c{place} string" for place in range(len(files.schema))),
            header=True,
            sep=files.delimiter,
            escape='"',
            multiLine=True,
            mode="FAILFAST",
        )
        return SparkSource(frame, files.schema, files.origin, files, text=True)


def _arrow_schema(frame: DataFrame) -> pa.Schema:
    """What Arrow makes of a Spark frame; instants are told in UTC, whatever zone the session is in."""
    from pyspark.sql.pandas.types import to_arrow_schema

    schema = to_arrow_schema(frame.schema, error_on_duplicated_field_names_in_struct=True, timezone="UTC")
    return schema.remove_metadata()


def _check_types(frame: DataFrame, schema: pa.Schema, origin: str) -> None:
    """Refuses a column whose values would not be the same to Spark and to Arrow."""
    by_spark = _arrow_schema(frame)
    for place, field in enumerate(schema):
        seen = by_spark.field(place).type
        if not _same_values(plain_type(field.type), seen):
            raise EngineError(
                f"{origin}: the column {field.name!r} is {field.type} to Arrow but {seen} to Spark, so that engines "
                "would release different values; convert it first, or use another engine."
            )


def _same_values(by_arrow: pa.DataType, by_spark: pa.DataType) -> bool:
    kinds = (pa.types.is_boolean, pa.types.is_date32, _is_text, _is_small_integer, _is_instant)
    if any(kind(by_arrow) and kind(by_spark) for kind in kinds):
        return True
    return bool(by_arrow == by_spark)


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def _is_small_integer(type_: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type_) and type_ != pa.uint64())


def _is_instant(type_: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(type_) and type_.unit != "ns" and type_.tz is not None)
