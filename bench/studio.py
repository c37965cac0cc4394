"""From a slider to the new picture of a release, measured in a real browser.

    python bench/studio.py [--census FILE]    Adult with 8 attributes, and Census-Income where it is

The server runs as the command `unveil studio`. A move is the time from the event of the slider to the frame in which
the release of the new k is drawn; the time that the server computed is given next to it, since other programs may run.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

import unveil

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
DATA = Path(unveil.__file__).parent / "data"
CENSUS = ROOT.parent / "shared" / "data" / "large" / "census_income_1994_1995_train.csv.zst"
ATTRIBUTES = {
    "adult": ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"],
    "census": ["age", "education", "marital status", "race", "sex", "class of worker", "birth country", "citizenship"],
}
MOVES = {"adult": 40, "census": 15}
LIMITS = {"adult": 300, "census": 1500}
"""Milliseconds that the median move may take."""
MOVE = """
const [place, done] = arguments;
const slider = document.querySelector('#requirements input[type=range]');
const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
(async () => {
  const before = Number(document.body.dataset.shown);
  const start = performance.now();
  slider.value = place;
  slider.dispatchEvent(new Event('input', { bubbles: true }));
  while (!(Number(document.body.dataset.shown) > before)) await frame();
  done(performance.now() - start);
})();
"""
"""Moves the slider of k and waits for the frame in which the new release is drawn."""
PAUSE = 1.0
"""Seconds after each move, in which the figures of the release follow."""


def adult(folder: Path) -> Path:
    """Adult with one requirement on eight attributes."""
    for name in ("adult.toml", "adult.parquet"):
        shutil.copy(DATA / name, folder)
    shutil.copytree(DATA / "taxonomies", folder / "taxonomies")
    spec = folder / "adult.toml"
    head = spec.read_text(encoding="utf-8").partition("# What a stranger")[0]
    names = ", ".join(f'"{name}"' for name in ATTRIBUTES["adult"])
    require = f'[[require]]\nkind = "k-anonymity"\nquasi-identifier = [{names}]\nk = 50\n'
    spec.write_text(head + require, encoding="utf-8")
    return spec


def census(folder: Path, source: Path, *, every: bool) -> Path:
    """Census-Income with the spec that `init` drafts, no row dropped; on all that others can know, or on eight."""
    page = (ROOT / "docs" / "tutorial-census.md").read_text(encoding="utf-8")
    names = page.partition('title="names.csv"\n')[2].partition("\n")[0]
    rows = pa.CompressedInputStream(pa.OSFile(str(source)), "zstd").read()
    (folder / "census.csv").write_bytes(names.encode() + b"\n" + rows)
    spec = folder / "census.toml"
    command = [sys.executable, "-m", "unveil", "init", str(folder / "census.csv"), "--to", str(spec)]
    subprocess.run(command, check=True, capture_output=True)
    text = (
        spec.read_text(encoding="utf-8")
        .replace('rows = "drop"', 'rows = "keep"')
        .replace("k                = 5", "k = 50")
    )
    if not every:
        few = ", ".join(f'"{name}"' for name in ATTRIBUTES["census"])
        text = re.sub(r"quasi-identifier = \[.*?\]", f"quasi-identifier = [{few}]", text, flags=re.DOTALL)
    spec.write_text(text, encoding="utf-8")
    return spec


@contextmanager
def studio(spec: Path) -> Iterator[tuple[str, int]]:
    """The address of a running studio, and its process."""
    command = [sys.executable, "-u", "-m", "unveil", "studio", "--no-browser", str(spec)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            found = re.search(r"http://\S+", line)
            assert found is not None, line
            yield found[0], process.pid
        finally:
            process.terminate()


def computed(process: int) -> float:
    """The seconds that a process has computed so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def measure(spec: Path, moves: int) -> tuple[list[float], list[float]]:
    """For each move the milliseconds in the browser, and those that the server computed until it was drawn."""
    from browser import started

    with studio(spec) as (address, process), started() as browser:
        browser.open(address, (1440, 900))
        browser.driver.set_script_timeout(100)
        wait(
            browser,
            "document.body.dataset.shown > 0 && document.getElementById('worth')?.textContent.includes('quick')",
        )
        browser.run("document.getElementById('tab-requirements').click()")
        wait(browser, "document.querySelector('#requirements input[type=range]')")
        times, work = [], []
        for move in range(moves + 2):
            time.sleep(PAUSE)
            before = computed(process)
            times.append(browser.driver.execute_async_script(MOVE, 350 + move * 137 % 300))
            work.append(1000 * (computed(process) - before))
        return times[2:], work[2:]


def wait(browser: object, script: str) -> None:
    end = time.monotonic() + 300
    while not browser.run(f"return Boolean({script})"):  # type: ignore[attr-defined]
        assert time.monotonic() < end, script
        time.sleep(0.05)


def main() -> None:
    """Measures and prints one line per table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--census", type=Path, default=CENSUS, help="the training rows of Census-Income, compressed")
    source = parser.parse_args().census
    cases: dict[str, tuple[str, Callable[[Path], Path]]] = {"adult, 8 attributes": ("adult", adult)}
    if source.exists():
        cases["census, 8 attributes"] = ("census", lambda folder: census(folder, source, every=False))
        cases["census, all that others can know"] = ("census", lambda folder: census(folder, source, every=True))
    else:
        print(f"{source.name} is not here, so only Adult is measured.")
    print(f"{'':36}{'median':>10}{'90%':>10}{'worst':>10}{'computed, median':>18}{'limit':>10}")
    for name, (table, make) in cases.items():
        with tempfile.TemporaryDirectory() as place:
            times, work = measure(make(Path(place)), MOVES[table])
        tenth = statistics.quantiles(times, n=10)[-1]
        figures = (
            f"{statistics.median(times):>8.0f}ms{tenth:>8.0f}ms{max(times):>8.0f}ms{statistics.median(work):>16.0f}ms"
        )
        print(f"{name:36}{figures}{LIMITS[table]:>8}ms", flush=True)


if __name__ == "__main__":
    main()
