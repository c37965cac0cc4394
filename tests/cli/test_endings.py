"""Ends that are nobody's input: an error that nobody foresaw, a stdout that takes nothing, a terminal without an ε."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import unveil
from commands import Outcome
from project import Project

UNVEIL = f"{sys.executable} -m unveil"


def shell(command: str, folder: Path, **variables: str) -> Outcome:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=folder,
        capture_output=True,
        check=False,
        env={**os.environ, **variables},
    )
    encoding = variables.get("PYTHONIOENCODING", "utf-8")
    return Outcome(done.returncode, done.stdout.decode(encoding), done.stderr.decode(encoding))


IMPORTING = """
import sys
class Fault:
    def find_spec(self, name, path=None, target=None):
        if name == "unveil.errors":
            raise RuntimeError("two and two\\nare five")
sys.meta_path.insert(0, Fault())
"""
WRITING = """
import pathlib
usual = pathlib.Path.chmod
def chmod(path, mode):
    if path.name.startswith(".release"):
        raise RuntimeError("two and two\\nare five")
    usual(path, mode)
pathlib.Path.chmod = chmod
"""


@pytest.fixture
def fault(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, str]]:
    """Plants a fault into every Python that is started with these variables."""

    def plant(text: str) -> dict[str, str]:
        folder = tmp_path_factory.mktemp("fault")
        (folder / "sitecustomize.py").write_text(text)
        return {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}

    return plant


def test_an_unforeseen_error_has_a_code_of_its_own(project: Project, fault: Callable[[str], dict[str, str]]) -> None:
    variables = fault(WRITING)
    before = project.files()
    found = shell(f"{UNVEIL} publish people.toml --to release", project.folder, **variables)
    assert (found.code, found.out) == (3, "")
    assert found.err.startswith("unveil: internal error: RuntimeError: two and two are five; run 'unveil --debug'")
    assert found.err.count("\n") == 1
    assert project.files() == before
    found = shell(f"{UNVEIL} --debug publish people.toml --to release", project.folder, **variables)
    assert found.code == 3
    assert found.err.startswith("Traceback (most recent call last):")


def test_an_error_while_modules_are_imported_is_one_sentence(
    project: Project, fault: Callable[[str], dict[str, str]]
) -> None:
    found = shell(f"{UNVEIL} check people.toml", project.folder, **fault(IMPORTING))
    assert found == Outcome(
        3,
        "",
        "unveil: cannot start: RuntimeError: two and two are five; run it with 'unveil --debug' to see where.\n",
    )


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("check people.toml", ""),
        ("init people.csv", ""),
        ("--help", ""),
        ("--version", ""),
        ("publish people.toml --to release", "; written before that: release"),
        ("publish people.toml --to release --json", "; written before that: release"),
    ],
)
def test_a_full_stdout(command: str, written: str, project: Project) -> None:
    found = shell(f"{UNVEIL} {command} > /dev/full", project.folder)
    sentence = f"unveil: the output cannot be printed: No space left on device{written}.\n"
    assert found == Outcome(3, "", sentence)
    assert project.release.exists() == bool(written)


def test_a_verdict_that_nobody_reads_is_not_a_verdict(project: Project) -> None:
    unveil.publish(project.spec).write(project.release)
    assert shell(f"{UNVEIL} verify release > /dev/full", project.folder).code == 3
    found = shell(f"{UNVEIL} verify release | true", project.folder)
    assert found.code in (0, 141)  # the pipe may still be open
    assert "Traceback" not in found.err


@pytest.mark.parametrize("command", ["init people.csv", "check people.toml", "check people.toml --json"])
def test_a_reader_that_leaves_ends_the_command_quietly(command: str, project: Project) -> None:
    found = shell(f"{UNVEIL} {command} | exec 0<&-", project.folder)
    assert (found.code, found.err) == (141, "")


def test_a_closed_stdout_is_refused_before_anything_is_done(project: Project) -> None:
    before = project.files()
    found = shell(f"{UNVEIL} publish people.toml --to release >&-", project.folder)
    assert (found.code, found.err) == (
        2,
        "unveil: stdout is closed, so no result could be printed; redirect it to a file or to /dev/null.\n",
    )
    assert project.files() == before


@pytest.mark.parametrize("stream", ["2>&-", "2>/dev/full"])
def test_without_a_stderr_the_code_is_left(stream: str, project: Project) -> None:
    assert shell(f"{UNVEIL} check nothing.toml {stream}", project.folder) == Outcome(2, "", "")
    assert shell(f"{UNVEIL} check people.toml {stream}", project.folder).code == 0


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_that_lacks_characters(encoding: str, project: Project) -> None:
    project.edit(project.spec, '"ill"', '"ill"\nothers = "drop"')
    found = shell(f"{UNVEIL} publish people.toml --to release", project.folder, PYTHONIOENCODING=encoding)
    assert (found.code, found.err) == (0, "")
    found = shell(f"{UNVEIL} publish people.toml --to two --json", project.folder, PYTHONIOENCODING=encoding)
    assert json.loads(found.out)["guarantee"]
    project.edit(project.spec, "Aarhus", "Århus 😀")
    found = shell(f"{UNVEIL} check people.toml", project.folder, PYTHONIOENCODING=encoding)
    assert (found.code, found.err.count("\n")) == (2, 1)


def test_a_name_that_is_not_text(project: Project) -> None:
    r"""A byte that is not UTF-8 is half of a surrogate pair in Python, and is shown as its number."""
    shutil.copy(project.spec, os.fsencode(project.folder) + b"/odd\xff.toml")
    before = project.files()
    for words in ("publish people.toml --to $'odd\\xff'", "check $'odd\\xff.toml'", "init $'odd\\xff.csv'"):
        found = shell(f"{UNVEIL} {words}", project.folder)
        assert (found.code, found.out, found.err.count("\n")) == (2, "", 1), found
        assert "odd\\udcff" in found.err
    assert project.files() == before
