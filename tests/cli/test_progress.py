"""Progress bars: on a terminal and only there, only where work takes long, with time left where that can be told."""

import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

import unveil
from commands import Outcome
from noise.private import PrivateProject
from project import Project
from unveil.cli import terminal
from unveil.cli.bar import Bar
from unveil.counting.loops import run_box_loops, run_loops
from unveil.evaluation.protocol import Holdout
from unveil.progress import Watcher
from unveil.workflow.demo import demo

PATIENT = "import sys; from unveil.cli import script, terminal; terminal.PATIENCE = float(sys.argv.pop(1)); script()"
Told = list[tuple[str, int, int | None]]


def on_terminal(patience: float, *words: object) -> Outcome:
    """Runs a command whose stderr is a terminal."""
    screen, terminal = pty.openpty()
    command = [sys.executable, "-c", PATIENT, str(patience), *map(str, words)]
    variables = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, text=True, env=variables) as process:
        os.close(terminal)
        shown = b"".join(iter(lambda: read(screen), b""))
        out, _ = process.communicate(timeout=300)
    os.close(screen)
    return Outcome(process.returncode, out, shown.decode())


def read(screen: int) -> bytes:
    try:
        return os.read(screen, 1 << 16)
    except OSError:  # the other side is closed
        return b""


def test_a_bar_while_it_takes_long_and_only_facts_on_stdout(project: Project) -> None:
    found = on_terminal(0.0, "evaluate", project.spec, "--seeds", 3, "--json")
    assert found.code == 0
    assert json.loads(found.out)["spec"] == "people.toml"
    assert "learning and testing" in found.err
    assert re.search(r"\d+ of 10", found.err)
    assert found.err.endswith("\x1b[2K")  # the line is erased
    assert found.err.count("\x1b[?25l") == found.err.count("\x1b[?25h")  # and the cursor is back


def test_a_first_run_says_that_it_compiles(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loops are compiled once for each installation, which takes seconds."""
    project.search_as_in_the_paper()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(project.folder / "loops"))
    found = on_terminal(0.0, "publish", project.spec, "--to", project.release)
    assert found.code == 0
    assert "compiling, once" in found.err


def test_nothing_at_all_where_it_is_quick(project: Project) -> None:
    found = on_terminal(600.0, "evaluate", project.spec, "--seeds", 1, "--json")
    assert (found.code, found.err) == (0, "")


def test_an_error_takes_the_line_away(project: Project) -> None:
    project.edit(project.spec, "k                = 3", "k = 49")
    found = on_terminal(0.0, "publish", project.spec, "--to", project.release)
    assert found.code == 2
    assert found.err.splitlines()[-1].rpartition("\x1b[2K")[2].startswith("unveil: people.toml: no release of")


def test_quiet_where_stderr_is_not_a_terminal(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where colours are asked for, which makes rich take anything for a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    command = [sys.executable, "-c", PATIENT, "0", "publish", str(project.spec), "--to", str(project.release)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_two_seconds() -> None:
    assert terminal.PATIENCE == 2.0


def drawn(bar: Bar) -> str:
    screen = io.StringIO()
    Console(file=screen, width=120).print(bar._line.get_renderable())
    return screen.getvalue().strip()


def test_what_a_line_says() -> None:
    bar = Bar(Console(file=io.StringIO(), force_terminal=True))
    seconds = 0.0
    bar._line.get_time = lambda: seconds
    bar("reading people.csv", 0, None)
    seconds = 3.0
    assert drawn(bar).endswith("0:00:03")
    bar("refining", 0, None)
    bar("refining", 1_234, None)
    seconds = 5.0
    assert drawn(bar).endswith("1,234 so far 0:00:02")
    bar("learning", 0, 8)
    assert "left" not in drawn(bar)
    seconds = 11.0
    bar("learning", 2, 8)
    assert drawn(bar).endswith("2 of 8 0:00:06, about 0:00:18 left")
    bar("learning", 1, 8)  # it begins again
    assert "0:00:00, about" in drawn(bar)
    assert "refining" not in drawn(bar)


def told_by(work: Callable[[Watcher], object]) -> Told:
    told: Told = []
    work(lambda what, done, total: told.append((what, done, total)))
    return told


def test_publish_tells_its_phases(project: Project) -> None:
    run_loops()
    run_box_loops()
    told = told_by(
        lambda watcher: unveil.publish(project.spec, progress=watcher).write(project.release, progress=watcher)
    )
    assert list(dict.fromkeys(what for what, _, _ in told)) == [
        "reading people.csv",
        "checking people.csv",
        "counting groups",
        "refining",
        "masking rows",
        "writing data.parquet",
        "hashing the files",
    ]
    steps = len(unveil.publish(project.spec).trace)
    groups = [done for what, done, total in told if what == "refining" and total is None]
    assert groups == sorted(groups)
    assert groups[0] == 0 < steps < groups[-1]
    assert ("writing data.parquet", 48, 48) in told


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_read_of_rows_known(ending: str, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    if ending == "parquet":
        import pyarrow.csv
        import pyarrow.parquet

        monkeypatch.setattr("unveil.tables.files.BATCH", 20)
        pyarrow.parquet.write_table(pyarrow.csv.read_csv(project.table), project.folder / "people.parquet")
        project.edit(project.spec, "people.csv", "people.parquet")
    told = told_by(lambda watcher: unveil.publish(project.spec, engine="stream", progress=watcher))
    passes = [(done, total) for what, done, total in told if what == f"reading people.{ending}"]
    if ending == "parquet":
        assert passes[:3] == [(20, 49), (40, 49), (49, 49)]
    else:  # how many rows a csv file has is a guess, until it has been read once
        assert passes[0][0] == 49
    assert passes[-1] == (49, 49)


def test_a_private_run_tells_phases_and_public_numbers_alone(project: Project) -> None:
    private = PrivateProject(project)

    def phases(engine: str) -> Told:
        return told_by(lambda watcher: unveil.publish(private.spec, unsafe_seed=1, engine=engine, progress=watcher))

    for engine in ("memory", "stream"):
        told = phases(engine)
        assert {(done, total) for what, done, total in told if what != "drawing specializations"} == {(0, None)}
        assert [done for what, done, total in told if what == "drawing specializations" and total == 3] == [0, 1, 2, 3]


def test_evaluations_tell_how_much_is_left(project: Project) -> None:
    twice = Holdout(seeds=(0, 1))
    told = told_by(lambda watcher: unveil.evaluate(project.spec, protocol=twice, progress=watcher))
    assert told[1:] == [("learning and testing", done, 7) for done in range(8)]
    told = told_by(lambda watcher: unveil.compare([project.spec] * 2, protocol=twice, progress=watcher))
    assert told[-1] == ("learning and testing", 14, 14)


def test_other_verbs_tell_of_themselves(project: Project) -> None:
    unveil.publish(project.spec).write(project.release)
    assert told_by(lambda watcher: unveil.check(project.spec, progress=watcher))[-1][0] == "counting risks"
    assert told_by(lambda watcher: unveil.verify(project.release, project.spec, progress=watcher)) == [
        ("recounting the claims", 0, None),
        ("comparing with the raw table", 0, None),
    ]
    told = told_by(lambda watcher: unveil.report(project.release, project.spec, progress=watcher))
    assert ("learning and testing", 16, 16) in told


def test_the_demo_tells_how_much_is_left(tmp_path: Path) -> None:
    told = told_by(lambda watcher: demo(tmp_path / "demo", watcher))
    assert told == [("publishing Adult under three guarantees", done, 8) for done in range(9)]
