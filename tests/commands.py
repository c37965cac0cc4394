"""What a run of the command line gives."""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import NamedTuple

import interrupting
from project import Project

DRIVER = Path(__file__).with_name("interrupting.py")


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


def refused(project: Project, run: Run, words: Iterable[str], *options: object) -> None:
    """To publish is refused in one sentence with these words, and nothing is written."""
    before = project.files()
    outcome = run("publish", project.spec, "--to", project.release, *options)
    assert (outcome.code, outcome.out) == (2, ""), outcome
    assert outcome.err.startswith("unveil: ")
    assert outcome.err.count("\n") == 1, outcome.err
    assert "Traceback" not in outcome.err
    for word in words:
        assert word in outcome.err
    assert project.files() == before


def interrupted(moment: str, *words: object, **variables: str) -> Outcome:
    """Runs a command in a process of its own that gets a real SIGINT at a moment; `interrupting.py` tells which.

    The process starts with its modules loaded, unless the moment is within their import or another variable than
    SIGNAL is set for it.
    """
    command = (moment, *map(str, words))
    if moment.startswith("import") or variables.keys() - {"SIGNAL"}:
        return started(*command, **variables)
    return forked(*command, **variables)


def started(*command: str, **variables: str) -> Outcome:
    """From a new interpreter."""
    done = subprocess.run(
        [sys.executable, str(DRIVER), *command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **variables},
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def forked(*command: str, **variables: str) -> Outcome:
    """From a server that has loaded what the command imports, which takes longer than most commands."""
    with tempfile.TemporaryDirectory() as folder:
        out, error = (Path(folder) / name for name in ("out", "error"))
        process = server().Process(
            target=interrupting.run, args=(command, {**os.environ, **variables}, str(out), str(error))
        )
        process.start()
        process.join()
        code = process.exitcode
        process.close()
        assert code is not None
        return Outcome(code, out.read_text(encoding="utf-8"), error.read_text(encoding="utf-8"))


def server() -> ForkServerContext:
    """Starts with the first process; it has no threads, which a process with loaded tests might have."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([name for name in sys.modules if name.partition(".")[0] == "unveil"])
    return context
