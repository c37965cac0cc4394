"""No row leaves without a label of its cut: each check of the engines fails on a defect planted for it."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest

import engines
import unveil
from unveil.counting.engine import open_engine
from unveil.errors import BrokenPromiseError
from unveil.masking import Block, Discretization
from unveil.schema import load_spec

pytestmark = pytest.mark.engines(*engines.ROWS)

DOSES = pd.DataFrame({"dose": [0.0] * 5 + [0.1] * 5 + [0.2] * 5 + [0.3], "ill": ["yes", "no"] * 8})
SPEC = {
    "table": {"class": "ill"},
    "attributes": {"dose": {"kind": "number"}},
    "require": [{"kind": "k-anonymity", "quasi-identifier": ["dose"], "k": 5}],
    "publish": {"search": "paper"},
}


def test_the_largest_dose_is_in_the_observed_range() -> None:
    release = unveil.publish(DOSES, SPEC)
    assert set(release.table["dose"].to_pylist()) == {"[0, 0.4)"}


def widened_in_floats(lo: float, hi: float, *, whole: bool) -> tuple[float, float]:
    """0.3 / 0.1 is 2.9999…, so the range ends at 0.3 and leaves out the largest dose."""
    grid = 10.0 ** math.floor(math.log10(hi - lo))
    return math.floor(lo / grid) * grid, round((math.floor(hi / grid) + 1) * grid, 1)


def test_an_interval_that_leaves_a_value_out_fails_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unveil.tables.domains.widened", widened_in_floats)
    with pytest.raises(BrokenPromiseError, match=r"a value of 'dose' lies outside its interval \[0, 0.3\)"):
        unveil.publish(DOSES, SPEC)


def test_a_value_without_a_label_fails_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    label = Discretization.labels

    def forgetful(self: Discretization, values: Sequence[Any]) -> list[str | None]:
        return [*label(self, values)[:-1], None]

    monkeypatch.setattr(Discretization, "labels", forgetful)
    with pytest.raises(BrokenPromiseError, match="'dose' has a value without a block in its cut"):
        unveil.publish(DOSES, SPEC)


def test_a_cut_that_leaves_a_value_out_has_no_cells() -> None:
    table, engine = open_engine(load_spec(SPEC), DOSES)
    codes = range(len(table.columns[0]))
    whole = Block("[0, 0.4)", table.columns[0].values.argsort())  # type: ignore[union-attr]
    assert engine.cells([[whole]]).counts.sum() == len(DOSES)
    with pytest.raises(BrokenPromiseError, match="leaves out a value of its domain"):
        engine.cells([[Block("[0, 0.3)", whole.codes[: len(codes) - 1])]])


def test_a_row_under_the_label_of_another_block_fails_the_test_that_published_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No check of the engines sees it: the recount of every published table does."""
    label = Discretization.labels

    def turned(self: Discretization, values: Sequence[Any]) -> list[str | None]:
        other_end = dict(zip(self.shown, reversed(self.shown), strict=True))
        return [other_end[str(text)] for text in label(self, values)]

    spec = {**SPEC, "require": [{"kind": "k-anonymity", "quasi-identifier": ["dose"], "k": 1}]}
    monkeypatch.setattr(Discretization, "labels", turned)
    with pytest.raises(AssertionError, match="was released, but the raw values make"):
        unveil.publish(DOSES, spec)
