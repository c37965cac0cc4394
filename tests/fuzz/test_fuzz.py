"""Spoiled specs, tables, taxonomies, ledgers and releases: a command does its work or refuses in one sentence.

A corpus that the seed fixes runs with the other tests. `make fuzz` goes on for as long as FUZZ_SECONDS says, from the
seed FUZZ_SEED, or from one of its own that the message of a failure names.
"""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

import unveil
from commands import Outcome, Run
from fuzz.mutations import spoiled
from noise.private import PrivateProject
from project import Project
from unveil.schema import spec as spec_module

CASES = 120
"""How many cases the corpus has."""
PATIENCE = 30
"""How many seconds a command on the little table may take."""
LEDGER = '[{"source": "people.csv", "spec": "old.toml", "epsilon": "1/2"}]\n'

Scene = Callable[[Project, Run], tuple[Path, tuple[object, ...]]]


def plain(target: str) -> Scene:
    """Publishes the little table after one of its files was spoiled."""
    return lambda project, run: (
        project.folder / target,
        ("publish", project.spec, "--to", project.release, "--format", "csv"),
    )


def private(target: str) -> Scene:
    """The same under differential privacy."""

    def scene(project: Project, run: Run) -> tuple[Path, tuple[object, ...]]:
        spoilt = PrivateProject(project)
        spoilt.ledger.write_text(LEDGER)
        return spoilt.folder / target, ("publish", spoilt.spec, "--to", spoilt.release)

    return scene


def released(*words: str) -> Scene:
    """Reads a release whose manifest was spoiled."""

    def scene(project: Project, run: Run) -> tuple[Path, tuple[object, ...]]:
        unveil.publish(project.spec).write(project.folder / "old")
        names = {"OLD": project.folder / "old", "TABLE": project.table}
        told = [names.get(word, project.folder / word if word.startswith("new") else word) for word in words]
        return project.folder / "old" / "manifest.json", tuple(told)

    return scene


SCENES: dict[str, Scene] = {
    "spec": plain("people.toml"),
    "table": plain("people.csv"),
    "taxonomy": plain("job.tree"),
    "private spec": private("people.toml"),
    "private table": private("people.csv"),
    "ledger": private("unveil-ledger.json"),
    "verify": released("verify", "OLD"),
    "apply": released("apply", "OLD", "TABLE", "--to", "new.csv", "--unseen", "suppress"),
    "init": lambda project, run: (project.table, ("init", project.table, "--to", project.folder / "new.toml")),
}


@contextmanager
def patience(seconds: int) -> Iterator[None]:
    """Fails what takes too long."""

    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"it took more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def fault(outcome: Outcome, words: tuple[object, ...], new: set[str]) -> str | None:
    """What is wrong with how a command ended; None if nothing is."""
    codes = (0, 1, 2) if words[0] == "verify" else (0, 2)
    if outcome.code not in codes:
        return f"it ended with {outcome.code}"
    if outcome.code == 2 and (outcome.out or outcome.err.count("\n") != 1 or not outcome.err.startswith("unveil: ")):
        return "it did not refuse in one sentence"
    if outcome.code == 2 and new:
        return f"it refused but wrote {sorted(new)}"
    if any(Path(name).name.startswith(".") for name in new):
        return f"it left a draft: {sorted(new)}"
    return None


def tried(name: str, seed: int, folder: Path, run: Run) -> str | None:
    """What is wrong in one case; None if nothing is."""
    dice = random.Random(seed)  # noqa: S311 - a failure must be found again
    folder.mkdir()
    project = Project(folder)
    target, words = SCENES[name](project, run)
    target.write_bytes(spoiled(dice, target.read_text(encoding="utf-8")).encode(errors="surrogatepass"))
    before = project.files()
    try:
        with patience(PATIENCE):
            outcome = run(*words)
            new = {path for path in project.files() - before if path != "unveil-ledger.json"}
            found = fault(outcome, words, new)
            if found is None and outcome.code == 0 and words[0] == "publish":
                checked = run("verify", project.release)
                found = None if checked.code == 0 else f"the release does not verify: {checked.out}"
    except Exception as error:  # what a user would see as an internal error
        return f"{type(error).__name__}: {error}"
    return None if found is None else f"{found}: {outcome}"


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.filterwarnings("ignore")
def test_spoiled_input_is_refused_in_one_sentence_or_published_whole(name: str, tmp_path: Path, run: Run) -> None:
    asked = os.environ.get("FUZZ_SECONDS")
    first = int(os.environ.get("FUZZ_SEED") or (time.time_ns() % 10**9 if asked else 0))
    until = time.monotonic() + float(asked or 0) / len(SCENES)
    number = 0
    while number < CASES // len(SCENES) or time.monotonic() < until:
        found = tried(name, first + number, tmp_path / str(number), run)
        assert found is None, f"{name}, FUZZ_SEED={first + number}: {found}"
        number += 1


def test_a_planted_fault_is_found(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of specs that takes what it gets: some of the corpus makes it fail in a way that nobody foresaw."""
    import tomllib

    monkeypatch.setattr(spec_module, "read_toml", lambda path: tomllib.loads(path.read_bytes().decode()))
    found = [tried("spec", seed, tmp_path / str(seed), run) for seed in range(12)]
    assert any(found)
