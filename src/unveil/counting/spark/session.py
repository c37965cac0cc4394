"""The Spark session: the running one, or a local one."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any
from weakref import finalize

from unveil import errors
from unveil.cores import VARIABLE
from unveil.errors import EngineError, TableError
from unveil.frames import first_line
from unveil.interruption import temporary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PYSPARK = 4
JAVA = 17
"""The oldest Java that Spark 4 runs on."""
STOPPED = "Spark stopped: its Java process died, perhaps because it ran out of memory."
SCRATCH = "spark.local.dir"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
LOCAL = {
    "spark.master": "local[*]",
    "spark.app.name": "unveil",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(1 << 26),
    f"spark.executorEnv.{VARIABLE}": "1",  # Spark runs a worker on each core
    "spark.python.daemon.module": "unveil.counting.spark.workers",
    JAVA_OPTIONS: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""The settings of a session that we start; the owner's settings override them.

Java mostly moves blocks, so compiling it thoroughly takes longer than it saves.
"""


def spark_session(settings: Mapping[str, str] | None = None) -> SparkSession:
    """The running session, or a local one started with the settings; refuses a running one with other settings."""
    asked = dict(settings or {})
    with quiet():
        _check_pyspark()
        running = _running()
        if running is not None:
            check_settings(running, asked)
            return running
        check_java()
        return _started(with_scratch({**LOCAL, **asked}))


def with_scratch(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings with a private scratch folder, because Spark writes raw values to its scratch folder.

    A folder that the owner sets is kept, and so are the folders of other machines.
    """
    local = settings["spark.master"].startswith("local")
    if not local or SCRATCH in settings or "SPARK_LOCAL_DIRS" in os.environ:
        return dict(settings)
    folder = temporary(Path(tempfile.mkdtemp(prefix="unveil-spark-")))
    java = f"{settings.get(JAVA_OPTIONS, '')} -Djava.io.tmpdir={folder}"
    return {**settings, SCRATCH: str(folder), JAVA_OPTIONS: java.strip()}


def _check_pyspark() -> None:
    try:
        import pyspark
    except ImportError as error:
        raise EngineError(
            f"the Spark engine needs PySpark {PYSPARK}, which is not installed: install unveil[spark]."
        ) from error
    if int(pyspark.__version__.partition(".")[0]) < PYSPARK:
        raise EngineError(f"the Spark engine needs PySpark {PYSPARK}, but {pyspark.__version__} is installed.")


def _running() -> SparkSession | None:
    """The session of this thread, or the one that was started in another."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    active: SparkSession | None = SparkSession.getActiveSession()
    if active is None and SparkContext._active_spark_context is not None:
        # Without our settings, which would change someone else's session.
        return SparkSession.builder.getOrCreate()
    return active


def _started(settings: Mapping[str, str]) -> SparkSession:
    """A session that we start. Workers run the same Python, and the log output of Java is discarded."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    stderr, handler = os.dup(2), signal.getsignal(signal.SIGINT)
    try:
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        session = builder.getOrCreate()
        # Only our sentence is printed when Java dies.
        session.sparkContext._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign]
        return session
    except Exception as error:
        raise EngineError(f"Spark does not start: {first_line(error)}.") from error
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        _restore(handler)


def _restore(handler: Any) -> None:
    """Restores the previous handler of Ctrl-C: Spark installs its own, which raises an exception.

    Python's default handler is not restored, because Spark's handler cancels its jobs first.
    """
    if handler is not signal.default_int_handler and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)


@contextmanager
def quiet() -> Iterator[None]:
    """Ignores the warning of PySpark about every newer pandas, which is not used here, and what py4j logs.

    Py4j logs a traceback when Java dies in the middle of a call; `told_plainly` says it in a sentence.
    """
    logging.root.addFilter(_not_py4j)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*pandas", category=FutureWarning)
            yield
    finally:
        logging.root.removeFilter(_not_py4j)


def _not_py4j(record: logging.LogRecord) -> bool:
    return record.module != "java_gateway"


_LEFT: SimpleQueue[DataFrame] = SimpleQueue()
"""Frames that Spark may forget."""


def kept(frame: DataFrame, user: object) -> DataFrame:
    """Has Spark keep what it computes of a frame as long as an object is used.

    The object may be collected in the middle of a call to Java, which allows no other call of this thread until it
    returns. So another thread tells Spark.
    """
    _forgetting()
    finalize(user, _LEFT.put, frame).atexit = False
    return frame.persist()


@cache
def _forgetting() -> threading.Thread:
    """The thread that waits for such frames."""

    def forget() -> None:
        while True:
            with suppress(Exception):  # the session may have ended, and its frames with it
                _LEFT.get().unpersist()

    thread = threading.Thread(target=forget, name="unveil-spark", daemon=True)
    thread.start()
    return thread


def check_java() -> None:
    """Refuses to start without Java 17 or later."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None or not Path(java).exists():
        where = f"JAVA_HOME is {home!r}, which has none" if home else "there is no java command"
        raise EngineError(f"the Spark engine needs Java {JAVA} or later, but {where}.")
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603
    except OSError as error:
        raise EngineError(
            f"the Spark engine needs Java {JAVA} or later, but {java} cannot be run: {error.strerror}."
        ) from error
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    if found is None or int(found[1]) < JAVA:
        version = f"version {found[1]}" if found else "of an unknown version"
        raise EngineError(f"the Spark engine needs Java {JAVA} or later, but {java} is {version}.")


def check_settings(running: SparkSession, asked: Mapping[str, str]) -> None:
    """Refuses a running session with other settings than requested."""
    for key, value in asked.items():
        now = running.conf.get(key, None)
        if now != value:
            raise EngineError(
                f"a Spark session is running with {key} = {now!r}, but {value!r} was asked for; stop it, or leave the "
                "setting out."
            )


@contextmanager
def told_plainly(origin: str) -> Iterator[None]:
    """Turns an error in Spark into one sentence.

    An error that a worker raised for the user is passed on unchanged; of any other, the first line is shown.
    """
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    try:
        with quiet():
            yield
    except (Py4JNetworkError, ConnectionError, EOFError) as error:
        raise EngineError(f"{origin}: {STOPPED}") from error
    except (PySparkException, Py4JError) as error:
        text = str(error)
        if type(error) is Py4JError and "Trace:" not in text:  # the answer of a call that Java never gave
            raise EngineError(f"{origin}: {STOPPED}") from error
        said = re.search(r"^unveil\.errors\.(\w*Error): (.+)$", text, flags=re.MULTILINE)
        if said:
            raise getattr(errors, said[1], TableError)(said[2].strip()) from error
        raise EngineError(f"{origin}: Spark cannot count the table: {_cause(text)}.") from error


def _cause(text: str) -> str:
    """The most informative line of a Spark error: what Python raised, the root cause in Java, or the first line."""
    if "Python worker exited unexpectedly" in text:
        return "a Python worker died repeatedly, perhaps because it ran out of memory"
    raised = re.findall(r"^[\w.]+(?:Error|Exception|Invalid|Exit): .+$", text, flags=re.MULTILINE)
    causes = re.findall(r"^Caused by: (.+)$", text, flags=re.MULTILINE)
    line: str = (raised or causes or [text.strip().partition("\n")[0]])[-1]
    return line.strip().rstrip(".") or "no reason was given"
