"""Ctrl-C at any moment of any command: exit code 130, one line, nothing half-written, no process left behind."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import unveil
from commands import DRIVER, Outcome, interrupted
from noise.private import PrivateProject
from project import Project

NOTHING = "unveil: interrupted; nothing was written.\n"
WRITING = [
    "after unveil.release.folder._beside",
    "after pathlib.Path.mkdir",
    "after unveil.release.rows.write_rows",
    "after unveil.release.folder._sha256",
    "before unveil.release.folder._settle",
    "after os.fsync",
]


def publishing(project: Project) -> tuple[object, ...]:
    return ("publish", project.spec, "--to", project.release, "--format", "csv")


@pytest.mark.parametrize(
    "moment",
    [
        "import pyarrow",
        "import typer",
        "import numba",
        "before unveil.schema.load_spec",
        "after unveil.tables.survey.Survey.add",
        "after unveil.publishers.joint.start_joint",
        "after unveil.refine.boxes.Partition.split",
        "before unveil.counting.released.released_rows",
        *WRITING,
    ],
)
def test_publish(moment: str, project: Project) -> None:
    before = project.files()
    assert interrupted(moment, *publishing(project)) == Outcome(130, "", NOTHING)
    assert project.files() == before


def test_without_the_guard_these_tests_fail(project: Project) -> None:
    """The planted defect: Ctrl-C left to Python is an exception, which the command would have to catch everywhere."""
    for moment in ("import pyarrow", "after unveil.refine.boxes.Partition.split"):
        found = interrupted(moment, *publishing(project), UNGUARDED="yes")
        assert found != Outcome(130, "", NOTHING)


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("after unveil.evaluation.risk.group_risk", ("check", "SPEC")),
        ("before unveil.drafts.guesses.guess_table", ("init", "TABLE", "--to", "NEW.toml")),
        ("after unveil.release.folder._beside", ("init", "TABLE", "--to", "NEW.toml")),
        ("after unveil.verifier.data.read_data", ("verify", "OLD", "--raw", "SPEC")),
        ("before unveil.masking.masking.Masking.labels", ("apply", "OLD", "TABLE", "--to", "NEW.csv")),
        ("after unveil.release.rows.write_rows", ("apply", "OLD", "TABLE", "--to", "NEW.csv", "--unseen", "suppress")),
        ("after unveil.evaluation.classifiers.tested", ("evaluate", "SPEC", "--seeds", "1")),
        ("after unveil.evaluation.classifiers.tested", ("compare", "SPEC", "SPEC", "--seeds", "1")),
        ("after unveil.reasons.groups.group_cuts", ("explain", "SPEC", "--no-shadow")),
        ("after pathlib.Path.write_text", ("report", "OLD", "--to", "NEW.html")),
        ("after unveil.workflow.report.report_to_file", ("demo", "--to", "NEW")),
        ("after unveil.release.folder._settle", ("demo", "--to", "NEW")),
        ("after unveil.drafts.ways.draft", ("taxonomy", "draft", "TABLE", "town", "--to", "NEW.tree")),
    ],
)
def test_every_command(moment: str, words: tuple[str, ...], project: Project) -> None:
    unveil.publish(project.spec).write(project.folder / "old")
    names = {"SPEC": project.spec, "TABLE": project.table, "OLD": project.folder / "old"}
    before = project.files()
    told = [names.get(word, project.folder / word if word.startswith("NEW") else word) for word in words]
    assert interrupted(moment, *told) == Outcome(130, "", NOTHING)
    assert project.files() == before


def test_what_was_written_before_is_named(project: Project) -> None:
    found = interrupted("before unveil.cli.screens.show_release", *publishing(project))
    assert found == Outcome(130, "", f"unveil: interrupted; written before that: {project.release}.\n")
    assert unveil.verify(project.release) == []


@pytest.mark.parametrize(
    "moment",
    [
        "before unveil.release.release.Release.write_trace",
        "before unveil.release.release.Release.write",
        "after unveil.release.rows.write_rows",
    ],
)
def test_a_trace_does_not_outlive_its_release(moment: str, project: Project) -> None:
    before = project.files()
    found = interrupted(moment, *publishing(project), "--trace", project.folder / "trace.json")
    assert found.code == 130
    left = project.files() - before
    assert left in (set(), {"trace.json"})
    assert all(name in found.err for name in left)


def test_a_private_release_is_named_next_to_its_ledger(project: Project) -> None:
    private = PrivateProject(project)
    words = ("publish", private.spec, "--to", private.release)
    for moment in ("after unveil.interruption.settle 2", "before unveil.cli.screens.show_release"):
        found = interrupted(moment, *words)
        assert found.err == f"unveil: interrupted; written before that: {private.ledger}, {private.release}.\n"
        shutil.rmtree(private.release)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("moment", ["import pyarrow", "after unveil.release.rows.write_rows", "after os.fsync"])
def test_other_signals_end_it_the_same_way(moment: str, number: int, code: int, project: Project) -> None:
    before = project.files()
    assert interrupted(moment, *publishing(project), SIGNAL=str(int(number))) == Outcome(code, "", NOTHING)
    assert project.files() == before


def test_a_process_that_ignores_a_closed_terminal_goes_on(project: Project) -> None:
    command = [sys.executable, str(DRIVER), "before unveil.schema.load_spec", *map(str, publishing(project))]
    quiet = ["bash", "-c", "trap '' HUP; exec \"$@\"", "bash", *command]
    environment = {**os.environ, "SIGNAL": str(int(signal.SIGHUP))}
    assert subprocess.run(quiet, capture_output=True, check=False, env=environment).returncode == 0
    assert unveil.verify(project.release) == []


def test_an_interrupt_within_the_move_comes_after_it(project: Project) -> None:
    found = interrupted("after pathlib.Path.replace", *publishing(project))
    assert found.err == f"unveil: interrupted; written before that: {project.release}.\n"
    assert unveil.verify(project.release) == []


def test_an_interrupt_waits_for_a_move_in_another_thread(tmp_path: Path) -> None:
    """As in the studio, where a worker publishes and the main thread gets the signal."""
    program = f"""
