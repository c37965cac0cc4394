"""The documentation as a site: built as `make docs` builds it, and served as a reader finds it."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOWHERE = "http://127.0.0.1:9"
"""A proxy that nobody answers at: whatever asks for something from elsewhere while it builds fails."""


def build(target: Path, config: Path = ROOT / "mkdocs.yml") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "--site-dir", str(target)]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "NO_MKDOCS_2_WARNING": "1",
        "http_proxy": NOWHERE,
        "https_proxy": NOWHERE,
        "no_proxy": "",
    }
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


class Quiet(SimpleHTTPRequestHandler):
    """A server that tells nothing of its requests."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serves a folder to this machine alone, and gives its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
