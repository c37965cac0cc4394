from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from unveil.verifier import Finding, data, files, raw
from verdicts import verify_release
from verify.releases import Plant, Verify, draft


@pytest.fixture(autouse=True, scope="module")
def _small_batches(request: pytest.FixtureRequest) -> Iterator[None]:
    """Most releases in these tests have some ten rows, and still fall into several batches."""
    rows = getattr(request.module, "BATCH", 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "BATCH", rows)
        patch.setattr(raw, "BATCH", rows)
        patch.setattr(data, "MERGED", 3)
        patch.setattr(raw, "BLOCK", 256 * rows // 3)
        yield


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A release in which every claim holds."""
    return draft().write(tmp_path / "release")


@pytest.fixture
def verify_planted(tmp_path: Path) -> Verify:
    """Verifies the true release after a defect was planted in it; hashes and order fit the defect."""

    def verify(plant: Plant, *, sort: bool = True, with_csv: bool = False) -> list[Finding]:
        planted = draft()
        plant(planted)
        return verify_release(planted.write(tmp_path / "planted", sort=sort, with_csv=with_csv))

    return verify
