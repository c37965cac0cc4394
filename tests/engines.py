"""The engines that a test can run on, and how each is set up for tests: small batches, two Spark workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from unveil.tables import files

NAMES = ("memory", "stream", "spark", "spark-cluster")
"""`spark` searches in the driver, `spark-cluster` on the cluster."""
QUICK = ("memory", "stream")
SPARK_EXAMPLES = 2
"""A job on Spark takes about a second, so hypothesis tries fewer examples there unless all are asked for."""
SPARK = {
    "spark.master": "local[2,3]",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "1g",
    "spark.sql.session.timeZone": "Asia/Kolkata",  # that of the session must not matter
}


@contextmanager
def chosen(name: str) -> Iterator[None]:
    """Makes an engine the one that publishes."""
    with pytest.MonkeyPatch.context() as patch:
        engine, _, cluster = name.partition("-")
        patch.setenv("UNVEIL_ENGINE", engine)
        if engine == "stream":
            patch.setattr(files, "BATCH", 3)
        if engine == "spark":
            from pyspark.sql import SparkSession

            from unveil.counting.spark.session import spark_session

            # Other tests of this process may have started a session of their own.
            spark_session(None if SparkSession.getActiveSession() else SPARK)
            patch.setenv("UNVEIL_INDEX", "cluster" if cluster else "driver")
        yield
