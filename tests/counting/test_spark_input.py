"""What Spark is given that it cannot use: one sentence, exit code 2, no traceback, nothing written."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import engines
import unveil
from commands import Run, refused
from project import ROWS, Project
from unveil.counting.spark import session

pytestmark = pytest.mark.xdist_group("spark")

SPEC: dict[str, Any] = {
    "table": {"class": "ill", "missing": {"values": ["?", ""], "rows": "drop"}},
    "attributes": {"age": {"kind": "number", "whole": True}, "town": {"kind": "category"}},
    "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "town"], "k": 3}],
}
LINES = "\n".join(ROWS) + "\n"


@pytest.fixture(autouse=True)
def _on_spark() -> Any:
    with engines.chosen("spark"):
        yield


@pytest.fixture
def none_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no session had been started yet."""
    monkeypatch.setattr(session, "_running", lambda: None)


def fake_java(folder: Path, says: str) -> Path:
    java = folder / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    java.chmod(0o755)
    return java


def with_home(java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java.parent.parent))


@pytest.mark.usefixtures("none_runs")
@pytest.mark.parametrize(
    ("says", "told"),
    [
        ('openjdk version "11.0.2" 2019-01-15', "is version 11"),
        ('java version "1.8.0_292"', "is version 8"),
        ("a strange machine", "of an unknown version"),
    ],
)
def test_a_java_that_is_too_old(
    says: str, told: str, project: Project, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_home(fake_java(tmp_path, says), monkeypatch)
    refused(project, run, ["needs Java 17 or later", told])


@pytest.mark.usefixtures("none_runs")
def test_no_java(project: Project, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    refused(project, run, ["needs Java 17", "JAVA_HOME is", "nowhere"])
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    refused(project, run, ["needs Java 17", "there is no java command"])


@pytest.mark.usefixtures("none_runs")
def test_a_java_that_cannot_be_run(project: Project, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = fake_java(tmp_path, "")
    java.write_bytes(b"\x00 no program")
    with_home(java, monkeypatch)
    refused(project, run, ["needs Java 17", "cannot be run"])


def test_no_pyspark(project: Project, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    refused(project, run, ["needs PySpark 4", "install unveil[spark]"])


def test_an_old_pyspark(project: Project, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", "3.5.1")
    refused(project, run, ["needs PySpark 4", "3.5.1 is installed"])


def test_a_session_that_is_set_up_in_another_way(project: Project) -> None:
    with pytest.raises(unveil.UnveilError, match=r"running with spark\.sql\.shuffle\.partitions = '2', but '7' was"):
        unveil.publish(project.spec, spark={"spark.sql.shuffle.partitions": "7"})
    assert unveil.publish(project.spec, spark={"spark.sql.shuffle.partitions": "2"}).manifest.rows.dropped == 1


def test_a_session_of_another_thread_is_used_as_it_is(project: Project) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(session.spark_session).result()
    assert found.conf.get("spark.sql.shuffle.partitions") == engines.SPARK["spark.sql.shuffle.partitions"]
    assert found.sparkContext is session.spark_session().sparkContext


def test_csv_is_not_written(project: Project, run: Run) -> None:
    refused(project, run, ["csv", "writes parquet"], "--format", "csv")


Make = Callable[[Path], object]


def texts(**files: str | bytes) -> Make:
    def make(folder: Path) -> None:
        for name, text in files.items():
            path = folder / f"{name}.csv"
            path.write_bytes(text if isinstance(text, bytes) else text.encode())

    return make


def mixed(folder: Path) -> None:
    texts(a=LINES)(folder)
    pa.parquet.write_table(pa.table({name: [1] for name in ROWS[0].split(",")}), folder / "b.parquet")


def broken(folder: Path) -> None:
    (folder / "b.parquet").write_bytes(b"PAR1 no PAR1")


BAD: dict[str, tuple[Make, list[str]]] = {
    "an unknown path": (lambda folder: folder.rmdir(), ["no such file or folder"]),
    "an empty folder": (lambda folder: None, ["no .parquet or .csv file"]),
    "csv and parquet that do not fit together": (mixed, ["do not fit together"]),
    "a row that is too short": (
        texts(a=LINES + "x,30,baker\n"),
        ["a.csv", "cannot be read", "got 3"],
    ),
    "a row that is too long": (texts(a=LINES + "x,30,baker,Cork,1,no,no\n"), ["a.csv", "cannot be read", "got 7"]),
    "bytes that are not text": (
        texts(a=LINES.encode() + b"x,30,baker,\xff,1,no\n"),
        ["a.csv", "UTF8"],
    ),
    "an empty file": (texts(a=LINES, b=""), ["b.csv", "empty"]),
    "a broken parquet file": (broken, ["b.parquet", "cannot be read"]),
    "another header": (texts(a=LINES, b=LINES.replace("town", "city")), ["b.csv", "'city'"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(name: str, project: Project, run: Run) -> None:
    make, words = BAD[name]
    folder = project.folder / "rows"
    folder.mkdir()
    make(folder)
    project.edit(project.spec, '"people.csv"', '"rows"')
    refused(project, run, words)


def told(table: Any, spec: dict[str, Any] = SPEC) -> str:
    with pytest.raises(unveil.UnveilError) as caught:
        unveil.publish(table, spec)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def frame(select: str) -> Any:
    return session.spark_session().sql(f"select {select} from range(40)")  # noqa: S608


PEOPLE = "int(20 + id % 5) as age, if(id % 2 = 0, 'a', 'b') as town, if(id % 3 = 0, 'y', 'n') as ill"


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (f"{PEOPLE}, 1 as age", ["'age'", "twice"]),
        (PEOPLE.replace("if(id % 2 = 0, 'a', 'b')", "array('a')"), ["'town'", "list"]),
        (PEOPLE.replace("if(id % 2 = 0, 'a', 'b')", "named_struct('a', 1)"), ["'town'", "struct"]),
        (PEOPLE.replace("if(id % 2 = 0, 'a', 'b')", "binary('a')"), ["'town'", "binary"]),
        (PEOPLE.replace("if(id % 2 = 0, 'a', 'b')", "interval 1 month"), ["'town'", "cannot be used"]),
        (PEOPLE.replace("int(20", "raise_error('no more ') || int(20"), ["table", "no more"]),
        (PEOPLE.replace("'a'", "'⊥'"), ["'town'", "suppressed"]),
    ],
)
def test_bad_spark_frames(columns: str, words: list[str]) -> None:
    sentence = told(frame(columns))
    for word in words:
        assert word in sentence


def test_a_type_that_spark_has_none_for() -> None:
    wide = pa.array([1] * 40, pa.decimal256(50, 0))
    table = pa.table({"age": [1, 2] * 20, "town": ["a"] * 40, "ill": ["y", "n"] * 20, "wide": wide})
    spec = SPEC | {"table": SPEC["table"] | {"others": "release"}}
    assert "'wide' holds decimal256(50, 0), which Spark has no type for" in told(table, spec)


def test_what_is_neither_a_frame_nor_a_path() -> None:
    assert "is not a Spark frame" in told(session.spark_session())
    assert "is not a table" in told(object())
