"""What a run of the command line gives."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

DRIVER = Path(__file__).with_name("interrupting.py")


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


def interrupted(moment: str, *words: object, **variables: str) -> Outcome:
    """Runs a command in a process of its own that gets a real SIGINT at a moment; `interrupting.py` tells which."""
    done = subprocess.run(
        [sys.executable, str(DRIVER), moment, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **variables},
    )
    return Outcome(done.returncode, done.stdout, done.stderr)
