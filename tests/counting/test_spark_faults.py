"""Workers and drivers that die: a task is tried again and changes nothing, a run that fails leaves nothing behind."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import engines
import unveil
from project import Project
from unveil.counting.engine import open_engine
from unveil.counting.spark import released, session, source
from unveil.noise import SeededSource
from unveil.publishers.private import publish_diffgen

pytestmark = pytest.mark.xdist_group("spark")

SPEC: dict[str, Any] = {
    "table": {"class": "ill", "others": "release"},
    "attributes": {"age": {"kind": "number", "whole": True}, "town": {"kind": "category"}},
    "require": [{"kind": "k-anonymity", "quasi-identifier": ["age", "town"], "k": 3}],
}
PRIVATE: dict[str, Any] = {
    "table": {"class": "ill", "others": "drop"},
    "attributes": {
        "age": {"kind": "number", "whole": True, "range": [0, 100]},
        "town": {"kind": "category", "values": ["a", "b", "c"]},
        "ill": {"values": ["y", "n"]},
    },
    "require": [{"kind": "differential-privacy", "epsilon": 2.0}],
    "publish": {"method": "diffgen", "specializations": 3},
}
Spoil = Callable[[], None]


@pytest.fixture(autouse=True)
def _on_spark() -> Iterator[None]:
    """Workers cannot import this file, so its functions travel to them as they are."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    with engines.chosen("spark"):
        yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def people(rows: int = 120) -> pa.Table:
    return pa.table(
        {
            "age": [20 + i % 9 for i in range(rows)],
            "town": ["abc"[i % 3] for i in range(rows)],
            "note": [f"n{i % 40}" for i in range(rows)],
            "ill": ["yn"[(i // 3) % 2] for i in range(rows)],
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The same people in three files, so that there are three tasks."""
    rows = tmp_path / "rows"
    rows.mkdir()
    for number in range(3):
        pa.parquet.write_table(people().slice(40 * number, 40), rows / f"{number}.parquet")
    return rows


def die_once() -> None:
    """Ends the worker at the first attempt of a task, without a word."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is not None and context.attemptNumber() == 0 and context.partitionId() == 0:
        os.kill(os.getpid(), signal.SIGKILL)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def draw_nothing() -> None:
    """Takes randomness away from the worker."""
    from unveil.noise import source as randomness

    def refuse(self: object, count: int) -> bytes:
        raise RuntimeError("a worker drew")

    for kind in (randomness.SystemSource, randomness.SeededSource):
        setattr(kind, "bytes", refuse)  # noqa: B010 - a method of its own name cannot be assigned


def in_every_task(monkeypatch: pytest.MonkeyPatch, spoil: Spoil) -> None:
    """Lets something happen in the midst of every task that reads rows."""
    usual = source.SparkSource.partitions

    def partitions(self: source.SparkSource, function: source.Function, *rest: Any) -> Any:
        def run(batches: Iterator[pa.Table]) -> Iterable[pa.Table]:
            def spoiled() -> Iterator[pa.Table]:
                for batch in batches:
                    yield batch
                    spoil()

            yield from function(spoiled())

        return usual(self, run, *rest)

    monkeypatch.setattr(source.SparkSource, "partitions", partitions)


def in_every_write(monkeypatch: pytest.MonkeyPatch, spoil: Spoil) -> None:
    """Lets something happen after a part was begun and before it is whole."""
    usual = released.write_part

    def write_part(
        batches: Iterator[pa.RecordBatch], layout: released.Layout, drafts: Path, target: Path, part: int
    ) -> int:
        def spoiled() -> Iterator[pa.RecordBatch]:
            for batch in batches:
                yield batch
                (drafts / f"begun-{os.getpid()}").write_text("half a part")
                spoil()

        return usual(spoiled(), layout, drafts, target, part)

    monkeypatch.setattr(released, "write_part", write_part)


def content(release: Path) -> dict[str, bytes]:
    return {path.relative_to(release).as_posix(): path.read_bytes() for path in release.rglob("*") if path.is_file()}


def test_workers_that_die_are_replaced_and_change_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unveil.publish(folder, SPEC, engine="memory").write(tmp_path / "expected")
    expected = unveil.open_release(tmp_path / "expected").table
    in_every_task(monkeypatch, die_once)
    in_every_write(monkeypatch, die_once)
    unveil.publish(folder, SPEC).write(tmp_path / "release")
    assert unveil.verify(tmp_path / "release") == []
    names = set(content(tmp_path / "release"))
    assert {name.partition("/")[0] for name in names} == {"data.parquet", "manifest.json"}
    assert all(name.startswith("data.parquet/part-") for name in names - {"manifest.json"})
    parts = sorted((tmp_path / "release" / "data.parquet").iterdir())
    assert pa.concat_tables(pa.parquet.read_table(part) for part in parts).to_pylist() == expected.to_pylist()


@pytest.mark.parametrize("where", [in_every_task, in_every_write])
def test_a_task_that_fails_for_good_leaves_nothing(
    where: Callable[[pytest.MonkeyPatch, Spoil], None], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where(monkeypatch, die)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(unveil.UnveilError, match="Spark cannot count the table: a Python worker died") as caught:
        unveil.publish(folder, SPEC).write(tmp_path / "release")
    assert "\n" not in str(caught.value)
    assert sorted(tmp_path.iterdir()) == before


class CountedSource(SeededSource):
    """Remembers what was drawn."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.drawn: list[bytes] = []

    def bytes(self, count: int) -> bytes:
        self.drawn.append(super().bytes(count))
        return self.drawn[-1]


def drawn(folder: Path, engine: str, target: Path) -> tuple[list[bytes], list[dict[str, Any]]]:
    """A private release: what was drawn for it before anything was written, and its rows."""
    spec, randomness = unveil.load_spec(PRIVATE), CountedSource(7)
    assert spec.plan is not None
    outline, counts = open_engine(spec, folder, engine)
    release = publish_diffgen(outline, spec, spec.plan, counts, randomness, "0")
    before = list(randomness.drawn)
    release.write(target)
    assert randomness.drawn == before
    return before, unveil.open_release(target).table.to_pylist()


def test_a_task_that_is_tried_again_changes_no_draw(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = drawn(folder, "memory", tmp_path / "memory")
    assert len(expected[0]) > 10
    assert drawn(folder, "spark", tmp_path / "spark") == expected
    in_every_task(monkeypatch, die_once)
    assert drawn(folder, "spark", tmp_path / "again") == expected


def test_workers_need_no_randomness(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_every_task(monkeypatch, draw_nothing)
    assert drawn(folder, "spark", tmp_path / "a") == drawn(folder, "memory", tmp_path / "b")


def test_a_worker_that_draws_would_be_found_out(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw() -> None:
        from unveil.noise import SystemSource

        draw_nothing()
        SystemSource().bytes(1)

    in_every_task(monkeypatch, draw)
    with pytest.raises(unveil.UnveilError, match="a worker drew"):
        drawn(folder, "spark", tmp_path / "release")


DRIVER = """
    import os, signal, sys, threading, time
    from pathlib import Path
    sys.path[:0] = {path!r}
    import engines, unveil
    from unveil.counting.spark import released
    from pyspark import cloudpickle
    usual = released.write_part
    def write_part(batches, layout, drafts, target, part):
        def slow():
            for batch in batches:
                yield batch
                (drafts / "half").write_text("half a part")
                Path({mark!r}).touch()
                time.sleep(40)
        return usual(slow(), layout, drafts, target, part)
    released.write_part = write_part
"""
PUBLISH = """
    unveil.publish({spec!r}, engine="spark", spark=engines.SPARK).write({target!r})
"""
LOSE_JAVA = """
    def lose_java():
        from pyspark import SparkContext
        while not Path({mark!r}).exists():
            time.sleep(0.1)
        os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)
    threading.Thread(target=lose_java, daemon=True).start()
    from unveil.cli import script
    settings = [word for pair in engines.SPARK.items() for word in ("--spark", "=".join(pair))]
    sys.argv = ["unveil", "publish", {spec!r}, "--to", {target!r}, "--engine", "spark", *settings]
    script()
"""


def driver_of(project: Project, ending: str, mark: Path) -> list[str]:
    """A process that publishes on Spark, and is slow from the moment that it begins to write."""
    places = {"path": sys.path, "mark": str(mark), "spec": str(project.spec), "target": str(project.release)}
    return [sys.executable, "-c", textwrap.dedent(DRIVER + ending).format(**places)]


def test_a_driver_that_is_killed_leaves_no_release(project: Project) -> None:
    mark = project.folder / "writing"
    with subprocess.Popen(driver_of(project, PUBLISH, mark)) as driver:
        deadline = time.monotonic() + 400
        while not mark.exists() and driver.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        driver.kill()
    assert mark.exists()
    assert not project.release.exists()
    drafts = [path for path in project.folder.iterdir() if path.name.startswith(".release-")]
    assert len(drafts) == 1
    for look in (unveil.open_release, unveil.verify):
        with pytest.raises(unveil.UnveilError, match="not a release"):
            look(drafts[0])
    unveil.publish(project.spec).write(project.release)
    assert unveil.verify(project.release, project.spec) == []


def test_java_that_is_killed_is_reported_in_one_sentence_and_leaves_nothing(project: Project) -> None:
    mark, before = project.folder / "writing", project.files()
    told = subprocess.run(driver_of(project, LOSE_JAVA, mark), capture_output=True, text=True, check=False, timeout=400)
    assert mark.exists()
    mark.unlink()
    assert (told.returncode, told.stdout) == (2, "")
    assert "Spark stopped" in told.stderr
    assert "Traceback" not in told.stderr
    assert project.files() == before


def test_a_call_that_java_never_answers_is_reported_in_one_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    from py4j.protocol import Py4JError

    def unanswered() -> None:
        logging.root.handle(logging.LogRecord("root", logging.ERROR, "java_gateway.py", 1, "Exception", (), None))
        raise Py4JError("An error occurred while calling o196.getResult")

    with pytest.raises(unveil.UnveilError, match="Spark stopped"), session.told_plainly("people.csv"):
        unanswered()
    assert capfd.readouterr().err == ""


SCRATCH = """
import stat, sys
from pathlib import Path
from unveil.counting.spark.session import SCRATCH, spark_session
session = spark_session({"spark.master": "local[1]"})
session.range(100).repartition(3).groupBy("id").count().collect()
folder = Path(session.conf.get(SCRATCH))
kinds = {path.name.partition("-")[0] for path in folder.iterdir()}
print(folder, oct(stat.S_IMODE(folder.stat().st_mode)), {"blockmgr", "artifacts", "spark"} <= kinds)
"""


def test_scratch_files_are_the_owners_alone_and_go_with_the_process(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", SCRATCH], capture_output=True, text=True, check=False, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr
    folder, *found = done.stdout.split()
    assert Path(folder).parent == tmp_path
    assert found == ["0o700", "True"]
    assert not Path(folder).exists()


def test_a_scratch_folder_that_the_owner_names_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    named = {"spark.master": "local[1]", session.SCRATCH: "/scratch"}
    assert session.with_scratch(named) == named
    assert session.with_scratch({"spark.master": "spark://elsewhere"}) == {"spark.master": "spark://elsewhere"}
    monkeypatch.setenv("SPARK_LOCAL_DIRS", "/scratch")
    assert session.with_scratch({"spark.master": "local[1]"}) == {"spark.master": "local[1]"}
