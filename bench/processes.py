"""A command with all the processes it starts: seconds, CPU seconds, and the most memory they held together."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from time import perf_counter

PROC = Path("/proc")
EVERY = 0.05
"""Seconds between two looks."""
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Look:
    """All processes of a command at one moment: CPU seconds so far, and the sum of the resident sets in bytes."""

    moment: float
    cpu: float
    memory: int


@dataclass(frozen=True)
class Usage:
    """What a command and its processes took.

    Pages that processes share count once for each. What a process does after the last look at it is missing.
    """

    output: str
    seconds: float
    looks: list[Look]

    @property
    def cpu(self) -> float:
        return self.looks[-1].cpu

    @property
    def peak(self) -> int:
        return max(look.memory for look in self.looks)

    def between(self, start: float, stop: float) -> tuple[float, int]:
        """CPU seconds and peak memory between two moments of the monotonic clock, which all processes share."""
        before = [look for look in self.looks if look.moment <= start]
        inside = [look for look in self.looks if start < look.moment <= stop]
        last = [*before, *inside]
        cpu = (last[-1].cpu if last else 0.0) - (before[-1].cpu if before else 0.0)
        return cpu, max((look.memory for look in inside), default=0)


def run_watched(arguments: Sequence[str], environment: Mapping[str, str], limit: float | None = None) -> Usage:
    """Runs a command to its end.

    Raises:
        CalledProcessError: It failed.
        TimeoutExpired: It took longer than the limit and was stopped.
    """
    before = perf_counter()
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, env=dict(environment), text=True) as process:
        watch = _Watch(process.pid)
        watch.start()
        try:
            output, _ = process.communicate(timeout=limit)
        finally:
            process.kill()
            seconds = perf_counter() - before
            watch.finish()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(arguments))
    return Usage(output, seconds, watch.looks)


class _Watch(Thread):
    """Looks at a process and its descendants again and again."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self._root = root
        self._over = Event()
        self._cpu: dict[int, float] = {}
        self.looks: list[Look] = []

    def run(self) -> None:
        while not self._over.wait(EVERY):
            held = 0
            for pid, cpu, memory in _descendants(self._root):
                self._cpu[pid] = cpu
                held += memory
            self.looks.append(Look(perf_counter(), sum(self._cpu.values()), held))

    def finish(self) -> None:
        self._over.set()
        self.join()


def _descendants(root: int) -> Iterator[tuple[int, float, int]]:
    """Each process under a root, the root too: its number, its CPU seconds, and its resident bytes."""
    found = {pid: fields for pid in _numbers() if (fields := _stat(pid))}
    children: dict[int, list[int]] = {}
    for pid, fields in found.items():
        children.setdefault(int(fields[1]), []).append(pid)
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        if pid in found:
            fields = found[pid]
            # utime, stime, rss: fields 14, 15 and 24 of proc(5), counted here from the third.
            yield pid, (int(fields[11]) + int(fields[12])) / TICKS, int(fields[21]) * PAGE
        waiting += children.get(pid, [])


def _numbers() -> list[int]:
    return [int(name) for name in os.listdir(PROC) if name.isdigit()]


def _stat(pid: int) -> list[str]:
    """The fields after the name, which may hold spaces; none if the process is gone."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
