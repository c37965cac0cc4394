"""The command `studio`: where it says that the page is, and that a kill leaves nothing half-written."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from commands import Run
from project import Project

STARTED = [sys.executable, "-u", "-m", "unveil", "studio", "--no-browser"]


def test_a_file_that_is_not_there_is_refused(run: Run, tmp_path: Path) -> None:
    outcome = run("studio", "--no-browser", tmp_path / "none.csv")
    assert outcome.code == 2
    assert "there is no such file" in outcome.err


def test_without_its_libraries_it_says_what_to_install(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("unveil.studio.server", "uvicorn"):
        monkeypatch.setitem(sys.modules, name, None)
    outcome = run("studio", "--no-browser", Project(tmp_path).spec)
    assert outcome.code == 2
    assert "unveil[studio]" in outcome.err


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGINT])
def test_a_server_that_ends_while_it_publishes_leaves_nothing_half_written(tmp_path: Path, way: int) -> None:
    project = Project(tmp_path)
    before = project.spec.read_text(encoding="utf-8")
    with subprocess.Popen([*STARTED, str(project.spec)], stdout=subprocess.PIPE, text=True) as process:
        try:
            _publish(process, tmp_path)
            process.send_signal(way)
            process.wait(60)
        finally:
            process.kill()
    assert project.spec.read_text(encoding="utf-8") == before
    visible = {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")}
    assert visible - {"out"} == {"people.csv", "people.toml", "job.tree"}
    if "out" in visible:  # it was complete before the signal came
        assert (tmp_path / "out" / "report-private.html").exists()


def _publish(process: subprocess.Popen[str], folder: Path) -> None:
    """Lets a server publish, until something of the release is written."""
    assert process.stdout is not None
    address, token = re.findall(r"http://(\S+)/#(\S+)", process.stdout.readline())[0]
    with httpx.Client(base_url=f"http://{address}", headers={"x-unveil-token": token}, timeout=60) as http:
        body = {"session": http.post("/api/open", json={"file": "people.toml"}).json()["session"]}
        end = time.monotonic() + 60
        while http.post("/api/publish", json={**body, "to": "out"}).status_code != 200:
            assert time.monotonic() < end  # the table is still being read
            time.sleep(0.05)
        while not list(folder.glob(".out-*")) and not (folder / "out").exists():
            assert time.monotonic() < end
            time.sleep(0.01)
