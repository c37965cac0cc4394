"""The audit in short: it passes what keeps its promise, and finds half the noise out. `make audit` is the long form."""

import subprocess
import sys
from pathlib import Path

AUDIT = Path(__file__).resolve().parents[2] / "audit" / "run.py"


def audit(*options: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, AUDIT, "--scenario", "structure", "--runs", "800", "--workers", "1", "--unsafe-seed", "1"]
    return subprocess.run([*words, *options], capture_output=True, text=True, check=False)


def test_no_bound_exceeds_epsilon() -> None:
    outcome = audit()
    assert outcome.returncode == 0, outcome.stderr
    assert "No bound exceeds ε." in outcome.stdout


def test_half_the_noise_is_found_out() -> None:
    outcome = audit("--planted")
    assert outcome.returncode == 0, outcome.stderr
    assert "Found out in every scenario." in outcome.stdout
