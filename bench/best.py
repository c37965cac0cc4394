"""A command several times, in one figure: the machine is not ours alone."""

from __future__ import annotations

from pathlib import Path

from measure import Command, publish_command


def best_command(spec: Path, times: int = 3) -> Command:
    """The least seconds, the largest peak, and all attempts that a signal ended."""
    runs = [publish_command(spec) for _ in range(times)]
    return Command(
        seconds=min(run.seconds for run in runs),
        peak=max(run.peak for run in runs),
        died=sum(run.died for run in runs),
    )
