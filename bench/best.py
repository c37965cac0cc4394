"""A command several times, in one figure: the machine is not ours alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from measure import Command, publish_command


def best_command(spec: Path, times: int = 3) -> Command:
    """The fastest, with the largest peak and all attempts that a signal ended."""
    runs = [publish_command(spec) for _ in range(times)]
    fastest = min(runs, key=lambda run: run.seconds)
    return replace(fastest, peak=max(run.peak for run in runs), died=sum(run.died for run in runs))
