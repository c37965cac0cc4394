"""Every exit code that the documentation lists, from a real process, with what it prints and what it leaves behind."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import Outcome, interrupted
from project import Project

PAGE = Path(__file__).resolve().parents[2] / "docs" / "exit-codes.md"


def call(*words: object) -> Outcome:
    command = [sys.executable, "-m", "unveil", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)


def fine(project: Project) -> Outcome:
    return call("publish", project.spec, "--to", project.release)


def broken(project: Project) -> Outcome:
    assert call("publish", project.spec, "--to", project.release).code == 0
    project.edit(project.release / "manifest.json", '"k": 3', '"k": 40')
    return call("verify", project.release)


def bad_input(project: Project) -> Outcome:
    project.edit(project.spec, "range", "rnage")
    return call("publish", project.spec, "--to", project.release)


def bad_usage(project: Project) -> Outcome:
    return call("publish", project.spec)


def unprinted(project: Project) -> Outcome:
    """Output that cannot be printed ends as an error that nobody foresaw does."""
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "unveil", "check", str(project.spec)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    return Outcome(done.returncode, "", done.stderr)


def unread(project: Project) -> Outcome:
    """Whoever reads the output leaves before it comes."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "unveil", "check", str(project.spec)]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    return Outcome(done.returncode, "", done.stderr)


def stopped(project: Project, number: int = signal.SIGINT) -> Outcome:
    words = ("publish", project.spec, "--to", project.release)
    return interrupted("after unveil.tables.survey.Survey.add", *words, SIGNAL=str(int(number)))


def hung_up(project: Project) -> Outcome:
    return stopped(project, signal.SIGHUP)


def terminated(project: Project) -> Outcome:
    return stopped(project, signal.SIGTERM)


ENDS: list[tuple[int, Callable[[Project], Outcome]]] = [
    (0, fine),
    (1, broken),
    (2, bad_input),
    (2, bad_usage),
    (3, unprinted),
    (129, hung_up),
    (130, stopped),
    (141, unread),
    (143, terminated),
]


def test_the_page_lists_these_codes_and_no_others() -> None:
    listed = re.findall(r"^\| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(code) for code in listed] == sorted({code for code, _ in ENDS})


@pytest.mark.parametrize(("code", "end"), ENDS, ids=[end.__name__ for _, end in ENDS])
def test_a_command_ends_as_the_page_says(code: int, end: Callable[[Project], Outcome], project: Project) -> None:
    outcome = end(project)
    assert outcome.code == code, outcome
    assert bool(outcome.out) == (code in (0, 1)), outcome
    assert bool(outcome.err) == (code in (2, 3, 129, 130, 143)), outcome
    assert "Traceback" not in outcome.err
    assert project.release.exists() == (code in (0, 1))
