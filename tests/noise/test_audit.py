"""The audit in short: it passes what keeps its promise, and finds half the noise out. `make audit` is the long form."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from unveil.publishers.additive import cells

Audit = Callable[..., tuple[int, str]]
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("audit")]

RUNS = pytest.mark.parametrize(("scenario", "runs"), [("structure", "800"), ("additive", "240")])
AUDIT = Path(__file__).resolve().parents[2] / "audit"


@pytest.fixture
def audit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Audit:
    """Runs the script, and gives its exit code and what it prints."""
    monkeypatch.syspath_prepend(AUDIT)
    script = import_module("run")
    monkeypatch.setattr(cells, "POINTS", script.POINTS)  # the script sets it, and does not set it back

    def run(scenario: str, runs: str, *options: str) -> tuple[int, str]:
        words = ["--scenario", scenario, "--runs", runs, "--workers", "1", "--unsafe-seed", "1", *options]
        monkeypatch.setattr(sys, "argv", ["run.py", *words])
        return script.main(), capsys.readouterr().out

    return run


@RUNS
def test_no_bound_exceeds_epsilon(scenario: str, runs: str, audit: Audit) -> None:
    code, out = audit(scenario, runs)
    assert code == 0, out
    assert "No bound exceeds ε." in out


@RUNS
def test_half_the_noise_is_found_out(scenario: str, runs: str, audit: Audit) -> None:
    code, out = audit(scenario, runs, "--planted")
    assert code == 0, out
    assert "Found out in every scenario." in out
