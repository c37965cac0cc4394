"""The engines that a test can run on, and how each is set up for tests: small batches, two Spark workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

from unveil.errors import EngineError
from unveil.schema import spec, steering
from unveil.tables import files

NAMES = ("memory", "stream", "spark", "spark-cluster")
"""`spark` searches in the driver, `spark-cluster` on the cluster."""
QUICK = ("memory", "stream")
ROWS = ("memory", "stream", "spark")
"""For what is about reading and writing rows, which does not depend on where the index is."""
MOST_EXAMPLES = 40
"""Hypothesis draws other examples in every run, so a run tries so many at most unless all are asked for."""
SPARK_EXAMPLES = 2
"""A job on Spark takes about a second, so hypothesis tries fewer examples there unless all are asked for."""
STREAM_SHARE = 3
"""A stream is counted by the loops that count rows in memory, so it gets one example for so many there."""
SPARK = {
    "spark.master": "local[2,3]",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "1g",
    "spark.sql.session.timeZone": "Asia/Kolkata",  # that of the session must not matter
}

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options for every Java that Spark starts: jobs on small tables end before thorough compilation pays."""


@cache
def without_java() -> str:
    """Why nothing can run on Java here; empty where it can."""
    from unveil.counting.spark.session import check_java

    try:
        check_java()
    except EngineError as error:
        return str(error)
    return ""


def compile_loops() -> None:
    """Compiles what most tests count with. Otherwise all processes would compile the same loops when they start."""
    import pyarrow as pa

    import unveil

    rows = pa.table({"age": list(range(40)), "town": ["Cork", "Bergen"] * 20, "ill": ["yes", "no", "no", "yes"] * 10})
    kinds = {"age": {"kind": "number", "whole": True}, "town": {"kind": "category"}}
    require = [{"kind": "k-anonymity", "quasi-identifier": ["age", "town"], "k": 3}]
    spec = {"table": {"class": "ill"}, "attributes": kinds, "require": require}
    for search in ({"search": "paper"}, {"search": "joint"}, {"search": "joint", "recoding": "local"}):
        unveil.publish(rows, {**spec, "publish": search})


def examples(name: str, usual: int) -> int:
    """How many examples hypothesis tries on an engine."""
    most = min(usual, MOST_EXAMPLES)
    if name == "memory":
        return most
    return SPARK_EXAMPLES if name.startswith("spark") else -(-most // STREAM_SHARE)


@contextmanager
def chosen(name: str) -> Iterator[None]:
    """Makes an engine the one that publishes."""
    with pytest.MonkeyPatch.context() as patch:
        engine, _, cluster = name.partition("-")
        patch.setenv("UNVEIL_ENGINE", engine)
        if engine == "stream":
            patch.setattr(files, "BATCH", 3)
        if engine == "spark":
            _start_spark()
            patch.setattr("unveil.counting.spark.engine.GATHERED", 2)
            patch.setattr("unveil.counting.spark.runs.TASK_ROWS", 16)
            patch.setenv("UNVEIL_INDEX", "cluster" if cluster else "driver")
        if cluster:  # the joint search asks more jobs of it, so a spec that names none takes the paper's
            for module in (steering, spec):
                patch.setattr(module, "search_of", lambda publish: publish.search or "paper")
        yield


def _start_spark() -> None:
    """Makes the session that of all these tests; others of this process may have started one with other settings."""
    from pyspark.sql import SparkSession

    from unveil.counting.spark.session import spark_session

    running = SparkSession.getActiveSession()
    if running and any(running.conf.get(key, None) != value for key, value in SPARK.items()):
        running.stop()
    spark_session(SPARK)
