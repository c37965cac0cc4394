"""A process of the test run that crashes."""

import subprocess
import sys
from pathlib import Path

CONFIGURED = Path(__file__).resolve().parents[1] / "pyproject.toml"
CRASHING = """
import os
import pytest

@pytest.mark.parametrize("number", range(9))
def test_before(number):
    pass

def test_crash():
    os._exit(1)

@pytest.mark.parametrize("number", range(20))
def test_after(number):
    pass
"""


def test_a_process_that_crashes_ends_the_run_with_a_failure(tmp_path: Path) -> None:
    """If it were replaced, all processes would wait for each other for ever."""
    (tmp_path / "test_crashing.py").write_text(CRASHING)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        str(CONFIGURED),
        "-n",
        "2",
        "-p",
        "no:cacheprovider",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "crashed while running" in done.stdout
    assert "test_crash" in done.stdout
