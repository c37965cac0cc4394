"""Releases that tests make pages of."""

import shutil
from pathlib import Path

import pytest

import unveil
from unveil.workflow.demo import DATA, SPECS


@pytest.fixture(scope="session")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The bundled data under the three guarantees of the demo."""
    folder = tmp_path_factory.mktemp("bundled")
    shutil.copytree(DATA, folder / "data")  # the owner's ledger is kept next to the table
    made = {}
    for name, file in SPECS.items():
        made[name] = folder / name.replace(" ", "-")
        unveil.publish(folder / "data" / file).write(made[name])
    return made


@pytest.fixture(scope="session")
def owned(secret_spec: Path) -> tuple[Path, Path]:
    """The spec of a table with secrets, and the folder of its release."""
    folder = secret_spec.parent / "release"
    unveil.publish(secret_spec).write(folder)
    return secret_spec, folder
