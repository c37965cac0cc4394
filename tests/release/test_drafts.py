"""Drafts: what a killed run left behind goes, what a living one writes stays, and one of two writers wins."""

import multiprocessing
import os
import signal
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

import unveil
from commands import Run, interrupted
from project import Project
from unveil import interruption
from unveil.errors import ReleaseError
from unveil.release import write_text, write_whole
from unveil.release.folder import _locked, drafted

WRITERS = 4
ROUNDS = 15


def killed(project: Project, *words: object) -> None:
    """Runs a command that is killed while its draft is there."""
    found = interrupted("after unveil.release.rows.write_rows", *words, SIGNAL=str(int(signal.SIGKILL)))
    assert found.code == -signal.SIGKILL


def test_the_next_run_removes_what_a_killed_one_left(project: Project, run: Run) -> None:
    before = project.files()
    words = ("publish", project.spec, "--to", project.release)
    killed(project, *words)
    left = {name for name in project.files() - before if "/" not in name}
    assert len(left) == 1
    killed(project, *words)
    again = {name for name in project.files() - before if "/" not in name}
    assert len(again) == 1
    assert not left & again
    (project.folder / ".release-notes").touch()
    (project.folder / ".release2-01234567.draft").touch()
    assert run(*words).code == 0
    hidden = {path.name for path in project.folder.iterdir() if path.name.startswith(".")}
    assert hidden == {".release-notes", ".release2-01234567.draft"}


def test_the_draft_of_a_living_run_stays(tmp_path: Path) -> None:
    with drafted(tmp_path / "new.txt") as (living, _):
        living.write_text("half")
        write_text(tmp_path / "new.txt", "whole", "file")
        assert living.read_text() == "half"
    assert [path.name for path in tmp_path.iterdir()] == ["new.txt"]


@pytest.mark.parametrize("folder", [True, False])
def test_a_draft_that_was_taken_for_stale_is_made_again(
    folder: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The moment between a draft and its lock, in which another run may find and remove it."""
    made, usual = [], _locked

    def late(path: Path) -> AbstractContextManager[bool]:
        made.append(path)
        if len(made) == 1:
            interruption.remove(path)
        return usual(path)

    monkeypatch.setattr("unveil.release.folder._locked", late)
    with drafted(tmp_path / "new", folder=folder) as (draft, _):
        assert draft.exists()
        assert draft != made[0]


def apply_once(words: tuple[str, str, str]) -> str:
    """One of several processes that write the same file; gives what it wrote, or nothing if it was refused."""
    target, text, barrier = words
    Path(barrier, text).touch()
    while len(os.listdir(barrier)) < WRITERS:
        pass
    try:
        write_text(Path(target), text, "output file")
    except ReleaseError as error:
        return "" if "exists already; nothing was written" in str(error) else str(error)
    return text


def test_of_several_that_write_one_file_exactly_one_wins(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(WRITERS) as pool:
        for number in range(ROUNDS):
            target, barrier = tmp_path / f"{number}.csv", tmp_path / f"barrier-{number}"
            barrier.mkdir()
            found = pool.map(apply_once, [(str(target), str(n), str(barrier)) for n in range(WRITERS)], chunksize=1)
            assert sorted(found)[:-1] == [""] * (WRITERS - 1)
            assert target.read_text() == max(found)


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_meanwhile_is_not_replaced(
    links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not links:

        def none(*_: object) -> None:
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", none)
    target = tmp_path / "new.csv"

    def write(draft: Path) -> None:
        draft.write_text("ours")
        target.write_text("theirs")

    with pytest.raises(ReleaseError, match=r"new\.csv: the output file exists already; nothing was written"):
        write_whole(target, write, "output file")
    assert target.read_text() == "theirs"
    target.unlink()
    write_text(target, "ours", "output file")
    assert target.read_text() == "ours"
    assert os.listdir(tmp_path) == ["new.csv"]


def test_a_release_that_appears_meanwhile_is_not_replaced(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = unveil.publish(project.spec, steps=0), unveil.publish(project.spec)
    from unveil.release import folder

    usual = folder._settle

    def late(draft: Path, place: Path) -> None:
        monkeypatch.setattr(folder, "_settle", usual)
        first.write(place)
        usual(draft, place)

    monkeypatch.setattr(folder, "_settle", late)
    with pytest.raises(ReleaseError, match="exists already"):
        second.write(project.release)
    assert unveil.open_release(project.release).manifest == first.manifest


def test_a_trace_that_cannot_be_written_leaves_no_release(
    project: Project, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, usual = project.files(), Path.write_text

    def full(path: Path, text: str, **named: str) -> int:
        if "trace" in path.name:
            raise OSError(28, "No space left on device")
        return usual(path, text, **named)

    monkeypatch.setattr(Path, "write_text", full)
    outcome = run("publish", project.spec, "--to", project.release, "--trace", project.folder / "trace.json")
    assert (outcome.code, outcome.out) == (2, "")
    assert project.files() == before


def test_a_release_that_cannot_be_written_leaves_no_trace(
    project: Project, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = project.files()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("unveil.release.folder._sha256", full)
    outcome = run("publish", project.spec, "--to", project.release, "--trace", project.folder / "trace.json")
    assert (outcome.code, outcome.out) == (2, "")
    assert "No space left on device" in outcome.err
    assert project.files() == before


def test_a_name_that_is_too_long_is_one_sentence(project: Project, run: Run) -> None:
    before = project.files()
    for name in ("x" * 300, "x" * 250):
        outcome = run("publish", project.spec, "--to", project.folder / name)
        assert (outcome.code, outcome.err.count("\n")) == (2, 1), outcome
        assert "File name too long" in outcome.err
    assert project.files() == before
