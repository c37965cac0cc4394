"""The audit in short: it passes what keeps its promise, and finds half the noise out. `make audit` is the long form."""

import subprocess
import sys
from pathlib import Path

import pytest

RUNS = pytest.mark.parametrize(("scenario", "runs"), [("structure", "800"), ("additive", "240")])
AUDIT = Path(__file__).resolve().parents[2] / "audit" / "run.py"


def audit(scenario: str, runs: str, *options: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, AUDIT, "--scenario", scenario, "--runs", runs, "--workers", "1", "--unsafe-seed", "1"]
    return subprocess.run([*words, *options], capture_output=True, text=True, check=False)


@RUNS
def test_no_bound_exceeds_epsilon(scenario: str, runs: str) -> None:
    outcome = audit(scenario, runs)
    assert outcome.returncode == 0, outcome.stderr
    assert "No bound exceeds ε." in outcome.stdout


@RUNS
def test_half_the_noise_is_found_out(scenario: str, runs: str) -> None:
    outcome = audit(scenario, runs, "--planted")
    assert outcome.returncode == 0, outcome.stderr
    assert "Found out in every scenario." in outcome.stdout