import os, signal, threading, time
from pathlib import Path
from unveil.interruption import leave, settle

place, begun, usual = Path({str(tmp_path)!r}), threading.Event(), Path.replace
def slow(draft, target):
    begun.set()
    time.sleep(0.5)
    return usual(draft, target)
Path.replace = slow
(place / "draft").mkdir()
signal.signal(signal.SIGINT, leave)
worker = threading.Thread(target=settle, args=(place / "draft", place / "release"))
worker.start()
begun.wait()
os.kill(os.getpid(), signal.SIGINT)
worker.join()
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    said = f"unveil: interrupted; written before that: {tmp_path / 'release'}.\n"
    assert (found.returncode, found.stderr) == (130, said)


def test_a_private_release_that_was_charged_says_so(project: Project) -> None:
    private = PrivateProject(project)
    found = interrupted(
        "before unveil.publishers.private.noisy_cells", "publish", private.spec, "--to", private.release
    )
    assert (found.code, found.out) == (130, "")
    assert found.err == f"unveil: interrupted; written before that: {private.ledger}.\n"
    assert not private.release.exists()


def test_the_kept_table_is_published_and_a_second_interrupt_ends_it(project: Project) -> None:
    found = interrupted("after unveil.tables.columns.raw_column", *publishing(project), "--keep-on-interrupt")
    assert found == Outcome(130, "", NOTHING)  # every column interrupts
    assert not project.release.exists()
    found = interrupted("before unveil.workflow.publish.open_engine", *publishing(project), "--keep-on-interrupt")
    assert (found.code, found.err) == (0, "")
    assert unveil.verify(project.release, project.spec) == []


def test_a_process_that_ignores_interrupts_goes_on(project: Project) -> None:
    command = [sys.executable, str(DRIVER), "before unveil.schema.load_spec", *map(str, publishing(project))]
    quiet = ["bash", "-c", "trap '' INT; exec \"$@\"", "bash", *command]
    assert subprocess.run(quiet, capture_output=True, check=False).returncode == 0
    assert unveil.verify(project.release) == []


@pytest.mark.parametrize("seconds", [0.3, 0.9, 1.8, 2.7])
def test_whenever_it_comes_there_is_a_whole_release_or_nothing(seconds: float, project: Project) -> None:
    before = project.files()
    command = [sys.executable, "-m", "unveil", *map(str, publishing(project))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=300)
    assert process.returncode in (0, 130)
    assert "Traceback" not in error
    if project.release.exists():
        assert unveil.verify(project.release) == []
    else:
        assert (process.returncode, error, project.files()) == (130, NOTHING, before)


def living(session: int) -> list[int]:
    """The processes of a session."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, _, _, of = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            except OSError:
                continue
            if int(of) == session and state != "Z":
                found.append(int(folder.name))
    return found


@pytest.mark.xdist_group("spark")
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked for in /proc")
def test_spark_and_its_workers_are_gone(project: Project) -> None:
    before = project.files()
    moment = "after unveil.counting.spark.engine.SparkEngine._distinct"
    words = ("publish", project.spec, "--to", project.release, "--engine", "spark", "--spark", "spark.master=local[2]")
    command = [sys.executable, str(DRIVER), moment, *map(str, words)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        _, error = process.communicate(timeout=300)
    assert (process.returncode, error) == (130, NOTHING)
    assert project.files() == before
    until = time.monotonic() + 300
    while living(process.pid) and time.monotonic() < until:
        time.sleep(0.2)
    assert living(process.pid) == []


@pytest.mark.xdist_group("weka")
def test_the_settings_of_weka_are_gone(project: Project, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    words = ("evaluate", project.spec, "--seeds", "1", "--classifier", "c45")
    found = interrupted("after unveil.evaluation.c45.c45", *words, TMPDIR=str(tmp_path / "scratch"))
    assert found == Outcome(130, "", NOTHING)
    assert list((tmp_path / "scratch").iterdir()) == []
