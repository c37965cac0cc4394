"""Whatever Spark is given, it releases what the memory engine does: types, names, files, partitions, zones."""

from __future__ import annotations

import datetime as dt
import gc
import json
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from socket import SocketIO
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from weakref import finalize

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engines
import unveil
from unveil.counting.spark.session import kept, spark_session, told_plainly
from unveil.counting.spark.source import carrier
from unveil.tables import files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.xdist_group("spark")

SPEC: dict[str, Any] = {
    "table": {"class": "ill", "missing": {"values": ["?", ""], "rows": "drop"}, "others": "release"},
    "attributes": {"age": {"kind": "number", "whole": True}, "town": {"kind": "category"}},
    "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "town"], "k": 3}],
}
ROWS = 60


@pytest.fixture(autouse=True)
def _on_spark() -> Any:
    with engines.chosen("spark"):
        yield


def same(release: unveil.Release, expected: unveil.Release) -> None:
    assert release.trace == expected.trace
    assert release.manifest == expected.manifest
    assert release.table.schema == expected.table.schema
    assert repr(release.table.to_pylist()) == repr(expected.table.to_pylist())


def by_memory(table: Any, spec: dict[str, Any] = SPEC) -> unveil.Release:
    return unveil.publish(table, spec, engine="memory")


def people(**columns: Any) -> pa.Table:
    numbers = range(ROWS)
    return pa.table(
        {
            "age": pa.array([None if i % 11 == 5 else 20 + i % 7 for i in numbers]),
            "town": pa.array(["?" if i % 13 == 4 else "ab"[i % 2] for i in numbers]),
            **columns,
            "ill": pa.array(["yn"[(i // 3) % 2] for i in numbers]),
        }
    )


def every_type() -> dict[str, pa.Array]:
    """A column of each type that can be released, with nulls and with values at the ends of its range."""
    days = [dt.datetime(2024, 1, 1 + i % 3, 23, 30) for i in range(ROWS)]
    clock = [dt.time(i % 24, 59, 59, 999_999) for i in range(ROWS)]
    bits = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
    columns: dict[str, Any] = {
        f"uint{size}": pa.array(np.array([2**size - 1 - i % 3 for i in range(ROWS)], dtype=kind))
        for size, kind in bits.items()
    }
    columns |= {
        "int8": pa.array([-128 + i % 3 for i in range(ROWS)], pa.int8()),
        "half": pa.array(np.array([0.5 * (i % 3) for i in range(ROWS)], dtype=np.float16)),
        "float": pa.array([0.1 * (i % 3) for i in range(ROWS)], pa.float32()),
        "double": pa.array([[0.0, -0.0, float("nan"), float("inf")][i % 4] for i in range(ROWS)]),
        "decimal": pa.array([Decimal(i % 4).scaleb(-2) for i in range(ROWS)], pa.decimal128(30, 2)),
        "day": pa.array([stamp.date() for stamp in days]),
        "day64": pa.array([stamp.date() for stamp in days], pa.date64()),
        "old": pa.array([dt.date(1 + i % 3, 1, 1) for i in range(ROWS)]),
        "clock": pa.array(clock, pa.time64("us")),
        "clock_ns": pa.array(clock, pa.time64("us")).cast(pa.time64("ns")),
        "seconds": pa.array([time.replace(microsecond=0) for time in clock], pa.time32("s")),
        "nanos": pa.array(np.arange(ROWS) % 4 + 1, pa.int64()).cast(pa.timestamp("ns")),
        "moment": pa.array(days, pa.timestamp("us")),
        "second": pa.array(days, pa.timestamp("s")),
        "instant": pa.array(days, pa.timestamp("us", "UTC")),
        "paris": pa.array(days, pa.timestamp("ms", "Europe/Paris")),
        "nothing": pa.nulls(ROWS),
        "large": pa.array(["éa", "Éb", "中", "z"] * (ROWS // 4), pa.large_string()),
        "view": pa.array(["x", "y"] * (ROWS // 2), pa.string_view()),
        "words": pa.array(["x", "y", None] * (ROWS // 3)).dictionary_encode(),
        "numbers": pa.array([3, 1, None] * (ROWS // 3)).dictionary_encode(),
        "truth": pa.array([True, False, None] * (ROWS // 3)),
    }
    holes = pa.array([i % 9 == 0 for i in range(ROWS)])
    return {name: column if name in ("words", "numbers") else _holed(column, holes) for name, column in columns.items()}


def _holed(column: pa.Array, holes: pa.Array) -> pa.Array:
    places = pc.if_else(holes, None, pa.array(range(len(column))))
    return column.take(places) if not pa.types.is_string_view(column.type) else column


def test_every_type_from_memory_and_from_a_file(tmp_path: Path) -> None:
    table = people(**every_type())
    same(unveil.publish(table, SPEC), by_memory(table))
    stored = table.drop_columns(["view"])
    pa.parquet.write_table(stored, tmp_path / "p.parquet", row_group_size=7)
    same(unveil.publish(tmp_path / "p.parquet", SPEC), by_memory(tmp_path / "p.parquet"))


def test_values_are_carried_through_spark_unchanged_and_in_their_order() -> None:
    for name, column in every_type().items():
        if pa.types.is_dictionary(column.type) or name in ("double", "half", "day64"):
            continue
        carried = column.cast(carrier(column.type))
        assert carried.cast(column.type).equals(column), name
        if not pa.types.is_string_view(column.type):
            assert pc.sort_indices(carried).equals(pc.sort_indices(column)), name


def test_masked_values_of_every_type() -> None:
    kinds = {"uint64": "number", "decimal": "number", "float": "number", "paris": "date", "instant": "date"}
    kinds |= {"old": "date", "clock": "category", "moment": "category", "words": "category", "numbers": "number"}
    kinds |= {"truth": "category", "nanos": "category"}
    columns = every_type()
    big = pa.array([2**53 - 1 - i % 3 for i in range(ROWS)], pa.uint64())
    table = people(**{name: columns[name] for name in kinds} | {"uint64": big})
    names = ["age", *kinds]
    spec = SPEC | {
        "attributes": {**SPEC["attributes"], **{name: {"kind": kind} for name, kind in kinds.items()}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": names, "k": 2}],
    }
    same(unveil.publish(table, spec), by_memory(table, spec))


@pytest.mark.parametrize("kind", ["int", "bool", "date", "weighted"])
def test_the_type_of_the_class_and_weights(kind: str) -> None:
    classes = {
        "int": pa.array([i % 2 for i in range(ROWS)], pa.int16()),
        "bool": pa.array([i % 2 == 0 for i in range(ROWS)]),
        "date": pa.array([dt.date(2024, 1, 1 + i % 2) for i in range(ROWS)]),
        "weighted": pa.array(["yn"[i % 2] for i in range(ROWS)]),
    }
    table = people().set_column(2, "ill", classes[kind])
    spec = SPEC
    if kind == "weighted":
        table = table.append_column("n", pa.array([1 + i % 4 for i in range(ROWS)], pa.int32()))
        spec = SPEC | {"table": SPEC["table"] | {"weight": "n"}}
    same(unveil.publish(as_frame(table), spec), by_memory(table, spec))


def as_frame(table: pa.Table) -> Any:
    return spark_session().createDataFrame(table)


NAMES = ("a.b", "a`b", "AGE", "age ", "中 文", "", 'q"', "c0", "count", "`")


def test_column_names_mean_nothing_to_spark(tmp_path: Path) -> None:
    table = people(**{name: pa.array([i % 3 for i in range(ROWS)]) for name in NAMES})
    pa.parquet.write_table(table, tmp_path / "p.parquet")
    same(unveil.publish(tmp_path / "p.parquet", SPEC), by_memory(table))
    spec = SPEC | {
        "attributes": {**SPEC["attributes"], "a.b": {"kind": "number"}, "AGE": {"kind": "category"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "a.b", "AGE"], "k": 3}],
    }
    same(unveil.publish(as_frame(table), spec), by_memory(table, spec))


@pytest.mark.parametrize("partitions", [1, 3, 40])
def test_partitions_of_any_number_some_empty_some_skewed(partitions: int) -> None:
    table = people(day=every_type()["day"])
    frame = as_frame(table)
    spread = frame.coalesce(1) if partitions == 1 else frame.repartition(partitions, "age")
    assert spread.rdd.getNumPartitions() == partitions
    release, expected = unveil.publish(spread, SPEC), by_memory(table)
    assert (release.trace, release.manifest) == (expected.trace, expected.manifest)
    if partitions == 3:
        same(release, expected)


def test_frames_of_any_spark_source(tmp_path: Path) -> None:
    table, spark = people(), spark_session()
    expected = by_memory(table)
    as_frame(table).createOrReplaceTempView("patients")
    same(unveil.publish(spark.sql("select * from patients order by town desc"), SPEC), expected)
    as_frame(table).write.partitionBy("ill").parquet(str(tmp_path / "parts"))
    read = spark.read.parquet(str(tmp_path / "parts")).select("age", "town", "ill")
    same(unveil.publish(read, SPEC), expected)
    lines = "\n".join(json.dumps(row) for row in table.to_pylist())
    (tmp_path / "people.json").write_text(lines, encoding="utf-8")
    same(unveil.publish(spark.read.json(str(tmp_path / "people.json")).select("age", "town", "ill"), SPEC), expected)


def test_a_frame_that_would_be_other_rows_each_time_is_computed_once() -> None:
    def shuffle(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            towns = np.random.default_rng().permutation(batch.column("town").to_numpy(zero_copy_only=False))
            yield batch.set_column(1, "town", pa.array(towns, pa.string()))

    numbers = np.random.default_rng(0).integers(0, 30, (300, 2)).tolist()
    rows = [{"age": age, "town": "abcdefgh"[town % 8], "ill": "yn"[town % 2]} for age, town in numbers]
    spark = spark_session()

    before = persistent(spark)
    frame = spark.createDataFrame(pa.Table.from_pylist(rows)).coalesce(1)
    with told_plainly("table"):
        frame = frame.mapInArrow(shuffle, "age bigint, town string, ill string")
    # A release that nobody needs any more must not take away what another one still reads.
    held = [unveil.publish(frame, SPEC)]
    assert len(persistent(spark) - before) == 2  # the rows, and the distinct released rows
    for _ in range(3):
        held[0] = unveil.publish(frame, SPEC)
        gc.collect()
        assert held[0].to_pandas(intervals="text").astype(str).groupby(["age", "town"]).size().min() >= 3
    held.clear()
    gc.collect()
    assert forgotten(spark, before)


def persistent(spark: SparkSession) -> set[int]:
    """What Spark keeps."""
    return set(spark.sparkContext._jsc.getPersistentRDDs())


def forgotten(spark: SparkSession, before: set[int]) -> bool:
    """Whether Spark soon keeps only what it kept before."""
    end = time.monotonic() + 20
    while not (persistent(spark) <= before) and time.monotonic() < end:
        time.sleep(0.05)
    return persistent(spark) <= before


class User:
    """Somebody who uses a frame, and whom only the garbage collector finds."""

    def __init__(self, frame: DataFrame, keep: Callable[[DataFrame, object], object]) -> None:
        self.me = self
        keep(frame, self)


def counts_while_collecting(spark: SparkSession, keep: Callable[[DataFrame, object], object]) -> list[int]:
    """Counts of Spark, while whose answers are read the users of other frames are collected.

    Of others, since Spark keeps a frame again that is forgotten before it has been computed.
    """
    read = SocketIO.readinto

    def readinto(self: SocketIO, buffer: Any) -> int | None:
        gc.collect()
        return read(self, buffer)

    found = []
    gc.disable()
    try:
        for number in range(5):
            used = spark.range(number + 100)
            User(used, keep)
            used.count()
            with patch.object(SocketIO, "readinto", readinto):
                found.append(spark.range(number + 1).count())
    finally:
        gc.enable()
    return found


def test_frames_are_forgotten_while_java_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    spark, broken = spark_session(), []
    before = persistent(spark)
    monkeypatch.setattr(sys, "unraisablehook", broken.append)
    assert counts_while_collecting(spark, kept) == [1, 2, 3, 4, 5]
    assert forgotten(spark, before)
    assert not broken

    def by_the_caller(frame: DataFrame, user: object) -> None:
        finalize(user, frame.persist().unpersist)

    # In a thread of its own, whose connection nobody uses after it is broken.
    with ThreadPoolExecutor(1) as thread:
        counting = thread.submit(counts_while_collecting, spark, by_the_caller)
    assert broken or counting.exception()
    spark.catalog.clearCache()


def test_a_frame_that_its_owner_keeps_is_left_as_it_is() -> None:
    frame = spark_session().createDataFrame(people()).persist()
    same(unveil.publish(frame, SPEC), by_memory(people()))
    gc.collect()
    assert frame.storageLevel.useMemory
    frame.unpersist()


def test_the_zone_of_the_session_does_not_matter() -> None:
    spark, table = spark_session(), people(at=every_type()["instant"], seen=every_type()["instant"])
    spec = SPEC | {"attributes": {**SPEC["attributes"], "seen": {"kind": "date"}}}
    expected = by_memory(table, spec)
    zone = spark.conf.get("spark.sql.session.timeZone")
    try:
        for other in ("Pacific/Kiritimati", "America/Los_Angeles"):
            frame = as_frame(table)
            spark.conf.set("spark.sql.session.timeZone", other)
            same(unveil.publish(frame, spec), expected)
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


PATHS = ("_p.parquet", ".p.parquet", "p[1].parquet", "p*.parquet", "p {a,b}.parquet", "p:q.parquet", "p#?%20.parquet")


def test_files_of_any_name(tmp_path: Path) -> None:
    for name in PATHS:
        pa.parquet.write_table(people(), tmp_path / name)
        assert unveil.publish(tmp_path / name, SPEC).trace == by_memory(people()).trace, name


CSV = "age,town,note,ill\n" + "".join(
    f'{20 + i % 5},{" ab"[i % 3]}x,"say ""{i % 2}"" \\,\nnow",{"yn"[(i // 3) % 2]}\n' for i in range(ROWS)
)


def test_csv_files_of_any_shape(tmp_path: Path) -> None:
    rows = [line.split(",") for line in "".join(f"{20 + i % 5},c,,{'yn'[i % 2]}\n" for i in range(20)).splitlines()]
    turned = "note;ill;town;age\n" + "".join(f"{note};{ill};{town};{age}\n" for age, town, note, ill in rows)
    contents = {"a": CSV, "b": "\ufeff" + CSV, "c": CSV.replace("\n", "\r\n"), "d": turned, "e": CSV + "\n\n"}
    for name, content in contents.items():
        (tmp_path / f"{name}.csv").write_text(content, encoding="utf-8", newline="")
    same(unveil.publish(tmp_path, SPEC), by_memory(tmp_path))


def test_parquet_files_with_other_orders_and_widths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BATCH", 10)
    table = people()
    pa.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=4)
    pa.parquet.write_table(table.select(["ill", "age", "town"]), tmp_path / "b.parquet")
    pa.parquet.write_table(table.set_column(0, "age", table["age"].cast(pa.int16())), tmp_path / "c.parquet")
    same(unveil.publish(tmp_path, SPEC), by_memory(tmp_path))


@settings(deadline=None, max_examples=4)
@given(st.data())
def test_any_values_and_nulls(data: st.DataObject) -> None:
    rows = data.draw(st.integers(8, 40))
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "text": st.text(max_size=3),
        "number": st.floats(allow_infinity=False, width=32),
        "whole": st.integers(-(2**53), 2**53),
        "day": st.dates(),
        "at": st.datetimes(timezones=st.just(dt.UTC)),
        "ok": st.booleans(),
    }
    types = {"number": pa.float64(), "whole": pa.int64(), "at": pa.timestamp("us", "UTC"), "text": pa.string()}
    types |= {"day": pa.date32(), "ok": pa.bool_()}
    columns = {
        name: pa.array(data.draw(st.lists(st.none() | kind, min_size=rows, max_size=rows)), types[name])
        for name, kind in kinds.items()
    }
    table = pa.table({"age": [i % 3 for i in range(rows)], **columns, "ill": ["yn"[i % 2] for i in range(rows)]})
    spec = {
        "table": {"class": "ill", "missing": {"values": ["?"], "rows": "drop"}, "others": "release"},
        "attributes": {"age": {"kind": "number"}, "text": {"kind": "category"}},
        "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "text"], "k": 2}],
    }
    if sentence := refusal(table, spec, "memory"):
        assert refusal(table, spec, "spark") == sentence
        return
    expected = by_memory(table, spec)
    same(unveil.publish(table, spec), expected)
    same(unveil.publish(as_frame(table).repartition(3), spec), expected)


def refusal(table: pa.Table, spec: dict[str, Any], engine: str) -> str | None:
    try:
        unveil.publish(table, spec, engine=engine)
    except unveil.UnveilError as error:
        return str(error)
    return None
