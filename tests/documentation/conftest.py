"""What makes the documentation is next to the library, at the top of the checkout, and is not installed."""

import sys
from pathlib import Path

import pytest

from sites import ROOT, build

sys.path += [str(ROOT / "pages"), str(ROOT / "scripts"), str(ROOT / "bench")]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once for all tests of a process."""
    folder = tmp_path_factory.mktemp("built") / "site"
    done = build(folder)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder
