"""Shared fixtures, and the engines that a suite runs on."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import engines
from browser import browser
from commands import Outcome, Run
from project import Project
from recounting import recounting
from unveil import publishers
from unveil.cli import main
from unveil.publishers import publish_refinement

__all__ = ["browser", "project", "run"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command line in this process, as the installed script does."""

    def call(*words: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["unveil", *(str(word) for word in words)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return call


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--engines", default=None, help="the engines that suites run on: memory,stream,spark,spark-cluster"
    )
    parser.addoption("--all-examples", action="store_true", help="try all examples of a test, on every engine")


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts its background jobs with interrupts ignored, and the commands under test would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # So does nohup with hang-ups; a handler that does nothing, unlike an ignored signal, is not inherited.
    if hasattr(config, "workerinput") or signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)
    for command in ("SPARK_SUBMIT_OPTS", "SPARK_LAUNCHER_OPTS"):
        os.environ.setdefault(command, engines.SHORT_LIVED)
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        engines.compile_loops()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs a suite that is marked so once for each engine of its mark; all that is on Spark in one process."""
    if marked := metafunc.definition.get_closest_marker("engines"):
        chosen = metafunc.config.getoption("--engines")
        asked = chosen.split(",") if chosen else marked.args or engines.QUICK
        metafunc.fixturenames.append("engine")
        marks = {name: [pytest.mark.xdist_group("spark")] if name.startswith("spark") else [] for name in asked}
        params = [pytest.param(name, marks=marks[name]) for name in asked]
        metafunc.parametrize("engine", params, indirect=True, scope="module")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Several processes share the tests: those that need the same things run in one, and long ones start first."""
    for item in items:
        if group := _group(item):
            item.add_marker(pytest.mark.xdist_group(group))
    if hasattr(config, "workerinput"):
        items.sort(key=_rank)


def _group(item: pytest.Item) -> str:
    """What shares something that is made once: the browser and its pages, the loaded command, a fixture of a file."""
    names = set(getattr(item, "fixturenames", ()))
    if item.get_closest_marker("xdist_group"):
        return ""
    if "report" in item.path.parts or {"browser", "site"} & names:
        return "pages"
    if "interrupted" in vars(item.getparent(pytest.Module).obj):  # type: ignore[union-attr]
        return "commands"
    made = [definition for one in item._fixtureinfo.name2fixturedefs.values() for definition in one]  # type: ignore[attr-defined]
    file = item.nodeid.partition("::")[0]
    return file if any(one.scope == "module" and one.baseid == file for one in made) else ""


def _rank(item: pytest.Item) -> int:
    """Spark and the browser take longest, then single tests that are slow; nothing long may be left for the end."""
    group = item.get_closest_marker("xdist_group")
    first = {"spark": 0, "pages": 1}.get(group.args[0] if group else "", 4)
    return min(first, 2 if item.get_closest_marker("slow") else 3 if group else 4)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips what runs on Java where there is none; the summary says so."""
    group = item.get_closest_marker("xdist_group")
    if group and group.args[0] in ("spark", "weka") and (reason := engines.without_java()):
        pytest.skip(reason)


@pytest.fixture(scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """The engine that publishes while the test runs."""
    with engines.chosen(request.param):
        yield request.param


@pytest.fixture(scope="session", autouse=True)
def _recounted() -> Iterator[None]:
    """Counts every published table again, so that no test can miss a broken promise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publishers, "publish_refinement", recounting(publish_refinement))
        yield


@pytest.fixture(scope="session", autouse=True)
def _not_on_disk() -> Iterator[None]:
    """Does not wait for the disk, which takes longer than to publish a small table: no test cuts the power."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture(autouse=True)
def _on_its_engine(request: pytest.FixtureRequest) -> Iterator[None]:
    """Sets the engine up for tests that do not ask for it by name, and how many examples hypothesis tries on it."""
    marked = request.node.get_closest_marker("engines")
    name = request.getfixturevalue("engine") if marked else "memory"
    usual = getattr(request.function, "_hypothesis_internal_use_settings", None)
    if usual is None or request.config.getoption("--all-examples"):
        yield
        return
    request.function._hypothesis_internal_use_settings = settings(
        usual, max_examples=engines.examples(name, usual.max_examples)
    )
    yield
    request.function._hypothesis_internal_use_settings = usual
