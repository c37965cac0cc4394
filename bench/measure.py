"""The stages of one release, timed inside a process of their own, and the whole command as a user runs it.

    python bench/measure.py SPEC WARM_UP_SPEC

prints the stages as JSON. The warm-up spec is published first, so that loading the compiled kernels is not counted.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time

from places import CACHE

REPEATS = 3
ATTEMPTS = 3
UNVEIL = Path(sys.executable).parent / "unveil"


@dataclass(frozen=True)
class Stages:
    """Seconds of each stage. Reading and searching are repeated and the best is kept; the machine is not ours alone.

    CPU seconds hardly depend on what else runs there.
    """

    read: float
    read_parquet: float
    search: float
    search_cpu: float
    write: float
    refinements: int


@dataclass(frozen=True)
class Command:
    """A command from start to exit: seconds, CPU seconds of all its threads, and the largest resident set in bytes.

    A signal ended `died` attempts before it; they are reported and not timed.
    """

    seconds: float
    cpu: float
    peak: int
    died: int = 0


def stages(spec: Path, warm_up: Path) -> Stages:
    """Runs the stages in a fresh process."""
    text = subprocess.run(
        [sys.executable, __file__, spec, warm_up], stdout=subprocess.PIPE, check=True, text=True
    ).stdout
    return Stages(**json.loads(text))


def publish_command(spec: Path, new: bool = False) -> Command:
    """`unveil publish SPEC --to DIR`, csv to release; in a new installation no kernel is compiled yet."""
    for died in range(ATTEMPTS):
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            release = Path(folder) / "release"
            kernels = {"NUMBA_CACHE_DIR": f"{folder}/kernels"} if new else {}
            arguments = [str(UNVEIL), "publish", str(spec), "--to", str(release)]
            code, seconds, usage = timed(arguments, {**os.environ, **kernels})
            if code == 0:
                return Command(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, died)
            if code > 0:
                raise subprocess.CalledProcessError(code, arguments)
            print(f"{spec.name}: ended by signal {-code}; release there: {release.exists()}", file=sys.stderr)
    raise RuntimeError(f"{spec.name}: a signal ended all {ATTEMPTS} attempts to publish it")


def timed(arguments: list[str], environment: dict[str, str]) -> tuple[int, float, resource.struct_rusage]:
    """Exit code, seconds, and what was used."""
    before = perf_counter()
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = perf_counter() - before
    process.returncode = os.waitstatus_to_exitcode(status)
    # A child starts with its parent's peak on Linux, so the figure is the child's own only if it is the larger one.
    if usage.ru_maxrss <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:
        raise RuntimeError("the benchmark itself has used more memory than what it measures")
    return process.returncode, seconds, usage


def _measure(spec_file: Path) -> Stages:
    # Imported here, because the process that measures peaks must stay small.
    from unveil.counting.memory import MemoryEngine
    from unveil.publishers.joint import start_joint
    from unveil.publishers.refinement import publish_refinement, start_search
    from unveil.schema import load_spec
    from unveil.tables import load_table
    from unveil.version import __version__

    spec = load_spec(spec_file)
    start = start_joint if spec.search == "joint" else start_search
    read, read_parquet, search, search_cpu = [], [], [], []
    for _ in range(REPEATS):
        before = perf_counter()
        load_table(spec, spec.source_path.with_suffix(".parquet"))
        read_parquet.append(perf_counter() - before)
        before = perf_counter()
        table = load_table(spec)
        read.append(perf_counter() - before)
    for _ in range(REPEATS):
        before, cpu_before = perf_counter(), process_time()
        refinements = sum(1 for _ in start(table, spec, MemoryEngine(table)).steps())
        search.append(perf_counter() - before)
        search_cpu.append(process_time() - cpu_before)

    found = perf_counter()

    def stamp() -> bool:
        nonlocal found
        found = perf_counter()
        return False

    # The clock of the writing starts after the last refinement.
    release = publish_refinement(table, spec, MemoryEngine(table), __version__, refinements, stamp)
    folder = Path(tempfile.mkdtemp(dir=CACHE))
    release.write(folder / "release")
    write = perf_counter() - found
    shutil.rmtree(folder)
    return Stages(min(read), min(read_parquet), min(search), min(search_cpu), write, refinements)


if __name__ == "__main__":
    _measure(Path(sys.argv[2]))
    print(json.dumps(asdict(_measure(Path(sys.argv[1])))))
