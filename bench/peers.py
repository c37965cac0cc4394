"""The same rows through other tools: `pandas.read_csv`, and k-anonymity with anjana, ARX and sdcMicro."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from domains import Domains
from places import CACHE, table_file
from settings import K, ga_domains

ANJANA = "anjana==1.2.3"
SUPPRESSION = 5
"""How many percent of the rows other tools may leave out. unveil leaves out none."""
ARX_JAR = os.environ.get("ARX_JAR")
READ_CSV = """
import json, sys, time, pandas
def read():
    before = time.perf_counter()
    rows = len(pandas.read_csv(sys.argv[1]))
    return rows, time.perf_counter() - before
print(json.dumps([read() for _ in range(3)]))
"""


@dataclass(frozen=True)
class Anjana:
    """Seconds, and what the result was."""

    read: float
    call: float
    suppressed: int
    groups: int
    smallest_group: int
    added_columns: list[str]
    values_left: dict[str, int]

    def outcome(self, rows: int) -> str:
        """The result in a sentence."""
        if self.suppressed == rows:
            return "an empty table"
        constant = [name for name, values in self.values_left.items() if values == 1]
        parts = [
            f"{self.suppressed:,} rows left out ({self.suppressed / rows:.1%})",
            f"{self.groups:,} groups, the smallest of {self.smallest_group:,}",
            f"{', '.join(constant) or 'no attribute'} masked to a single value",
        ]
        if self.added_columns:
            parts.append(f"a column added: {', '.join(self.added_columns)}")
        return "; ".join(parts)


def time_read_csv(rows: int) -> list[float]:
    """Seconds of `pandas.read_csv` in a fresh process, three times."""
    runs = json.loads(_output([sys.executable, "-c", READ_CSV, str(table_file(rows, "csv"))]))
    if any(read != rows for read, _ in runs):
        raise RuntimeError(f"{table_file(rows, 'csv').name} does not have {rows:,} rows")
    return [seconds for _, seconds in runs]


def run_anjana(rows: int) -> Anjana:
    """Runs anjana on the rows of the table under the GA requirement."""
    script = Path(__file__).with_name("anjana_peer.py")
    hierarchies = write_hierarchies(ga_domains(), CACHE)
    arguments = [script, table_file(rows, "csv"), hierarchies, K, SUPPRESSION]
    # anjana prints remarks of its own; the figures are the last line.
    text = _output([str(python_with(ANJANA)), *map(str, arguments)])
    return Anjana(**json.loads(text.splitlines()[-1]))


def write_hierarchies(domains: Domains, folder: Path) -> Path:
    """The taxonomies, and intervals of numbers, in the form that anjana takes."""
    path = folder / "anjana-hierarchies.json"
    path.write_text(json.dumps({name: domain.levels for name, domain in domains.items()}), encoding="utf-8")
    return path


def arx_command(
    domains: Domains, folder: Path, files: Sequence[Path], k: int, class_: str, masked: Sequence[str]
) -> list[str]:
    """ARX with its classification metric on the rows of the first file; the second is masked alike.

    Args:
        domains: The taxonomies, and intervals of numbers.
        folder: Where they are written.
        files: Training and test rows, and where both go when they are masked.
        k: The least size of a group.
        class_: The column to predict.
        masked: The quasi-identifier.
    """
    java = shutil.which("java")
    if java is None or ARX_JAR is None:
        raise FileNotFoundError("ARX needs Java, and its jar in ARX_JAR")
    _write_levels(domains, folder)
    program = [java, "-cp", ARX_JAR, Path(__file__).with_name("ArxPeer.java")]
    return [str(word) for word in (*program, *files, folder, k, SUPPRESSION, class_, *masked)]


def sdcmicro_command(domains: Domains, folder: Path, files: Sequence[Path], k: int) -> list[str]:
    """sdcMicro's local suppression of the attributes of the domains; the files are those of `arx_command`."""
    _write_levels(domains, folder)
    return ["Rscript", *map(str, (Path(__file__).with_name("sdcmicro_peer.R"), *files, folder, k, *domains))]


def _write_levels(domains: Domains, folder: Path) -> None:
    """The hierarchy of each attribute in the form of ARX: a line for each value, from it to the root."""
    for attribute, domain in domains.items():
        lines = (";".join(map(str, path)) for path in zip(*domain.levels, strict=True))
        (folder / f"{attribute}.levels").write_text("\n".join(lines) + "\n", encoding="utf-8")


def absent() -> dict[str, str]:
    """The tools that cannot run here, and why."""
    reasons = {}
    if ARX_JAR is None:
        reasons["ARX"] = "ARX is skipped: ARX_JAR does not name its jar."
    asked = ["Rscript", "-e", 'quit(status = !requireNamespace("sdcMicro", quietly = TRUE))']
    if shutil.which("Rscript") is None or subprocess.run(asked, capture_output=True).returncode:
        reasons["sdcMicro"] = "sdcMicro is skipped: there is no Rscript that finds the package (R_LIBS)."
    return reasons


def python_with(*packages: str) -> Path:
    """The Python of an environment with these packages alone, because tools pin what they need."""
    environment = CACHE / f"venv-{packages[0].partition('==')[0]}"
    ready = environment / ".ready"
    if not ready.exists():
        venv.create(environment, with_pip=True, clear=True)
        pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages]
        subprocess.run(pip, check=True)
        ready.touch()
    return environment / "bin" / "python"


def _output(arguments: list[str]) -> str:
    return subprocess.run(arguments, stdout=subprocess.PIPE, check=True, text=True).stdout
