"""Shared fixtures."""

import sys
from pathlib import Path

import pytest

from browser import browser
from commands import Outcome, Run
from project import Project
from unveil.cli import main

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
