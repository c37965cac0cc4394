"""What a run of the command line gives."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

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
    """Runs a command in a process of its own that gets a real SIGINT at a moment; `interrupting.py` tells which."""
    done = subprocess.run(
        [sys.executable, str(DRIVER), moment, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **variables},
    )
    return Outcome(done.returncode, done.stdout, done.stderr)
