"""Servers of the studio for tests, each on a copy of its files, with a client that has the token."""

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from pyarrow import parquet

import unveil
from project import Project
from unveil.studio.server import Studio

DATA = Path(unveil.__file__).parent / "data"
ROOT = Path(__file__).resolve().parents[2]
CENSUS = ROOT.parent / "shared" / "data" / "large" / "census_income_1994_1995_train.csv.zst"


class Client:
    """A tab without a browser."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.http = httpx.Client(
            base_url=f"http://127.0.0.1:{studio.port}", headers={"x-unveil-token": studio.token}, timeout=60
        )
        self.session = ""
        self.heard: dict[str, Any] = {}
        self._listening = ExitStack()
        self._told: Iterator[tuple[str, Any]] = iter(())

    def post(self, name: str, /, **body: Any) -> httpx.Response:
        return self.http.post(f"/api/{name}", json={"session": self.session, **body})

    def open(self, file: str) -> None:
        self.session = self.post("open", file=file).json()["session"]
        self.leave()
        self.hear(lambda heard: "state" in heard)

    def edit(self, *operations: dict[str, Any], gesture: str | None = None) -> dict[str, Any]:
        answer = self.post("edit", operations=list(operations), gesture=gesture)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def hear(self, enough: Callable[[dict[str, Any]], bool], seconds: float = 90) -> dict[str, Any]:
        """Listens until enough was said."""
        end = time.monotonic() + seconds
        while not enough(self.heard):
            assert time.monotonic() < end, self.heard.keys()
            for kind, content in self._told:
                self.heard[kind] = content
                break
            else:
                self._listen()
        return self.heard

    def leave(self) -> None:
        """Listens no longer, as a tab that is closed."""
        self._listening.close()
        self._told = iter(())

    def _listen(self) -> None:
        """Opens the one stream that a page has: what comes between two streams would be lost."""
        self.leave()
        stream = self.http.stream("POST", "/api/events", json={"session": self.session})
        self._told = _events(self._listening.enter_context(stream))

    def picture(self, number: int) -> dict[str, Any]:
        """The picture of a version of the spec, or of a newer one."""
        return self.hear(lambda heard: heard.get("picture", {}).get("of", -1) >= number)["picture"]


def _events(stream: httpx.Response) -> Iterator[tuple[str, Any]]:
    kind = ""
    for line in stream.iter_lines():
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield kind, json.loads(line.removeprefix("data: "))
        elif line.startswith(":"):
            yield "alive", None


@contextmanager
def serving(folder: Path, file: str | None = None, grace: float = 20.0) -> Iterator[Studio]:
    """A server in a thread; it has ended when the block ends."""
    studio = Studio(folder, file, grace=grace)
    thread = threading.Thread(target=studio.run, daemon=True)
    thread.start()
    end = time.monotonic() + 20
    while not studio.server.started:
        assert time.monotonic() < end
        time.sleep(0.01)
    yield studio
    studio.server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture
def tab(tmp_path: Path) -> Iterator[Client]:
    """A tab of a server for the little table, not opened yet."""
    Project(tmp_path)
    with serving(tmp_path) as studio:
        client = Client(studio)
        yield client
        client.leave()
        client.http.close()


def adult(folder: Path, rows: int = 50_000) -> Path:
    """A copy of Adult, or of its first rows, with its spec and taxonomies."""
    shutil.copy(DATA / "adult.toml", folder / "adult.toml")
    parquet.write_table(parquet.read_table(DATA / "adult.parquet").slice(0, rows), folder / "adult.parquet")
    shutil.copytree(DATA / "taxonomies", folder / "taxonomies")
    return folder / "adult.toml"


def census_csv(file: Path) -> None:
    """Census-Income with the names that its tutorial gives to the columns."""
    page = (ROOT / "docs" / "tutorial-census.md").read_text(encoding="utf-8")
    names = page.partition('title="names.csv"\n')[2].partition("\n")[0]
    with pa.CompressedInputStream(pa.OSFile(str(CENSUS)), "zstd") as rows:
        file.write_bytes(names.encode() + b"\n" + rows.read())
