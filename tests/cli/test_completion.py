"""Completion in the shells that the documentation names, by the protocol that the installed scripts speak."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "README.md"
ASKED = {
    "bash": {"COMP_WORDS": "unveil pub", "COMP_CWORD": "1"},
    "zsh": {"_TYPER_COMPLETE_ARGS": "unveil pub"},
    "fish": {"_TYPER_COMPLETE_ARGS": "unveil pub", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}


@pytest.mark.parametrize("shell", ASKED)
def test_a_command_is_completed(shell: str) -> None:
    environment = {**os.environ, **ASKED[shell], "_UNVEIL_COMPLETE": f"complete_{shell}"}
    done = subprocess.run(
        [sys.executable, "-m", "unveil"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done
    assert "publish" in done.stdout
    assert "verify" not in done.stdout
    assert shell in _named()


def test_the_script_for_a_shell_is_shown_and_asks_this_command() -> None:
    """The shell is the one that the command is started from, so a real one starts it."""
    bash = shutil.which("bash")
    assert bash is not None
    command = f"'{sys.executable}' -m unveil --show-completion; exit $?"
    done = subprocess.run([bash, "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert "_UNVEIL_COMPLETE=complete_bash" in done.stdout
    assert done.stdout.rstrip().endswith("unveil")


def _named() -> set[str]:
    """The words of the line of the README about completion."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    (line,) = (line for line in lines if "--install-completion" in line)
    return set(re.findall(r"\w+", line))
