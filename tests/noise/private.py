"""The small table of the tests, with a spec that publishes it under differential privacy."""

import pytest

from project import DESCRIBED, Project
from unveil.noise import SystemSource

SPEC = (
    DESCRIBED
    + """
[attributes.income]
kind  = "number"
range = [0, 2000]
step  = 0.5

[attributes.ill]
kind   = "category"
values = ["no", "yes"]

[[require]]
kind    = "differential-privacy"
epsilon = 0.5

[publish]
method          = "diffgen"
specializations = 3
"""
)


class PrivateProject(Project):
    """A folder with a spec of differential privacy, a taxonomy and a table that tests can spoil."""

    def __init__(self, project: Project) -> None:
        super().__init__(project.folder)
        self.spec.write_text(SPEC, encoding="utf-8")
        self.ledger = self.folder / "unveil-ledger.json"


def no_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on a draw is a failure of the test."""

    def refuse(source: SystemSource, count: int) -> bytes:
        raise AssertionError("something was drawn")

    monkeypatch.setattr(SystemSource, "bytes", refuse)
