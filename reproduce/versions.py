"""Which code and which tools a point was measured with."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from reproduce.places import ROOT

PACKAGES = ("unveil", "numpy", "pyarrow", "scikit-learn", "numba", "python-weka-wrapper3", "matplotlib")


@cache
def commit() -> str:
    """The commit of the checkout, marked where the library or the experiments differ from it."""
    try:
        found = _git("rev-parse", "--short=12", "HEAD")
        changed = _git("status", "--porcelain", "--", "src", "reproduce")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{found} with local changes" if changed else found


def versions() -> dict[str, str]:
    """Python, the machine and the packages that matter."""
    found = {"Python": platform.python_version(), "machine": f"{platform.machine()}, {os.cpu_count()} cores"}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603
